"""Whether a text names a unit, or what a metric is about: "page 2024" proves no 2024 GB/s."""

from __future__ import annotations

import re
from functools import lru_cache

from knowledge.specs.metrics import MetricDefinition
from knowledge.specs.quantity import ACCEPTED
from knowledge.specs.spellings import KILOBYTES, UNITS

WORD = re.compile(r"[^\W_]+")
# Words of names and meanings that are found beside any number.
COMMON = """
a all and as both by core counted device engine from gpu have highest host in into its kind
large lane may max measured module name num of one operation other outside over part peak per
plus rate second share side size the time to total two type under unit use whole width
"""


def names_unit(text: str, canonical: str) -> bool:
    """Whether the text holds a unit of this kind, in our spelling or in one that we read."""
    return _units(canonical).search(text) is not None


def names_metric(text: str, metric: MetricDefinition) -> bool:
    """Whether the text holds a word of the metric's name, aliases or meaning."""
    return not _words_of(metric).isdisjoint(_words(text))


@lru_cache
def _units(canonical: str) -> re.Pattern[str]:
    own = ACCEPTED[canonical]
    foreign = [word for word, ours in UNITS.items() if ours in own]
    foreign += [word for word, ours in KILOBYTES.items() if set(ours.values()) & set(own)]
    either = "|".join(map(re.escape, sorted({*own, *foreign}, key=len, reverse=True)))
    # "4.8TB/s" as well; a GB is none of GB/s.
    return re.compile(rf"(?<![A-Za-z])(?:{either})(?![A-Za-z/])", re.IGNORECASE)


@lru_cache
def _words_of(metric: MetricDefinition) -> frozenset[str]:
    own = _words(" ".join((metric.name, *metric.aliases, metric.meaning)))
    return own.difference(COMMON.split())


def _words(text: str) -> frozenset[str]:
    """The words in small letters and without the s of a plural."""
    found = (word.lower() for word in WORD.findall(text))
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in found)
