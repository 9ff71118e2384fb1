"""What a recipe is, and the registry that recipes enter by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant, discover
from campaigns.proposers.evidence import Facts

TEMPLATES = Path(__file__).parent / "templates"

Rewrite = Callable[[Situation], tuple[Variant, ...]]


_registry: dict[str, Recipe] = {}


@dataclass(slots=True)
class Recipe:
    """A named technique that can rewrite source by itself: the decorator of what rewrites.

    id: begins with the backend. expected: the speed-up to expect from the facts (2.0 = half the
    time), before the floor caps it. ops: the operations it knows; empty means any source whose
    structure it recognises. rewrite: gives no sources where it does not recognise this one.
    """

    id: str
    title: str
    category: Category
    change: str
    rationale: str
    risks: str
    expected: Callable[[Facts], float]
    ops: tuple[str, ...] = ()
    rewrite: Rewrite = field(init=False)

    def __call__(self, rewrite: Rewrite) -> Rewrite:
        """Enter a rewriting function under this id."""
        self.rewrite = rewrite
        _registry[self.id] = self
        return rewrite

    @property
    def backend(self) -> str:
        return self.id.partition(".")[0]

    def is_meant(self, situation: Situation) -> bool:
        """Whether it is for this backend and operation."""
        return situation.backend == self.backend and (not self.ops or situation.op in self.ops)

    def variants(self, situation: Situation) -> tuple[Variant, ...]:
        """The rewritten sources; empty when the recipe does not recognise this one."""
        return self.rewrite(situation) if self.is_meant(situation) else ()


def recipes() -> Mapping[str, Recipe]:
    """All recipes by id, in the order of their ids."""
    discover("campaigns.proposers.recipes")
    return dict(sorted(_registry.items()))


def single(source: Source) -> tuple[Variant, ...]:
    """The only candidate of a recipe."""
    return (Variant("rewritten", source),)


def template(name: str) -> str:
    """A complete kernel source of the folder `templates`."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def filled(text: str, parts: Mapping[str, object]) -> str:
    """A template with parts of one or several lines, which get the indent of where they stand."""
    lines = [(line, line[: len(line) - len(line.lstrip())]) for line in text.splitlines()]
    return "\n".join(
        Template(line).substitute(parts).replace("\n", f"\n{indent}") for line, indent in lines
    )
