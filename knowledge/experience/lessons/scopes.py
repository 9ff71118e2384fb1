"""What a scope may name: what the wiki, the catalogue or a recorded attempt knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from knowledge.curation.errors import CurationError
from knowledge.experience.catalogue.names import catalogue_slug
from knowledge.experience.names import FAMILIES
from knowledge.models import Lesson, Platform, Strategy, TrackRecord
from knowledge.specs.qualifiers import DTYPES
from knowledge.specs.spellings import our_qualifier

MOST_LISTED = 8


def known_values(name: str) -> list[str]:
    """What a field of a scope usually is, sorted."""
    return sorted({value for value in _values(name) if value})


def known_value(name: str, value: str) -> str:
    """Our spelling of the value; CurationError lists the near ones where nothing has this name.

    A scope that nothing can be in would never be found.
    """
    plain = our_qualifier(name, " ".join(value.split()))
    if name == "strategy":
        plain = catalogue_slug(plain, "")
    if not plain or TrackRecord.objects.filter(**{name: plain}).exists():
        return plain
    known = known_values(name)
    if plain in known:
        return plain
    near = get_close_matches(plain, known, MOST_LISTED) or known[:MOST_LISTED]
    more = ", …" if len(known) > len(near) else ""
    accepted = ", ".join(near) + more if near else f"a {name} of a recorded attempt"
    raise CurationError(name, f"nothing is known of '{plain[:60]}'; accepted: {accepted}")


def lesson_values(name: str) -> list[str]:
    """What the scopes of stored lessons name, for filters."""
    rows = Lesson.objects.order_by(name).values_list(name, flat=True).distinct()
    return [value for value in rows if value]


def _values(name: str) -> Iterable[str]:
    if name == "op":
        return [op for ops in FAMILIES.values() for op in ops]
    if name == "dtype":
        return DTYPES
    if name in ("platform", "arch"):
        column = "slug" if name == "platform" else "target"
        return Platform.objects.values_list(column, flat=True)
    column = "backend" if name == "backend" else "slug"
    return Strategy.objects.filter(withdrawn=False).values_list(column, flat=True)
