"""A document's lines as they stand, as they are compared, and the headings above each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from knowledge.specs.citation import split_lines

HEADING = re.compile(r"(#{1,6}) +\S.*")
FENCES = ("```", "~~~")
WORD = re.compile(r"\w+(?:\.\w+)*")
DIGITS = re.compile(r"\d+")
NEIGHBOURS = 3  # lines of context on each side, blank ones left out

Trail = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The lines `first` up to but not including `end`, from 0."""

    first: int
    end: int

    @property
    def locator(self) -> str:
        """`L23` or `L23-L25`, counted from 1 as citations do."""
        first = f"L{self.first + 1}"
        return first if self.end == self.first + 1 else f"{first}-L{self.end}"


def listed(places: list[Place]) -> str:
    """The places for a sentence: `L23, L31-L32`."""
    return ", ".join(place.locator for place in places)


class Text:
    """One version: lines as they stand, as compared, and the headings above each."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.keys = [line.rstrip() for line in self.lines]
        self.chains = _chains(self.keys)
        titles = {n: self.keys[n].lstrip("# ") for chain in set(self.chains) for n in chain}
        self.trails: list[Trail] = [tuple(titles[n] for n in chain) for chain in self.chains]

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """Where each line stands, rising."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, key in enumerate(self.keys):
            found[key].append(number)
        return found

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(WORD.findall(key)) for key in self.keys]

    @cached_property
    def shapes(self) -> list[str]:
        """The lines with every number as '#': equal when only digits were altered."""
        return [DIGITS.sub("#", key) for key in self.keys]

    def around(self, place: Place) -> tuple[list[str], list[str]]:
        """The nearest lines of the section before and after that are not blank."""
        before = self._nearest(place.first, range(place.first - 1, -1, -1))
        return before, self._nearest(place.first, range(place.end, len(self.keys)))

    def _nearest(self, home: int, numbers: range) -> list[str]:
        found: list[str] = []
        for number in numbers:
            if self.trails[number] != self.trails[home] or len(found) == NEIGHBOURS:
                break
            if self.keys[number]:
                found.append(self.keys[number])
        return found


def _chains(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """For each line the lines of the headings above it; a title that stands alone says nothing."""
    headings = dict(_headings(lines))
    lone_title = list(headings.values()).count(1) == 1
    chain: tuple[int, ...] = ()
    chains = []
    for number in range(len(lines)):
        level = headings.get(number)
        if level is not None:
            own = () if lone_title and level == 1 else (number,)
            chain = (*(above for above in chain if headings[above] < level), *own)
        chains.append(chain)
    return chains


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Line number and level of each heading; a # inside a code fence is none."""
    fence = ""
    for number, line in enumerate(lines):
        start = line.lstrip()[:3]
        if start in FENCES and fence in ("", start):
            fence = "" if fence else start
        found = None if fence else HEADING.fullmatch(line)
        if found is not None:
            yield number, len(found[1])
