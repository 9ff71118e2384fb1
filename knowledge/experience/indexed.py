"""Experience as it stands in the search index: its contexts and its single attempts."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse

from knowledge.models import EntryStanding, Experience, Kind, TrackRecord
from knowledge.search.index import Entry, put


def index_entries(entries: Iterable[Experience]) -> None:
    """Put these entries and their contexts into the index, as they stand now."""
    listed = list(entries)
    put(entry_row(entry) for entry in listed)
    index_tracks({entry.track_id for entry in listed})


def index_tracks(keys: Iterable[int]) -> None:
    """Put these contexts into the index, as they stand now."""
    put(track_row(track) for track in TrackRecord.objects.filter(pk__in=list(keys)))


def facets_of(track: TrackRecord) -> dict[str, str]:
    """What search can be narrowed by."""
    return {
        "op": track.op,
        "dtype": track.dtype,
        "backend": track.backend,
        "platform": track.platform,
        "arch": track.arch,
        "symptom": track.bottleneck,
        "strategy": track.strategy,
    }


def track_row(track: TrackRecord) -> Entry:
    """A context as it stands in the index."""
    worked = "worked" if track.worked * 2 >= max(track.tried, 1) else "failed"
    return Entry(
        kind=Kind.TRACK,
        key=str(track.pk),
        url=reverse("experience:track", args=[track.pk]),
        title=str(track),
        body=f"{track.family} {track.shape_class} {track.vendor}",
        facets=facets_of(track) | {"outcome": worked},
        weight=float(track.tried),
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
        | {"outcome": "worked" if entry.label in ("success", "small", "micro") else "failed"}
        | ({} if shown else {"standing": entry.standing}),
        weight=1.0 if shown else 0.0,
        also=f"{entry.strategy_name} {entry.label} {entry.problem}",
    )
