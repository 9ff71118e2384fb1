"""Ranked rows as what a page shows of them: read now, where the index may be older than a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.db.models import OuterRef, Subquery

from knowledge.lookup.standing import current
from knowledge.models import (
    IN_USE,
    Document,
    EntryStanding,
    Experience,
    Kind,
    Lesson,
    Revision,
    SearchRow,
    Spec,
    SpecState,
    TrackRecord,
)
from knowledge.search.rank import RankedRow, RankTerm, around, best_line
from knowledge.search.tokens import words_of
from knowledge.specs.facts import Rank

NOUNS = {Kind.SPEC: "value", Kind.TRACK: "experience", Kind.ENTRY: "attempt"}
FACTS = ("tried", "worked", "confirmed", "contradicted", "gain", "gain_low", "gain_high")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One thing that was found.

    text: its words around those that match. facets: its own. mark: why it does not count, such as
    "masked" or "retired"; "" where it does. missing: words of the query that it does not hold.
    line: of a document, counted from 1. facts: tried, worked, gain and what else its kind has.
    places: the words of its title, its summary, its line with what that is about, and the index.
    """

    kind: str
    key: str
    url: str
    title: str
    text: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
    missing: tuple[str, ...] = ()
    line: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.kind, self.key))

    @property
    def noun(self) -> str:
        """What it is, in a word: "value", "document"."""
        return NOUNS.get(Kind(self.kind), self.kind)

    @property
    def outcome(self) -> str:
        """worked, failed, or "" for what is neither."""
        return self.facets.get("outcome", "")

    def record(self, section: str) -> dict[str, Any]:
        """Everything but its score, flat, as files have it."""
        own = {
            "section": section,
            "kind": self.kind,
            "key": self.key,
            "title": self.title,
            "text": self.text,
            "mark": self.mark,
            "line": self.line,
            "without": " ".join(self.missing),
        }
        facts = {name: self.facts.get(name) for name in FACTS}
        return own | facts | {"url": self.url}


def hits_of(
    sections: Mapping[str, Sequence[RankedRow]],
    rows: Mapping[int, SearchRow],
    terms: Sequence[RankTerm],
) -> dict[str, list[SearchHit]]:
    """The hits of each section, in the order of its rows; a row whose thing is gone is left out.

    rows: key of a ranked row → the row in full.
    """
    forms = {form for term in terms for form in term.forms}
    every = [rows[e.row.pk] for each in sections.values() for e in each if e.row.pk in rows]
    facts = _facts(every, terms)
    found: dict[str, list[SearchHit]] = {}
    for name, each in sections.items():
        hits = []
        for one, row in ((one, rows[one.row.pk]) for one in each if one.row.pk in rows):
            known = facts.get((one.row.kind, row.key))
            if known is None:
                continue
            own = row.body.removeprefix(row.title)
            line, text = known.get("line"), known.get("text", own)
            hit = SearchHit(
                kind=row.kind,
                key=row.key,
                url=f"{known['url']}#L{line}" if line else known.get("url", row.url),
                title=row.title,
                text=around(text, forms),
                facets=row.facets,
                mark=known.get("mark", ""),
                missing=one.missing,
                line=line,
                facts=known,
                places={
                    "title": [*words_of(row.title), *known.get("file_name", ())],
                    "summary": words_of(own),
                    "line": known.get("line_words", ()),
                    "subject": known.get("subject") or words_of(own.partition("\n")[0]),
                    "words": row.words.split(),
                },
            )
            hits.append(hit)
        # A document is as good as its best line.
        hits.sort(key=lambda hit: (bool(hit.missing), -float(hit.facts.get("tells", 0))))
        found[name] = hits
    return found


Facts = dict[tuple[str, str], dict[str, Any]]


def _facts(rows: Iterable[SearchRow], terms: Sequence[RankTerm]) -> Facts:
    """(kind, key) → what is known of it now; nothing for a row whose thing is gone."""
    keys: dict[str, list[str]] = {}
    for row in rows:
        keys.setdefault(row.kind, []).append(row.key)
    found: Facts = {}
    for kind, listed in keys.items():
        read = READ.get(kind)
        known = _documents(listed, terms) if kind == Kind.DOCUMENT else read and read(listed)
        for key in listed:
            if known is None:
                found[kind, key] = {}
            elif key in known:
                found[kind, key] = known[key]
    return found


def _facts_in(row: Any, names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names.split()}


def _tracks(keys: list[str]) -> dict[str, dict[str, Any]]:
    rows = list(TrackRecord.objects.filter(pk__in=keys))
    # The median of one gain is that gain, and its interval is the one that was measured.
    alone = Experience.objects.filter(
        track__in=[row.pk for row in rows if row.gains == 1], standing=EntryStanding.COUNTS
    )
    measured = alone.exclude(gain=None).values_list("track", "gain_low", "gain_high")
    ends = {key: {"gain_low": low, "gain_high": high} for key, low, high in measured}
    names = "tried worked gain_low gain_high gains shape_class"
    return {
        str(row.pk): {"gain": row.gain_median, **_facts_in(row, names), **ends.get(row.pk, {})}
        for row in rows
    }


def _entries(keys: list[str]) -> dict[str, dict[str, Any]]:
    found = {}
    for row in Experience.objects.filter(pk__in=keys):
        mark = "" if row.standing == EntryStanding.COUNTS else row.get_standing_display()
        facts = _facts_in(row, "gain gain_low gain_high label round_url")
        found[str(row.pk)] = facts | {"mark": mark}
    return found


def _lessons(keys: list[str]) -> dict[str, dict[str, Any]]:
    found = {}
    for row in Lesson.objects.filter(pk__in=keys):
        mark = "" if row.state in IN_USE else row.get_state_display()
        found[str(row.pk)] = _facts_in(row, "confirmed contradicted applicability") | {"mark": mark}
    return found


def _specs(keys: list[str]) -> dict[str, dict[str, Any]]:
    rows = list(Spec.objects.filter(pk__in=keys).for_sheet())
    holding = {row.pk for row in current(rows)}
    found = {}
    for row in rows:
        mark = "" if row.pk in holding else "citation no longer holds"
        if row.state != SpecState.APPROVED:
            mark = str(SpecState(row.state).label)
        plain = row.known and row.rank == Rank.PREFERRED and not row.qualifiers
        plain &= not row.metric.endswith("_sparse")  # dense is what is meant where none is named
        own = {"metric": row.metric, "platform": row.platform.name, "plain": plain}
        own |= {"shown": row.shown, "citation": row.citation}
        found[str(row.pk)] = own | {"mark": mark}
    return found


def _documents(keys: list[str], terms: Sequence[RankTerm]) -> dict[str, dict[str, Any]]:
    """With the line of the newest text that matches; the index does not keep the text."""
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    rows = Document.objects.filter(pk__in=keys).annotate(newest=Subquery(newest.values("text")[:1]))
    found = {}
    for row in rows:
        line = best_line(row.newest or "", terms)
        mark = "withdrawn" if row.withdrawn_at else ""
        own: dict[str, Any] = {"mark": mark, "text": "", "url": row.get_absolute_url()}
        own["file_name"] = words_of(PurePosixPath(row.path).stem)
        if line is not None:
            own |= {"text": line.text, "line": line.number, "tells": line.tells}
            own |= {"line_words": line.words, "like_it": line.like_it, "subject": line.subject}
        found[str(row.pk)] = own
    return found


READ: dict[str, Callable[[list[str]], dict[str, dict[str, Any]]]] = {
    Kind.TRACK: _tracks,
    Kind.ENTRY: _entries,
    Kind.LESSON: _lessons,
    Kind.SPEC: _specs,
}
