"""What becomes of a citation when its document changes: found again, or shown to a person.

Lines pair section by section (what stands above them), so that a row under one product is never
taken for the same row under another. Two lines are the same when they differ in nothing but
blanks at their end or the kind of line ending; blanks at the start or inside count as a change,
because in Markdown they can turn a line into code or into another cell. A line that reads as it did
has changed all the same where what stands above it reads otherwise: another title, heading, lead-in
line or head row can make a sparse rate of a dense one. So has one whose document names another
platform now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from knowledge.specs.citation import CitationError, CitationLine, CitationState
from knowledge.specs.reader import ITEM, platform_named_in, section_lines
from knowledge.specs.tracking.context import ContextPart
from knowledge.specs.tracking.linemap import LineMap
from knowledge.specs.tracking.sections import LineSpan, listed

OWN_FIELDS = (" | evidence=", " | source=")
SPECS = "Specs"  # the section in which lines of our own form count


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a citation stands in the new text.

    `ok` and `moved` give the lines and the text there, character for character (it differs from
    the old quote at most in blanks at the ends of lines), so a citation made from them resolves.
    `changed` gives the place to look at and its text: other text, or the same under other words
    that give it its meaning. Of `lost` and `source_missing` the lines are
    None and the quote is empty. `note` says why, in words for a person; of `ok` it is empty.
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
        self._old, self._new = _Product(old_text), _Product(new_text or "")

    def anchor(self, citation: CitationLine, quote: str, platform: str | None = None) -> Anchor:
        """Find a citation of the old text in the new one.

        platform: the slug of the platform that the value is of, which counts where the old text
        names none.
        `quote` is the text of its lines in the old text; CitationError where it does not stand
        there, since nothing can then be said about what changed.
        """
        if self._map is None:
            return Anchor(CitationState.SOURCE_MISSING, None, None, "", "the document is gone")
        old = LineSpan(citation.first_line - 1, citation.last_line)
        if not self._map.stands_in_old(old, quote):
            raise CitationError(
                f"{citation}: the old text reads otherwise there; accepted is its own quote"
            )
        about = self._old.slug or platform
        is_own = all(map(_is_own, quote.split("\n")))
        is_named = self._old.slug is not None or about == self._new.slug is not None
        # Spec lines of our own form say everything but the product, which the platform section of
        # their document names; where it has none, the title does.
        parts = tuple(ContextPart)
        if is_own:
            parts = () if is_named else (ContextPart.TITLE,)
        found = _Search(self._map, citation, quote, old, parts).anchor()
        if found.state not in (CitationState.OK, CitationState.MOVED):
            return found
        why = self._other_product(about, is_own=is_own)
        lines = range(citation.first_line, citation.last_line + 1)
        now = range(found.first_line or 1, (found.last_line or 0) + 1)
        if is_own and not why and self._old.specs.issuperset(lines):
            left = not self._new.specs.issuperset(now)
            why = f"the line no longer stands under '## {SPECS}'" if left else ""
        return replace(found, state=CitationState.CHANGED, note=why) if why else found

    def _other_product(self, about: str | None, *, is_own: bool) -> str:
        """Why the new text speaks of another product; "" where it does not.

        A text that names none any more leaves lines of our own form without a product.
        """
        now = self._new.slug
        if about is None or now == about:
            return ""
        if now is not None:
            return f"the document speaks of {now} now"
        missing = is_own and self._old.slug is not None
        return f"the document no longer says that it speaks of {about}" if missing else ""


class _Product:
    """What a text says it is of, and which of its lines count as spec lines."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def slug(self) -> str | None:
        return platform_named_in(self._text)

    @cached_property
    def specs(self) -> frozenset[int]:
        return section_lines(self._text, SPECS)


class _Search:
    """The search for one citation."""

    def __init__(
        self,
        lines: LineMap,
        citation: CitationLine,
        quote: str,
        old: LineSpan,
        parts: tuple[ContextPart, ...],
    ) -> None:
        self.lines = lines
        self.parts = parts
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

    def _chosen(self, copies: list[LineSpan]) -> Anchor:
        """The copy with the surroundings of the old line, if there is just one."""
        claimed = [] if copies else self.lines.claimed(self.old)
        best = self.lines.best(self.old, copies) if copies else claimed
        if not best:
            note = "neither the quote nor a similar line is there any more"
            return Anchor(CitationState.LOST, None, None, "", note)
        elsewhere = copies and not self.lines.same_section(self.old, best[0])
        if claimed or len(best) > 1 or (elsewhere and not self.lines.distinct(self.old)):
            return self._undecided(best[0], f"the text stands at {listed(best)}")
        return self._found(best[0])

    def _found(self, place: LineSpan) -> Anchor:
        """The exact text at `place`: ok or moved, unless it never held the number or says another
        thing there.
        """
        if not self.citation.proven_by(self.quote):
            return self._changed(place, f"the quote does not hold '{self.citation.shown}'")
        moved = [] if place == self.old else [f"from {self.old.locator} to {place.locator}"]
        context = self.lines.context_changes(self.old, place, self.parts)
        if context:
            said = "; ".join(["the text is unchanged", *moved, *context])
            return self._changed(place, said)
        state = CitationState.MOVED if moved else CitationState.OK
        return self._at(state, place, "".join(moved))

    def _changed(self, place: LineSpan, note: str) -> Anchor:
        return self._at(CitationState.CHANGED, place, note)

    def _undecided(self, place: LineSpan, where: str) -> Anchor:
        return self._changed(place, f"{where}; the lines around do not show which one is meant")

    def _at(self, state: CitationState, place: LineSpan, note: str) -> Anchor:
        if self.lines.disappeared(self.old, place):
            hidden = f"{place.locator} stands in an HTML comment now"
            return Anchor(CitationState.LOST, None, None, "", hidden)
        return Anchor(state, place.first + 1, place.end, self.lines.new_text(place), note)

    def _difference(self, place: LineSpan) -> str:
        """What reads otherwise at `place`, and whether the number still stands there."""
        now = self.lines.new_text(place)
        before, after = self.quote.split(), now.split()
        if before == after:
            return "only blanks differ"
        pairs = list(zip(before, after, strict=False)) if len(before) == len(after) else []
        words = [f"'{a}' became '{b}'" for a, b in pairs if a != b]
        said = "; ".join(words) if 0 < len(words) <= 3 else "the text was rewritten"
        if not self.citation.known:
            return said
        held = "still stands" if self.citation.proven_by(now) else "no longer stands"
        return f"{said}; '{self.citation.shown}' {held} there"


def _is_own(line: str) -> bool:
    """Whether the line is a spec line of our own form."""
    return ITEM.match(line) is not None and all(name in line for name in OWN_FIELDS)
