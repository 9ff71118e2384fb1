"""The names that experience is recorded under: strategies, operations, types, platforms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from knowledge.models import Platform, Strategy

LONGEST = 120


def catalogue_slug(name: str, backend: str) -> str:
    """The slug of the strategy with this name or alias; the name itself where there is none.

    backend: what the kernel is written in. Whoever asks for many names asks `load_names` once.
    """
    return load_names().slug(name, backend)


@dataclass(frozen=True, slots=True)
class StrategyNames:
    """Every name in the catalogue: slugs, and aliases as (alias, backend, slug)."""

    slugs: frozenset[str]
    aliases: tuple[tuple[str, str, str], ...]

    def slug(self, name: str, backend: str) -> str:
        """See `catalogue_slug`.

        An alias may end in `*`, as that of a sweep `tune.<knob>`; the longest one that matches
        counts, first of the strategies of this backend or of none. A name that strategies of
        several other backends have is none of theirs.
        """
        plain = name.strip()
        if plain in self.slugs or not plain:
            return plain
        found = [
            each
            for each in self.aliases
            if each[0] == plain or (each[0].endswith("*") and plain.startswith(each[0][:-1]))
        ]
        own = [each for each in found if each[1] in ("", backend)]
        if own:
            return max(own, key=lambda each: (len(each[0]), each[1] == backend))[2]
        others = {slug for _, _, slug in found}
        return others.pop() if len(others) == 1 else plain[:LONGEST]


def load_names() -> StrategyNames:
    """All names, in one query."""
    return names_in(Strategy.objects.values_list("slug", "backend", "aliases"))


def names_in(rows: Iterable[tuple[str, str, Iterable[str]]]) -> StrategyNames:
    """The names of (slug, backend, aliases) of each strategy."""
    listed = list(rows)
    aliases = [(alias, backend, slug) for slug, backend, own in listed for alias in own]
    return StrategyNames(frozenset(slug for slug, _, _ in listed), tuple(aliases))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an attempt ran."""

    platform: str = ""
    arch: str = ""
    vendor: str = ""


def place_of(platform: str, arch: str = "") -> Place:
    """A platform of the wiki by its slug; else what was given, with the vendor that arch tells."""
    known = Platform.objects.filter(slug=platform).first() if platform else None
    if known is not None:
        return Place(known.slug, known.target, known.vendor)
    vendor = "NVIDIA" if arch.startswith("sm_") else "AMD" if arch.startswith("gfx") else ""
    return Place(platform, arch, vendor)
