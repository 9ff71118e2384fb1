"""Where an idea was looked for, in which order, and what was found there (R35).

Steps that people and agents hand in are read here: a text of three parts, or the three by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from campaigns.rules.wording import WordedEnum
from knowledge.specs.spellings import metric_named_in

MOST_STEPS = 20
# Part → the most characters of it.
LONGEST_PARTS = {"query": 300, "found": 1000}
NOTHING_FOUND = "nothing"
SEPARATOR = "|"
# What ends a line, or is no text, has no place in one.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


class SearchSource(WordedEnum):
    """Where one can look; the built-in search asks the last four, in this order."""

    WIKI = "wiki", "hardware wiki"
    REFERENCE = "reference", "reference project"
    WEB = "web"
    PROFILE = "profile", "profile of the incumbent"
    LESSONS = "lessons"
    EXPERIENCE = "experience"
    CATALOGUE = "catalogue", "catalogue of strategies"


class SearchLogRefused(ValueError):
    """A step that cannot be one; the message says which, and what is accepted."""


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One look. found: "nothing" where nothing was."""

    source: SearchSource
    query: str
    found: str = NOTHING_FOUND


PARTS = tuple(field.name for field in fields(SearchStep))


def read_search_log(said: Iterable[object]) -> tuple[SearchStep, ...]:
    """The steps in their order. said: of each a text "source | query | found", or a mapping.

    Blank lines are left out. Raises SearchLogRefused: an unknown source, a part that is missing or
    too long, or the web asked for a number of the hardware, which only the wiki may tell (law 1).
    """
    lines = [one for one in said if not (isinstance(one, str) and not one.strip())]
    if len(lines) > MOST_STEPS:
        raise SearchLogRefused(f"{len(lines)} steps; accepted: at most {MOST_STEPS}")
    return tuple(_read(n, _parts(n, one)) for n, one in enumerate(lines, 1))


def _parts(number: int, said: object) -> Mapping[str, object]:
    if isinstance(said, str):
        # What was found may hold the mark itself.
        said = dict(zip(PARTS, said.split(SEPARATOR, len(PARTS) - 1), strict=False))
    if not isinstance(said, Mapping) or not said.keys() <= {*PARTS}:
        accepted = f" {SEPARATOR} ".join(PARTS)
        raise SearchLogRefused(f"step {number}: {said!r:.80}; accepted: {accepted}")
    return said


def _read(number: int, said: Mapping[str, object]) -> SearchStep:
    told = {name: said.get(name) or "" for name in PARTS}
    for name, value in told.items():
        if not isinstance(value, str):
            raise SearchLogRefused(f"step {number}, {name}: {value!r:.40}; accepted: text")
    source, query, found = (" ".join(_UNPRINTABLE.sub(" ", str(v)).split()) for v in told.values())
    if source not in [*SearchSource]:
        accepted = ", ".join(SearchSource)
        raise SearchLogRefused(f"step {number}, source: {source!r:.40}; accepted: {accepted}")
    if not query:
        raise SearchLogRefused(f"step {number}, query: is needed; what was looked for there")
    for name, value in (("query", query), ("found", found)):
        if len(value) > LONGEST_PARTS[name]:
            most = LONGEST_PARTS[name]
            raise SearchLogRefused(f"step {number}, {name}: accepted: at most {most} characters")
    metric = metric_named_in(f"{query}\n{found}") if source == SearchSource.WEB else ""
    if metric:
        raise SearchLogRefused(
            f"step {number}: asks the web for {metric}; specs come from the wiki: `spec get`, and "
            "ideas from the web name none"
        )
    return SearchStep(SearchSource(source), query, found or NOTHING_FOUND)
