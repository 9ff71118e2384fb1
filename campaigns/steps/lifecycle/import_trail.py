"""A trail of another system, or of another kopt, becomes an ImportedCampaign: whole or not at all.

What it says stays a claim of its author, with file and line. No verdict, gain, noise floor or
experience of ours is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from campaigns.models import ImportedCampaign, ImportedRound
from campaigns.trails.importers.claims import ClaimedCampaign, System, refused
from campaigns.trails.importers.trail import TrailFiles, claimed_in

LONGEST_PATH = 500
AT_ONCE = 100
# What a row takes over as it was claimed.
SAME = (
    *("name", "number", "title", "hypothesis", "rationale", "status", "kept", "masked"),
    *("figure", "unit", "metric", "convention", "amends", "path", "line", "kernel", "at"),
)


@dataclass(frozen=True, slots=True)
class PlannedImport:
    """What an import would store. there: the import that holds the same files already, or None."""

    trail: TrailFiles
    claimed: ClaimedCampaign
    there: ImportedCampaign | None


def plan_import(trail: TrailFiles, system: System | None = None) -> PlannedImport:
    """Read a trail and store nothing. Raises TrailRefused."""
    for path in trail.files:
        if len(path) > LONGEST_PATH:
            accepted = f"paths of up to {LONGEST_PATH} characters"
            raise refused(path[:40] + "…", 0, f"{len(path)} characters", accepted)
    claimed = claimed_in(trail.files, system)
    there = ImportedCampaign.objects.filter(digest=trail.digest).first()
    return PlannedImport(trail, claimed, there)


def import_trail(planned: PlannedImport, user: Any = None) -> tuple[ImportedCampaign, bool]:
    """Store it; (the import, whether it is new). The same content twice is the first one again."""
    trail, claimed = planned.trail, planned.claimed
    with transaction.atomic():
        campaign, is_new = ImportedCampaign.objects.get_or_create(
            digest=trail.digest,
            defaults={
                "system": claimed.system,
                "name": trail.name,
                "title": claimed.title,
                "operator": claimed.operator,
                "platform": claimed.platform,
                "backend": claimed.backend,
                "incumbent": claimed.incumbent,
                "stop_reason": claimed.stop_reason,
                "facts": [claim.stored for claim in (*claimed.claims, *claimed.figures)],
                "tips": [claim.stored for claim in claimed.tips],
                "missing": list(claimed.missing),
                "left_out": list(trail.left_out),
                "files": dict(sorted(trail.files.items())),
                "imported_by": user,
            },
        )
        if is_new:
            rounds = [
                ImportedRound(
                    campaign=campaign,
                    ordinal=ordinal,
                    claims=[claim.stored for claim in one.claims],
                    missing=list(one.missing),
                    **{name: getattr(one, name) for name in SAME},
                )
                for ordinal, one in enumerate(claimed.rounds, 1)
            ]
            ImportedRound.objects.bulk_create(rounds, batch_size=AT_ONCE)
            campaign.sealed = True
            campaign.save(update_fields=["sealed"])
    return campaign, is_new
