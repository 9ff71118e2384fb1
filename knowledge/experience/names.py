"""What a platform and an operation belong to: products of the wiki, families of operations."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.experience.families import FAMILIES, family_of
from knowledge.models import Platform

__all__ = ["FAMILIES", "Place", "family_of", "place_of"]


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
    return Place(platform, arch, _vendor(arch))


def _vendor(arch: str) -> str:
    if arch.startswith("sm_"):
        return "NVIDIA"
    return "AMD" if arch.startswith("gfx") else ""
