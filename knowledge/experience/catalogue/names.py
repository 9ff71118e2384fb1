"""From the name that a source gives a strategy to the catalogue's."""

from __future__ import annotations

from knowledge.models import Strategy

LONGEST = 120


def catalogue_slug(name: str, backend: str) -> str:
    """The slug of the strategy with this name or alias; the name itself where there is none.

    A sweep is named `tune.<knob>`, `flags.<set>`: its alias may end in `*`. backend: prefers a
    strategy of this backend where two have the same alias.
    """
    plain = name.strip()
    exact = Strategy.objects.filter(slug=plain).values_list("slug", flat=True).first()
    if exact or not plain:
        return str(exact or "")
    found = [row for row in Strategy.objects.all() if _is_alias(plain, row.aliases)]
    found.sort(key=lambda row: (row.backend != backend, row.backend != "", row.slug))
    return found[0].slug if found else plain[:LONGEST]


def _is_alias(name: str, aliases: list[str]) -> bool:
    return any(
        name == alias or (alias.endswith("*") and name.startswith(alias[:-1])) for alias in aliases
    )
