"""Measured values: of this installation's own devices, or of others' of a model."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef

from knowledge.lookup.value import spec_behind
from knowledge.models import Citation, Platform, Spec
from knowledge.models.document import MEASURED_ORIGIN
from knowledge.specs.cited import Cited, EvidenceClass


def measured_here(platform: Platform, metrics: Iterable[str], /) -> bool:
    """Whether this installation itself has measured one of these metrics of the platform."""
    own = Citation.objects.filter(
        spec=OuterRef("pk"), revision__document__origin=MEASURED_ORIGIN
    ).filter(revision__document__withdrawn_at=None)
    rows = Spec.objects.preferred().filter(platform=platform, metric__in=list(metrics))
    return rows.filter(Exists(own), evidence=EvidenceClass.MEASURED).exists()


def measured_elsewhere(platform: Platform, answers: Iterable[Cited], /) -> list[Spec]:
    """The specs of measured answers whose document this installation did not write, in order.

    A rate that somebody else measured, wherever it stands, is none of this device.
    """
    found = []
    for answer in answers:
        spec = spec_behind(platform, answer) if answer.evidence == EvidenceClass.MEASURED else None
        if spec is None or spec.citation is None:
            continue
        if spec.citation.revision.document.origin != MEASURED_ORIGIN:
            found.append(spec)
    return found
