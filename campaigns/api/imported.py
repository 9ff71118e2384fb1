"""Imported campaigns and their claims, as the files of their pages write them."""

from __future__ import annotations

from rest_framework import serializers as fields

from campaigns.models import ImportedCampaign, ImportedRound
from knowledge.api.shapes import columns_of

ImportedSerializer = columns_of(
    "Imported",
    ImportedCampaign,
    "id digest system name heading operator platform backend incumbent stop_reason imported_by "
    "imported_at",
    "What another system claims of a campaign; none of it is counted with what was measured here.",
    heading=fields.CharField(),
    imported_by=fields.CharField(source="imported_by.username", allow_null=True, default=None),
)
ImportedRoundSerializer = columns_of(
    "ImportedRound",
    ImportedRound,
    "ordinal number name title hypothesis rationale status kept masked figure unit metric "
    "convention amends path line kernel at claims missing",
    "figure: as it was written, in its own unit.",
)
WholeImportedSerializer = columns_of(
    "WholeImported",
    ImportedSerializer,
    "facts tips missing left_out rounds",
    "With its claims and its rounds.",
    rounds=ImportedRoundSerializer(many=True),
)
