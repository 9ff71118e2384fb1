"""What becomes of a citation when its document changes: found again, or shown to a person.

Lines pair section by section (the headings above them), so that a row under one product is never
taken for the same row under another. Two lines are the same when they differ in nothing but
blanks at their end or the kind of line ending; blanks at the start or inside count as a change,
because in Markdown they can turn a line into code or into another cell.
"""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.specs.citation import CitationError, CitationLine, CitationState, contains
from knowledge.specs.linemap import LineMap
from knowledge.specs.sections import Place, listed


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a citation stands in the new text.

    `ok` and `moved` give the lines and the text there, character for character (it differs from
    the old quote at most in blanks at the ends of lines), so a citation made from them resolves.
    `changed` gives the place to look at and its text. Of `lost` and `source_missing` the lines are
    None and the quote is empty. `note` says why, in words for a person; of `ok` it may be empty.
    """

    state: CitationState
    first_line: int | None
    last_line: int | None
    quote: str
    note: str


class Reanchor:
    """Two texts of one document, indexed once; `anchor` then takes each citation of the old one.

    `new_text` is None when the document is gone.
    """

    def __init__(self, old_text: str, new_text: str | None) -> None:
        self._map = None if new_text is None else LineMap(old_text, new_text)

    def anchor(self, citation: CitationLine, quote: str) -> Anchor:
        """Find a citation of the old text in the new one.

        `quote` is the text of its lines in the old text; CitationError where it does not stand
        there, since nothing can then be said about what changed.
        """
        if self._map is None:
            return Anchor(CitationState.SOURCE_MISSING, None, None, "", "the document is gone")
        old = Place(citation.first_line - 1, citation.last_line)
        if not self._map.stands_in_old(old, quote):
            raise CitationError(
                f"{citation}: the old text reads otherwise there; accepted is its own quote"
            )
        return _Search(self._map, citation, quote, old).anchor()


class _Search:
    """The search for one citation."""

    def __init__(self, lines: LineMap, citation: CitationLine, quote: str, old: Place) -> None:
        self.lines = lines
        self.citation = citation
        self.quote = quote
        self.old = old

    def anchor(self) -> Anchor:
        paired = self.lines.paired(self.old)
        if paired is not None:
            doubt = "" if paired == self.old else self.lines.doubt(self.old, paired)
            return self._undecided(paired, doubt) if doubt else self._found(paired)
        copies = self.lines.copies(self.old)
        here = [copy for copy in copies if self.lines.same_section(self.old, copy)]
        edited = None if here else self.lines.edited(self.old)
        if edited is not None:
            elsewhere = f"; the old text stands at {listed(copies)}" if copies else ""
            return self._changed(edited, self._difference(edited) + elsewhere)
        return self._chosen(here or copies)

    def _chosen(self, copies: list[Place]) -> Anchor:
        """The copy with the surroundings of the old line, if there is just one."""
        claimed = [] if copies else self.lines.claimed(self.old)
        best = self.lines.best(self.old, copies) if copies else claimed
        if not best:
            note = "neither the quote nor a similar line stands where it stood"
            return Anchor(CitationState.LOST, None, None, "", note)
        elsewhere = copies and not self.lines.same_section(self.old, best[0])
        if claimed or len(best) > 1 or (elsewhere and not self.lines.distinct(self.old)):
            return self._undecided(best[0], f"the text stands at {listed(best)}")
        return self._found(best[0])

    def _found(self, place: Place) -> Anchor:
        """The exact text at `place`: ok or moved, unless it never held the number."""
        if not contains(self.quote, self.citation.shown):
            return self._changed(place, f"the quote does not hold '{self.citation.shown}'")
        moved = place != self.old
        notes = [f"from {self.citation.locator} to {place.locator}"] if moved else []
        heading, now = self.lines.headings(self.old, place)
        if heading != now:
            notes.append(f"the heading above was '{heading}' and is '{now}'")
        state = CitationState.MOVED if moved else CitationState.OK
        return self._at(state, place, "; ".join(notes))

    def _changed(self, place: Place, note: str) -> Anchor:
        return self._at(CitationState.CHANGED, place, note)

    def _undecided(self, place: Place, where: str) -> Anchor:
        return self._changed(place, f"{where}; what is around does not say which is meant")

    def _at(self, state: CitationState, place: Place, note: str) -> Anchor:
        return Anchor(state, place.first + 1, place.end, self.lines.new_text(place), note)

    def _difference(self, place: Place) -> str:
        """What reads otherwise at `place`, and whether the number still stands there."""
        now = self.lines.new_text(place)
        before, after = self.quote.split(), now.split()
        if before == after:
            return "only blanks differ"
        pairs = list(zip(before, after, strict=False)) if len(before) == len(after) else []
        words = [f"'{a}' became '{b}'" for a, b in pairs if a != b]
        said = "; ".join(words) if 0 < len(words) <= 3 else "the text was rewritten"
        held = "still stands" if contains(now, self.citation.shown) else "no longer stands"
        return f"{said}; '{self.citation.shown}' {held} there"
