"""What of an import is here already: by its UUID, or by its id and facts in the other system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.catalogue.names import load_names, place_of
from knowledge.experience.terms import idea_key
from knowledge.models import EntryStanding, Experience, Gap, Lesson, LessonState

AT_ONCE = 500


def entries_by_uuid(uuids: Iterable[str]) -> dict[str, Experience]:
    """UUID → the entry that has it, whatever its standing."""
    return {
        str(entry.uuid): entry
        for part in _parts([each for each in uuids if each])
        for entry in Experience.objects.filter(uuid__in=part)
    }


def entries_by_origin(attempts: Sequence[NewExperience]) -> dict[tuple[str, ...], Experience]:
    """What `origin_key` gives of entries that were imported before and are not withdrawn."""
    externals = {each.external for each in attempts if each.external}
    rows = (
        row
        for part in _parts(sorted(externals))
        for row in Experience.objects.filter(external__in=part)
        .exclude(standing=EntryStanding.WITHDRAWN)
        .select_related("track")
    )
    return {
        _key(row.external, row.track.op, row.track.backend, row.title, row.gain): row
        for row in rows
    }


def origin_key(attempt: NewExperience) -> tuple[str, ...]:
    """What tells an attempt of another system from others with the same id there."""
    return _key(attempt.external, attempt.op, attempt.backend, attempt.title, attempt.gain)


def same_ideas(attempts: Sequence[NewExperience]) -> dict[int, str]:
    """Position → UUID of an entry of the same idea in the same context: they could be merged."""
    wanted: dict[tuple[str, ...], list[int]] = {}
    keys = set()
    names = load_names()
    for at, attempt in enumerate(attempts):
        if not attempt.strategy:
            continue
        key = idea_key(names.slug(attempt.strategy, attempt.backend), attempt.params)
        place = place_of(attempt.platform, attempt.arch)
        context = (key, attempt.op, attempt.dtype, attempt.backend, place.platform, place.arch)
        wanted.setdefault((*context, attempt.bottleneck.value), []).append(at)
        keys.add(key)
    found: dict[int, str] = {}
    for part in _parts(sorted(keys)):
        rows = Experience.objects.filter(params_key__in=part, standing=EntryStanding.COUNTS)
        for row in rows.select_related("track"):
            track = row.track
            said = (row.params_key, track.op, track.dtype, track.backend, track.platform)
            for at in wanted.get((*said, track.arch, track.bottleneck), ()):
                found.setdefault(at, str(row.uuid))
    return found


def lessons_here(uuids: Iterable[str]) -> dict[str, Lesson]:
    """UUID → lesson."""
    wanted = [each for each in uuids if each]
    return {str(row.uuid): row for row in Lesson.objects.filter(uuid__in=wanted)}


def lesson_texts() -> dict[tuple[str, ...], Lesson]:
    """Takeaway and scope of every lesson that nobody has retracted → the lesson."""
    rows = Lesson.objects.exclude(state=LessonState.RETRACTED)
    return {(row.takeaway, row.op, row.backend, row.platform, row.arch): row for row in rows}


def gaps_here(uuids: Iterable[str]) -> set[str]:
    """The UUIDs that questions here have."""
    wanted = [each for each in uuids if each]
    return {
        str(each) for each in Gap.objects.filter(uuid__in=wanted).values_list("uuid", flat=True)
    }


def _key(external: str, op: str, backend: str, title: str, gain: float | None) -> tuple[str, ...]:
    return (external, op, backend, title, "" if gain is None else f"{gain:.6f}")


def _parts(listed: list[str]) -> Iterator[list[str]]:
    for first in range(0, len(listed), AT_ONCE):
        yield listed[first : first + AT_ONCE]
