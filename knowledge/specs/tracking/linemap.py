"""Two versions of one document: which line of the new one is which of the old.

A section is what stands above a line: headings, lead-in lines and the head row of a table. Lines
pair within the same section; those of sections that vanished then pair with whatever is left, which
is how the lines below a renamed heading are found. Lines count from 0 here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from knowledge.specs.tracking.alignment import align
from knowledge.specs.tracking.context import ContextPart, change
from knowledge.specs.tracking.sections import NEIGHBOURS, WORD, LineSpan, Text, Trail, listed

MOST_PLACES = 32  # copies of a quote that are compared, on each side of its line
MOST_EDITED = 100  # lines that are compared with one that was edited, on each side of it
SMALL_GAP = 3  # so many lines, replaced by as many, are taken to be the same ones in order
SIMILAR = 0.6  # share of common words from which a line counts as the same line, edited
KEYED = re.compile(r"\s*[-*+] (?P<key>[^:|]+): ")  # `- tdp: 700 W`


@dataclass(slots=True)
class _SectionPair:
    """The line numbers of one section on both sides. A rank is a position in `old` or `new`."""

    old: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    ranks: dict[int, int] = field(default_factory=dict)  # paired ranks, old → new
    before: list[int] = field(default_factory=list)  # old rank of the last pair up to here
    after: list[int] = field(default_factory=list)  # old rank of the next pair from here

    def pair(self, old: Text, new: Text) -> Iterator[tuple[int, int]]:
        """Align both sides; yield the paired line numbers."""
        self.ranks = align([old.keys[i] for i in self.old], [new.keys[i] for i in self.new])
        known = -1
        for rank in range(len(self.old)):
            known = rank if rank in self.ranks else known
            self.before.append(known)
        known = len(self.old)
        for rank in reversed(range(len(self.old))):
            known = rank if rank in self.ranks else known
            self.after.append(known)
        self.after.reverse()
        for rank, new_rank in self.ranks.items():
            yield self.old[rank], self.new[new_rank]

    def gap(self, rank: int) -> tuple[range, range]:
        """The old and the new ranks between the pairs around an old line that has none."""
        before, after = self.before[rank], self.after[rank]
        first = self.ranks[before] + 1 if before >= 0 else 0
        end = self.ranks[after] if after < len(self.old) else len(self.new)
        return range(before + 1, after), range(first, end)


def _ends(old: Text, new: Text) -> Iterator[tuple[int, int]]:
    """Pair the heads and the tails of two versions that are equal, what is above them included.

    Rows at the end of a section that was added would else pair with those of the last one.
    """
    shorter = min(len(old.keys), len(new.keys))
    more = len(new.keys) - len(old.keys)
    head = next((n for n in range(shorter) if old.keys[n] != new.keys[n]), shorter)
    yield from ((n, n) for n in range(head))
    for number in range(len(old.keys) - 1, max(head, head - more) - 1, -1):
        if old.keys[number] != new.keys[number + more]:
            break
        above, now_above = old.above[number], new.above[number + more]
        shifted = tuple(mine if mine < head else mine + more for mine in above)
        same = [old.keys[n] for n in above] == [new.keys[n] for n in now_above]
        if same and shifted == now_above:
            yield number, number + more


class LineMap:
    """The pairs of lines of two versions, and what stands around those without one."""

    def __init__(self, old_text: str, new_text: str) -> None:
        self._old = Text(old_text)
        self._new = Text(new_text)
        self._section_of_old: dict[int, tuple[_SectionPair, int]] = {}  # with its rank there
        self._section_of_new: dict[int, _SectionPair] = {}
        self._alike_in: dict[str, tuple[dict[int, list[int]], dict[int, list[int]]]] = {}
        self._pairs = dict(_ends(self._old, self._new))
        shared, vanished = self._sections()
        for section in shared:
            self._take(section)
        vanished.new = sorted(set(range(len(self._new.keys))) - set(self._pairs.values()))
        self._take(vanished)
        self._partners = {new: old for old, new in self._pairs.items()}
        self._unpaired = set(range(len(self._new.keys))) - set(self._partners)

    def _sections(self) -> tuple[list[_SectionPair], _SectionPair]:
        """The sections that both versions have, and one with all other old lines."""
        paired = set(self._pairs.values())
        new = [n for n in range(len(self._new.keys)) if n not in paired]
        old = [n for n in range(len(self._old.keys)) if n not in self._pairs]
        sections: dict[Trail, _SectionPair] = defaultdict(_SectionPair)
        others = _SectionPair()
        shared = {self._old.trails[n] for n in old} & {self._new.trails[n] for n in new}
        for number in old:
            trail = self._old.trails[number]
            (sections[trail] if trail in shared else others).old.append(number)
        for number in new:
            if self._new.trails[number] in shared:
                sections[self._new.trails[number]].new.append(number)
        return list(sections.values()), others

    def _take(self, section: _SectionPair) -> None:
        """Pair a section; a new line belongs to the first one that had it or that paired it."""
        self._section_of_old.update((i, (section, rank)) for rank, i in enumerate(section.old))
        for number in section.new:
            self._section_of_new.setdefault(number, section)
        for old, new in section.pair(self._old, self._new):
            self._pairs[old] = new
            self._section_of_new[new] = section

    def stands_in_old(self, place: LineSpan, quote: str) -> bool:
        """Whether the old text reads as the quote there, blanks at line ends apart."""
        wanted = [line.rstrip() for line in quote.split("\n")]
        return 0 <= place.first < place.end and self._old.keys[place.first : place.end] == wanted

    def new_text(self, place: LineSpan) -> str:
        return "\n".join(self._new.lines[place.first : place.end])

    def context_changes(
        self, old: LineSpan, new: LineSpan, parts: Iterable[ContextPart]
    ) -> list[str]:
        """Which of these parts of the context read otherwise, each from what to what."""
        before, now = self._old.context(old), self._new.context(new)
        found = (change(part, before[part], now[part]) for part in parts)
        return [words for words in found if words]

    def disappeared(self, old: LineSpan, new: LineSpan) -> bool:
        """Whether an HTML comment hides the lines of a place that were seen before."""
        hidden, before = self._new.outline.hidden, self._old.outline.hidden
        return any(number in hidden for number in range(new.first, new.end)) and not any(
            number in before for number in range(old.first, old.end)
        )

    def same_section(self, old: LineSpan, new: LineSpan) -> bool:
        return self._old_section(old.first) is self._new_section(new.first)

    def distinct(self, old: LineSpan) -> bool:
        """Whether a line of the place stood nowhere else, so that it can be known by its text."""
        return any(len(self._old.numbers[key]) == 1 for key in self._old.keys[old.first : old.end])

    def paired(self, old: LineSpan) -> LineSpan | None:
        """The new place, if all lines pair side by side; else None."""
        found = [self._pairs.get(number) for number in range(old.first, old.end)]
        start = found[0]
        if start is None or found != list(range(start, start + len(found))):
            return None
        return LineSpan(start, start + len(found))

    def copies(self, old: LineSpan) -> list[LineSpan]:
        """The nearest places of the same text in lines without a partner."""
        starts = self._free_numbers.get(self._old.keys[old.first], [])
        return self._reading(self._new, old, starts, old.first)

    def doubt(self, old: LineSpan, new: LineSpan) -> str:
        """Why a pair may be another one, "" where its surroundings decide.

        Only where equal lines came to its section or went is there anything to decide: as many as
        before keep their order.
        """
        before, now = self._alike(old)
        if len(before) == len(now):
            return ""
        own = self._likeness(old, new)
        mine = self._reading(self._old, old, before, old.first)
        theirs = self._reading(self._new, old, now, new.first)
        twins = [place for place in mine if self._likeness(place, new) >= own]
        copies = [place for place in theirs if self._likeness(old, place) >= own]
        if len(twins) == len(copies) == 1:
            return ""
        return f"the text stood at {listed(twins)} and stands at {listed(copies)}"

    def claimed(self, old: LineSpan) -> list[LineSpan]:
        """Equal lines of the section that pair with others, but are as much like `old` around."""
        alike = self._reading(self._new, old, self._alike(old)[1], old.first)
        places = [place for place in alike if place.first in self._partners]
        length = old.end - old.first
        partners = [LineSpan(p, p + length) for p in (self._partners[q.first] for q in places)]
        return [
            place
            for place, partner in zip(places, partners, strict=True)
            if self._likeness(old, place) >= self._likeness(partner, place)
        ]

    def _alike(self, old: LineSpan) -> tuple[list[int], list[int]]:
        """Lines of the section, old and new, that read as the first one does."""
        key, home = self._old.keys[old.first], self._section_of_old.get(old.first)
        if home is None:
            return [], []
        if key not in self._alike_in:
            before: dict[int, list[int]] = defaultdict(list)
            now: dict[int, list[int]] = defaultdict(list)
            for number in self._old.numbers[key]:
                before[id(self._old_section(number))].append(number)
            for number in self._new.numbers.get(key, []):
                now[id(self._new_section(number))].append(number)
            self._alike_in[key] = before, now
        before, now = self._alike_in[key]
        return before[id(home[0])], now[id(home[0])]

    def _old_section(self, number: int) -> _SectionPair | None:
        """None for lines at either end that pair without a doubt."""
        return self._section_of_old[number][0] if number in self._section_of_old else None

    def _new_section(self, number: int) -> _SectionPair | None:
        return self._section_of_new.get(number)

    def _reading(self, text: Text, old: LineSpan, starts: list[int], near: int) -> list[LineSpan]:
        """The places among `starts` that read as `old`, the nearest to `near`."""
        wanted = self._old.keys[old.first : old.end]
        middle = bisect_left(starts, near)
        window = starts[max(0, middle - MOST_PLACES) : middle + MOST_PLACES]
        places = [LineSpan(first, first + len(wanted)) for first in window]
        return [place for place in places if text.keys[place.first : place.end] == wanted]

    def best(self, old: LineSpan, places: list[LineSpan]) -> list[LineSpan]:
        """The places whose surroundings are most like the old ones; several where they tie."""
        scores = [self._likeness(old, place) for place in places]
        most = max(scores)
        return [place for place, score in zip(places, scores, strict=True) if score == most]

    def _likeness(self, old: LineSpan, new: LineSpan) -> int:
        """A score: headings, counted from the nearest, and neighbouring lines that agree."""
        trails = zip(
            reversed(self._old.trails[old.first]),
            reversed(self._new.trails[new.first]),
            strict=False,
        )
        score = 0
        for heading, other in trails:
            if heading != other:
                break
            score += NEIGHBOURS
        for mine, theirs in zip(self._old.around(old), self._new.around(new), strict=True):
            score += len(set(mine) & set(theirs))
        return score

    def edited(self, old: LineSpan) -> LineSpan | None:
        """The place of the edited lines: their own pairs, or what replaced them."""
        found = [self._pairs.get(number) for number in range(old.first, old.end)]
        if all(number is None for number in found):
            found = [self._replacement(number) for number in range(old.first, old.end)]
        known = [number for number in found if number is not None]
        if not known:
            return None
        first, end = min(known), max(known) + 1
        lead = next(i for i, number in enumerate(found) if number is not None)
        tail = next(i for i, number in enumerate(reversed(found)) if number is not None)
        place = LineSpan(self._grow(first, -lead), self._grow(end - 1, tail) + 1)
        if place.end - place.first <= 2 * len(found) + SMALL_GAP:
            return place
        return LineSpan(known[0], known[0] + 1)  # torn far apart: show where it began

    def _grow(self, number: int, lines: int) -> int:
        """`number` moved by up to `lines` over lines of its section that pair with nothing."""
        step = 1 if lines > 0 else -1
        for _ in range(abs(lines)):
            neighbour = number + step
            if neighbour not in self._unpaired:
                break
            if self._new.chains[number] != self._new.chains[neighbour]:
                break
            number = neighbour
        return number

    def _replacement(self, number: int) -> int | None:
        """The new line that an old one without a pair was most likely edited into."""
        section, rank = self._section_of_old[number]
        old_gap, new_gap = section.gap(rank)
        offset = rank - old_gap.start
        window = range(max(0, offset - MOST_EDITED), min(len(new_gap), offset + MOST_EDITED))
        near = [(i, section.new[new_gap[i]]) for i in window]
        if len(old_gap) == len(new_gap) == 1 and self._similarity(number, near[0][1]) == 1:
            return near[0][1]  # one line for one, and only digits differ: also in its key
        near = [(i, n) for i, n in near if self._same_subject(number, n)]
        scores = [(self._similarity(number, n), -abs(i - offset), n) for i, n in near]
        if scores and max(scores)[0] >= SIMILAR:
            return max(scores)[2]
        if len(old_gap) == len(new_gap) <= SMALL_GAP:
            neighbour = section.new[new_gap[offset]]
            return neighbour if self._same_subject(number, neighbour) else None
        same = self._free_shapes.get((id(section), self._old.shapes[number]), [])
        middle = bisect_left(same, number)
        nearest = [
            n for n in same[max(0, middle - 1) : middle + 1] if self._same_subject(number, n)
        ]
        return min(nearest, key=lambda other: abs(other - number), default=None)

    def _same_subject(self, old: int, new: int) -> bool:
        """Whether a new line can be an old one, edited: the same key, or mostly the same words.

        Only the key and its value count, not the fields that many lines share (`source=…`).
        """
        before, now = KEYED.match(self._old.keys[old]), KEYED.match(self._new.keys[new])
        if before is None or now is None or before["key"] == now["key"]:
            return True
        heads = (
            text.keys[n].partition(" | ")[0] for text, n in ((self._old, old), (self._new, new))
        )
        return _common(*(frozenset(WORD.findall(head)) for head in heads)) >= SIMILAR

    def _similarity(self, old: int, new: int) -> float:
        """1 where only digits differ, else the share of common words."""
        if self._old.shapes[old] == self._new.shapes[new]:
            return 1.0
        return _common(self._old.words[old], self._new.words[new])

    @cached_property
    def _free_numbers(self) -> dict[str, list[int]]:
        """Unpaired new lines by what they read."""
        found: dict[str, list[int]] = defaultdict(list)
        for number in sorted(self._unpaired):
            found[self._new.keys[number]].append(number)
        return found

    @cached_property
    def _free_shapes(self) -> dict[tuple[int, str], list[int]]:
        """Unpaired new lines by section and shape, those that say something."""
        found: dict[tuple[int, str], list[int]] = defaultdict(list)
        for number in sorted(self._unpaired):
            if self._new.words[number]:
                place = id(self._new_section(number)), self._new.shapes[number]
                found[place].append(number)
        return found


def _common(mine: frozenset[str], theirs: frozenset[str]) -> float:
    """The share of words that two lines have in common."""
    every = len(mine) + len(theirs)
    return 2 * len(mine & theirs) / every if every else 0.0
