"""What a page showed before somebody decided: the newest change that a decision has to know."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db.models import Max, Q

from knowledge.models import Action, Spec, SpecChange

# What makes another value of the question the preferred one, or none.
DECISIONS = (Action.APPROVED, Action.RETIRED, Action.RANKED)


def newest_change(spec: Spec) -> SpecChange | None:
    """The last step in the life of the spec, or the last decision on its question if that is later.

    Its key only grows, so a page that keeps it tells a later decision by it.
    """
    rivals = Spec.objects.asking(spec.platform_id, spec.metric, spec.qualifiers)
    own, decided = Q(spec=spec), Q(spec__in=rivals, action__in=DECISIONS)
    changes = SpecChange.objects.filter(own | decided).select_related("by", "spec")
    return changes.order_by("-pk").first()


def newest_changes(specs: Iterable[Spec]) -> dict[int, int]:
    """The key of each spec to that of its `newest_change`; two queries for all of them."""
    asked = list(specs)
    changes = SpecChange.objects.order_by()
    own = changes.filter(spec__in=asked).values_list("spec").annotate(Max("pk"))
    found = dict(own)
    questions: dict[str, int] = {}
    beside = changes.filter(
        spec__platform__in={spec.platform_id for spec in asked},
        spec__metric__in={spec.metric for spec in asked},
        action__in=DECISIONS,
    )
    columns = ("spec__platform_id", "spec__metric", "spec__qualifiers", "pk")
    for platform, metric, qualifiers, key in beside.values_list(*columns):
        question = _question(platform, metric, qualifiers)
        questions[question] = max(key, questions.get(question, 0))
    for spec in asked:
        decided = questions.get(_question(spec.platform_id, spec.metric, spec.qualifiers), 0)
        if decided > found.get(spec.pk, 0):
            found[spec.pk] = decided
    return found


def _question(platform: int, metric: str, qualifiers: dict[str, str]) -> str:
    return json.dumps([platform, metric, dict(sorted(qualifiers.items()))])
