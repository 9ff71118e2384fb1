"""What constraints say of stored values, and the reasoned exceptions to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.history import record
from knowledge.curation.people import require_reviewer
from knowledge.models import Action, Spec, Waiver
from knowledge.specs.constraints import (
    CONSTRAINTS,
    ConstraintWarning,
    Fact,
    Known,
    check_constraints,
)


def warnings_of(specs: Sequence[Spec]) -> dict[int, list[ConstraintWarning]]:
    """Spec key → its warnings, waived ones too with their reason.

    A value is seen beside the approved ones, without itself and what it replaces. Three queries
    for specs that come with platform and citations.
    """
    beside, siblings = _beside(specs), _siblings(specs)
    waived: dict[int, dict[str, str]] = defaultdict(dict)
    for waiver in Waiver.objects.filter(spec__in=specs):
        waived[waiver.spec_id][waiver.constraint] = waiver.reason
    found = {}
    for spec in specs:
        citation = spec.citation
        fact = _fact(spec, citation.quote if citation else "")
        known = _known(spec, beside, siblings)
        found[spec.pk] = check_constraints(fact, known, waived[spec.pk])
    return found


def warnings_before(spec: Spec, quote: str = "") -> list[ConstraintWarning]:
    """What constraints say of a value that is not stored yet, and of the lines picked for it."""
    known = _known(spec, _beside([spec]), _siblings([spec]))
    return check_constraints(_fact(spec, quote), known)


def waive(spec: Spec, constraint: str, reason: str, by: Any) -> Waiver:
    """Store why one constraint's warning does not hold for this value.

    Raises Forbidden (no curator, or the author), CurationError for an unknown constraint, one that
    does not warn or no reason, and Conflict where somebody waived it already.
    """
    require_reviewer(by)
    if by == spec.proposed_by:
        raise Forbidden("the author of a value does not waive its warnings; another curator does")
    warned = [warning.constraint for warning in warnings_of([spec])[spec.pk]]
    if constraint not in warned:
        accepted = ", ".join(warned) or "none, as nothing warns"
        raise CurationError("constraint", f"'{constraint}' does not warn; accepted: {accepted}")
    if not reason.strip():
        raise CurationError("reason", "a reason is needed; it stays in the history")
    try:
        with transaction.atomic():
            waiver = Waiver.objects.create(spec=spec, constraint=constraint, reason=reason, by=by)
            record(spec, Action.WAIVED, by, reason, after=CONSTRAINTS[constraint].title)
    except IntegrityError:
        first = Waiver.objects.select_related("by").get(spec=spec, constraint=constraint)
        who = first.by.get_username()
        raise Conflict(f"{who} was first: '{constraint}' is waived already") from None
    return waiver


Keyed = list[tuple[int, Fact]]  # facts by the key of their spec


def _known(
    spec: Spec, beside: Mapping[int, Keyed], siblings: Mapping[tuple[str, str], Keyed]
) -> Known:
    """What stands beside this value, without itself and what it replaces."""
    own = {spec.pk, spec.replaces_id}
    near = beside.get(spec.platform_id, [])
    far = siblings.get((spec.platform.arch, spec.metric), [])
    return Known(
        [fact for key, fact in near if key not in own],
        [fact for key, fact in far if key not in own],
    )


def _beside(specs: Sequence[Spec]) -> dict[int, Keyed]:
    """Platform → approved values of it."""
    found: dict[int, Keyed] = defaultdict(list)
    platforms = {spec.platform_id for spec in specs}
    approved = Spec.objects.approved().filter(platform__in=platforms)
    for other in approved.select_related("platform"):
        found[other.platform_id].append((other.pk, _fact(other)))
    return found


def _siblings(specs: Sequence[Spec]) -> dict[tuple[str, str], Keyed]:
    """(architecture, metric) → approved values of the platforms of that architecture."""
    found: dict[tuple[str, str], Keyed] = defaultdict(list)
    approved = Spec.objects.approved().filter(
        platform__arch__in={spec.platform.arch for spec in specs},
        metric__in={spec.metric for spec in specs},
    )
    for other in approved.select_related("platform"):
        found[other.platform.arch, other.metric].append((other.pk, _fact(other)))
    return found


def _fact(spec: Spec, quote: str = "") -> Fact:
    source = f"{spec.source} <{spec.source_url}>" if spec.source_url else spec.source
    own = (spec.metric, spec.shown, spec.qualifiers, spec.evidence)
    return Fact(spec.platform.slug, *own, source=source, quote=quote)
