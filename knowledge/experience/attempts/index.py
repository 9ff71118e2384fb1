"""Attempts and their contexts in the search index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.urls import reverse

from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models import EntryStanding, Experience, Kind, Strategy, TrackRecord
from knowledge.search.index import Entry, remove, upsert
from knowledge.search.tokens import FAILED, WORKED

AT_ONCE = 2_000


def index_entries(entries: Iterable[Experience]) -> None:
    """Put these entries and their contexts into the index, as they stand now.

    What belongs to a project leaves it: the index is everybody's.
    """
    listed = list(entries)
    open_ones = [entry for entry in listed if not entry.track.project]
    remove((Kind.ENTRY, str(entry.pk)) for entry in listed if entry.track.project)
    upsert(entry_row(entry) for entry in open_ones)
    # A context that counts nothing leaves the index, too.
    tracks = list(TrackRecord.objects.filter(pk__in={entry.track_id for entry in listed}))
    slugs = {track.strategy for track in tracks}
    known = {row.slug: row for row in Strategy.objects.filter(slug__in=slugs)}
    shown = [track for track in tracks if track.tried and not track.project]
    remove((Kind.TRACK, str(track.pk)) for track in tracks if track not in shown)
    upsert(track_row(track, known.get(track.strategy)) for track in shown)


def all_tracks() -> Iterator[Entry]:
    """Every context that counts something."""
    known = {row.slug: row for row in Strategy.objects.all()}
    for track in TrackRecord.objects.filter(tried__gt=0).iterator(AT_ONCE):
        yield track_row(track, known.get(track.strategy))


def all_entries() -> Iterator[Entry]:
    """Every attempt."""
    for entry in Experience.objects.order_by("pk").select_related("track").iterator(AT_ONCE):
        yield entry_row(entry)


def facets_of(track: TrackRecord) -> dict[str, str]:
    """What search can be narrowed by."""
    names = ("op", "dtype", "backend", "platform", "arch", "strategy")
    return {name: getattr(track, name) for name in names} | {"symptom": track.bottleneck}


def track_row(track: TrackRecord, strategy: Strategy | None = None) -> Entry:
    """A context as it stands in the index. strategy: that of the catalogue, where it is in it."""
    title, text, names = str(track), "", ""
    if strategy is not None:
        title = title.replace(track.strategy, f"{track.strategy}: {strategy.title}", 1)
        text, names = strategy.use_when, " ".join(strategy.aliases)
    return Entry(
        kind=Kind.TRACK,
        key=str(track.pk),
        url=reverse("experience:track", args=[track.pk]),
        title=title,
        body=text,
        facets=facets_of(track) | {"outcome": _outcome(track.worked * 2 >= track.tried)},
        weight=float(track.tried),
        also=f"{track.family} {track.shape_class} {track.vendor} {_limit(track)} {names}",
    )


def entry_row(entry: Experience) -> Entry:
    """An attempt as it stands in the index."""
    shown = entry.standing == EntryStanding.COUNTS
    return Entry(
        kind=Kind.ENTRY,
        key=str(entry.pk),
        url=entry.get_absolute_url(),
        title=entry.title or str(entry),
        body="\n".join(filter(None, (entry.change, entry.notes, entry.precondition))),
        facets=facets_of(entry.track)
        | {"outcome": _outcome(AttemptLabel(entry.label).worked)}
        | ({} if shown else {"standing": entry.standing}),
        weight=1.0 if shown else 0.0,
        also=f"{entry.strategy_name} {entry.label} {entry.problem} {_limit(entry.track)}",
    )


def _limit(track: TrackRecord) -> str:
    """What limited its kernels, as people search for it: "memory bound"."""
    limit = Bottleneck(track.bottleneck)
    return "" if limit is Bottleneck.UNKNOWN else f"{limit.words} bound"


def _outcome(worked: bool) -> str:
    return WORKED if worked else FAILED
