"""Experience under a name that the catalogue has learned since goes to that strategy."""

from __future__ import annotations

from django.db import transaction

from knowledge.experience.catalogue.names import load_names
from knowledge.experience.indexed.entries import index_entries
from knowledge.experience.terms import idea_key
from knowledge.experience.track import refresh
from knowledge.models import Experience, Kind, TrackRecord
from knowledge.search.index import remove

CONTEXT = ("op", "dtype", "backend", "platform", "arch", "shape_class", "bottleneck")
DERIVED = ("family", "vendor", "size_log2")
AT_ONCE = 500


def resolve_names() -> int:
    """Move entries to the record of the strategy that their name means now; how many moved.

    The record under the old name is gone then, as nothing is left in it. All or nothing.
    """
    names = load_names()
    moved = 0
    with transaction.atomic():
        for track in TrackRecord.objects.exclude(strategy__in=names.slugs).order_by("pk"):
            slug = names.slug(track.strategy, track.backend)
            if slug != track.strategy:
                moved += _move(track, slug)
    return moved


def _move(track: TrackRecord, slug: str) -> int:
    context = {name: getattr(track, name) for name in CONTEXT}
    derived = {name: getattr(track, name) for name in DERIVED}
    target, _ = TrackRecord.objects.get_or_create(strategy=slug, **context, defaults=derived)
    entries = list(track.entries.all())
    for entry in entries:
        entry.track = target
        entry.params_key = idea_key(slug, entry.params)
    Experience.objects.bulk_update(entries, ["track", "params_key"], batch_size=AT_ONCE)
    remove([(Kind.TRACK, str(track.pk))])
    track.delete()
    refresh([target.pk])
    target.refresh_from_db()
    index_entries(entries)
    return len(entries)
