"""Whether an attempt was measured with what its platform runs today, as far as it is known."""

from __future__ import annotations

from knowledge.models import EntryStanding, Experience

VERSIONS = ("compiler", "driver")


def stale_words(entry: Experience) -> list[str]:
    """What differs from the newest measured attempt on the same platform and backend.

    A sentence each: "measured with driver 550.54; newer attempts on h200 use 580.65". Empty where
    nothing differs, nothing newer was measured, or the versions are not known.
    """
    track = entry.track
    if not track.platform:
        return []
    newer = Experience.objects.filter(
        track__platform=track.platform,
        track__backend=track.backend,
        standing=EntryStanding.COUNTS,
        happened_at__gt=entry.happened_at,
    ).order_by("-happened_at")
    found = []
    for name in VERSIONS:
        own = getattr(entry, name)
        now = newer.exclude(**{name: ""}).values_list(name, flat=True).first() if own else None
        if now and now != own:
            found.append(
                f"measured with {name} {own}; the newest attempt on {track.platform} used {now}"
            )
    return found
