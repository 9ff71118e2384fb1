"""The sheet of one platform: its values in parts, rivals below the preferred, gaps as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import Prefetch, Q

from knowledge.lookup.needs import METRICS_NEEDED, Question, answers, question_of, unanswered
from knowledge.lookup.spec_json import UNKNOWN_STATE, citation_state, spec_record
from knowledge.lookup.standing import standings
from knowledge.lookup.value import SWEPT, how_to_obtain
from knowledge.models import Citation, Flag, Platform, Spec, SpecState
from knowledge.models.change import approved_at
from knowledge.models.spec import CITATIONS_READ
from knowledge.specs.citation import CitationState
from knowledge.specs.facts import UNKNOWN_VALUE, Rank
from knowledge.specs.metrics import ORDER, TEXT, Group, group_of, metric_named

RANKS = {Rank.PREFERRED: 0, Rank.NORMAL: 1, Rank.DEPRECATED: 2}
SPARSITY = {"_dense": "dense", "_sparse": "2:4 sparse"}
DIGITS = 20
WAITING = (SpecState.PROPOSED, SpecState.RETURNED)


@dataclass(frozen=True, slots=True)
class SheetFilter:
    """Which rows: of one evidence class, only what a roofline needs, as it was at a moment."""

    evidence: str = ""
    roofline_only: bool = False
    asof: datetime | None = None


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One line of a sheet; `spec` is None for a need that no line of the wiki speaks of.

    rival: another value stands above it for the same question. how: how to obtain what is unknown.
    """

    metric: str
    qualifiers: dict[str, str]
    spec: Spec | None = None
    standing: CitationState | None = None
    flags: tuple[Flag, ...] = ()
    rival: bool = False
    how: str = ""

    @property
    def citation(self) -> Citation | None:
        return self.spec.citation if self.spec is not None else None

    @property
    def amount(self) -> str:
        """The value as written, without its unit."""
        if self.spec is None:
            return UNKNOWN_VALUE
        whole = self.spec.unit == TEXT or not self.spec.known
        return self.spec.shown if whole else self.spec.shown.partition(" ")[0]

    @property
    def written_unit(self) -> str:
        """The unit as written; empty for names and where there is no value."""
        shown = self.spec.shown if self.spec is not None else ""
        return shown.partition(" ")[2] if self.amount != shown else ""

    @property
    def qualities(self) -> list[str]:
        """The qualifiers in words, with dense or sparse where the metric's name says it."""
        named = [word for end, word in SPARSITY.items() if self.metric.endswith(end)]
        return [*named, *(f"{key}={value}" for key, value in self.qualifiers.items())]

    @property
    def swept(self) -> bool:
        """Whether it is one step of a measured sweep of sizes, of which there are many."""
        return SWEPT in self.qualifiers

    @property
    def unknown(self) -> bool:
        return self.spec is None or self.spec.shown == UNKNOWN_VALUE


@dataclass(frozen=True, slots=True)
class PlatformSheet:
    """All rows of a platform under one choice. waiting: proposed or returned, in no use."""

    platform: Platform
    rows: tuple[SheetRow, ...]
    waiting: tuple[SheetRow, ...]

    @property
    def groups(self) -> list[tuple[Group, list[SheetRow]]]:
        single = (row for row in self.rows if not row.swept)
        return [(g, list(rows)) for g, rows in groupby(single, key=lambda r: group_of(r.metric))]

    @property
    def sweep(self) -> list[SheetRow]:
        """The steps of sweeps, which a page folds away; they are the last rows."""
        return [row for row in self.rows if row.swept]

    def records(self) -> Iterator[dict[str, Any]]:
        """Every row as plain values, in the order of the page; those that wait come last."""
        for row in (*self.rows, *self.waiting):
            yield record_of(row, self.platform)


def sheet_of(platform: Platform, choice: SheetFilter) -> PlatformSheet:
    """Read the sheet; the number of queries does not grow with its values."""
    specs = list(_specs(platform, choice.asof))
    found = standings(specs) if choice.asof is None else {}
    in_use = [spec for spec in specs if spec.state == SpecState.APPROVED]
    asked: set[Question] = set()
    lines = []
    for spec in sorted(in_use, key=lambda spec: (RANKS[Rank(spec.rank)], spec.pk)):
        question = question_of(spec)
        lines.append(_row(spec, found, rival=question in asked))
        asked.add(question)
    if in_use and not choice.evidence:
        missing = unanswered(platform.kind, (question_of(spec) for spec in in_use if answers(spec)))
        stored = {question_of(spec) for spec in in_use}
        # Needs that the same question would answer, such as the two types of FP8, are one row.
        needed = (need.first for need in missing if stored.isdisjoint(need.answers))
        for metric, pairs in dict.fromkeys(needed):
            how = how_to_obtain(platform, metric, **dict(pairs))
            lines.append(SheetRow(metric, dict(pairs), how=how))
    waiting = [_row(spec, found) for spec in specs if spec.state in WAITING]
    return PlatformSheet(
        platform,
        tuple(sorted((row for row in lines if _chosen(row, choice)), key=_place)),
        tuple(sorted((row for row in waiting if _chosen(row, choice)), key=_place)),
    )


def record_of(row: SheetRow, platform: Platform) -> dict[str, Any]:
    """One row as plain values: a spec as everywhere, or the gap that stands in its place."""
    if row.spec is None:
        return {
            "group": group_of(row.metric),
            "platform": platform.slug,
            "metric": row.metric,
            "qualifiers": row.qualifiers,
            "state": UNKNOWN_STATE,
            "value": None,
            "unit": metric_named(row.metric).unit,
            "shown": UNKNOWN_VALUE,
            "note": row.how,
            "citation": None,
        }
    record = {"group": group_of(row.metric)} | spec_record(row.spec)
    if record["citation"] is not None:
        record["citation"] |= {"state": row.standing}
    return record | {"flags": [flag.kind for flag in row.flags]}


def _specs(platform: Platform, asof: datetime | None) -> Iterator[Spec]:
    """Specs with citations and flags, as they were at `asof` where that is given."""
    specs = Spec.objects.for_sheet().filter(platform=platform)
    if asof is None:
        read = specs.filter(state__in=(SpecState.APPROVED, *WAITING))
        yield from read.with_flags(Flag.objects.open())
        return
    open_then = Q(answered_at=None) | Q(answered_at__gt=asof)
    flags = Flag.objects.filter(open_then, raised_at__lte=asof)
    cited = Citation.objects.filter(revision__created_at__lte=asof).order_by("-pk")
    cited = cited.select_related("revision__document").defer("revision__text")
    specs = platform.specs.select_related("platform", "proposed_by")
    specs = specs.prefetch_related(Prefetch("citations", cited, to_attr=CITATIONS_READ))
    for spec in approved_at(specs.with_flags(flags), asof):
        # Shown as it was; nothing here is ever saved.
        spec.state, spec.rank = SpecState.APPROVED, vars(spec)["rank_then"] or spec.rank
        yield spec


def _row(spec: Spec, found: dict[int, CitationState], *, rival: bool = False) -> SheetRow:
    flags = tuple(spec.flagged)
    standing = found.get(spec.pk)
    if standing is None and spec.citation is not None:
        standing = CitationState(citation_state(list(flags)))
    how = spec.note if spec.shown == UNKNOWN_VALUE else ""
    return SheetRow(spec.metric, spec.qualifiers, spec, standing, flags, rival, how)


def _chosen(row: SheetRow, choice: SheetFilter) -> bool:
    if choice.roofline_only and row.metric not in METRICS_NEEDED:
        return False
    return not choice.evidence or (row.spec is not None and row.spec.evidence == choice.evidence)


def _place(row: SheetRow) -> tuple[Any, ...]:
    spec = row.spec
    rank = (RANKS[Rank(spec.rank)], spec.pk) if spec is not None else (0, 0)
    # Sizes in the order of numbers, not of words.
    asked = sorted((key, value.zfill(DIGITS)) for key, value in row.qualifiers.items())
    return (row.swept, ORDER.index(group_of(row.metric)), row.metric, asked, rank)
