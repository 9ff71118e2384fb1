"""What was measured with another compiler, driver or platform than the one in use now."""

from __future__ import annotations

from dataclasses import dataclass, fields

from knowledge.models import EntryStanding, Experience, Lesson


@dataclass(frozen=True, slots=True)
class Versions:
    """What an effect depends on; "" is unknown."""

    compiler: str = ""
    driver: str = ""
    platform: str = ""


def staleness(measured: Versions, current: Versions) -> str:
    """In words what is another now; "" where nothing is, or nobody knows. PURE."""
    found = []
    for each in fields(Versions):
        was, now = getattr(measured, each.name), getattr(current, each.name)
        if was and now and was != now:
            found.append(f"{each.name} was {was}, is {now} now")
    return "; ".join(found)


def versions_of(entry: Experience) -> Versions:
    return Versions(entry.compiler, entry.driver, entry.track.platform)


def current_versions(platform: str, backend: str) -> Versions:
    """Those of the newest entry that counts of this platform and backend."""
    rows = Experience.objects.filter(
        standing=EntryStanding.COUNTS, track__platform=platform, track__backend=backend
    ).exclude(compiler="")
    newest = rows.select_related("track").order_by("-pk").first() if platform else None
    return versions_of(newest) if newest else Versions()


def lesson_staleness(lesson: Lesson) -> str:
    """Why the newest attempt that supports the lesson would be measured anew; "" where it holds."""
    rests = lesson.evidence.filter(agrees=True, entry__standing=EntryStanding.COUNTS)
    newest = rests.select_related("entry__track").order_by("-entry__happened_at").first()
    if newest is None:
        return ""
    track = newest.entry.track
    return staleness(versions_of(newest.entry), current_versions(track.platform, track.backend))
