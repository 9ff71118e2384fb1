"""What documents say of platforms → rows; a driver name belongs to one platform alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from knowledge.exchange.readers.folder import ImportRefused
from knowledge.models import Platform
from knowledge.specs.facts import PlatformFacts

COLUMNS = ("name", "vendor", "arch", "kind", "target", "aliases")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlatformChange:
    """A platform that an import introduced or described anew; change: in words, old and new."""

    slug: str
    change: str
    is_new: bool


def platform_columns() -> dict[str, Row]:
    """What is stored of each platform."""
    return {each.slug: _columns(each) for each in Platform.objects.all()}


def store_platforms(platforms: Iterable[PlatformFacts]) -> tuple[PlatformChange, ...]:
    """Store what documents say of platforms; what that changed. Run it in a turn.

    ImportRefused for the driver name of another platform.
    """
    before = platform_columns()
    now = dict(before)
    owners = {alias: slug for slug, row in before.items() for alias in row["aliases"]}
    for facts in platforms:
        taken = [alias for alias in facts.aliases if owners.get(alias, facts.slug) != facts.slug]
        if taken:
            raise ImportRefused(
                f"platform {facts.slug}: drivers report '{min(taken)}' of {owners[min(taken)]}; "
                "accepted: aliases that no other platform has"
            )
        for alias in now.get(facts.slug, {"aliases": []})["aliases"]:
            owners.pop(alias, None)
        owners |= dict.fromkeys(facts.aliases, facts.slug)
        now[facts.slug] = {column: asdict(facts)[column] for column in COLUMNS}
        now[facts.slug] |= {"kind": str(facts.kind), "aliases": list(facts.aliases)}
    new = [slug for slug in now if slug not in before]
    Platform.objects.bulk_create(Platform(slug=slug, **now[slug]) for slug in new)
    changed = [slug for slug in before if now[slug] != before[slug]]
    for slug in changed:
        Platform.objects.filter(slug=slug).update(**now[slug])
    introduced = (PlatformChange(slug, f"new: {now[slug]['name']}", True) for slug in new)
    return (*introduced, *(PlatformChange(s, _change(before[s], now[s]), False) for s in changed))


def _columns(platform: Platform) -> Row:
    return {column: getattr(platform, column) for column in COLUMNS}


def _change(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return "; ".join(f"{c}: {before[c]} → {now[c]}" for c in COLUMNS if before[c] != now[c])
