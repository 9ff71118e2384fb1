"""The catalogue as a list: filtered, with what each strategy has shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.experience.catalogue.applies import applies
from knowledge.experience.catalogue.reach import BACKENDS, LIMITS, OPS, VENDORS
from knowledge.models import Strategy
from knowledge.search.tokens import words_of

CHOICES = {
    "limit": LIMITS,
    "vendor": VENDORS,
    "backend": BACKENDS,
    "op": tuple(sorted(OPS)),
}


class StrategyFilterError(ValueError):
    """A filter that nothing can pass; the message names what is accepted."""


@dataclass(frozen=True, slots=True)
class StrategyFilters:
    """What is asked; "" is any. q: words that all have to stand in the row or its other names."""

    q: str = ""
    limit: str = ""
    vendor: str = ""
    backend: str = ""
    op: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> StrategyFilters:
        # PostgreSQL refuses NUL in any text.
        typed = {name: str(given.get(name, "")).replace("\0", "").strip() for name in cls.__slots__}
        return cls(**typed)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


def strategies_matching(asked: StrategyFilters) -> list[Strategy]:
    """Those that fit what is asked, in the order of their ids. Raises StrategyFilterError."""
    for name, accepted in CHOICES.items():
        value = getattr(asked, name)
        if value and value not in accepted:
            raise StrategyFilterError(
                f"{name} '{value[:60]}'; accepted: {', '.join(accepted)}, or nothing for any"
            )
    words = set(words_of(asked.q))
    return [
        row
        for row in Strategy.objects.filter(withdrawn=False)
        if words <= _words(row)
        and applies(
            row,
            backend=asked.backend,
            op=asked.op,
            vendor=asked.vendor,
            bottleneck=asked.limit,
        )
    ]


def _words(row: Strategy) -> set[str]:
    said = (row.slug, row.title, row.use_when, row.what, row.verify, row.failure, row.instead)
    lists = (*row.aliases, *row.limits, *row.vendors, *row.archs, *row.ops, row.backend)
    return set(words_of(" ".join((*said, *lists))))
