"""What the team has learned, at a glance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.experience.attempts.summary import WORKED, ledger, scope_choices, totals
from knowledge.models import (
    ConflictState,
    Disagreement,
    Gap,
    GapState,
    Lesson,
    LessonState,
    TrackRecord,
)
from knowledge.views.experience.pictures import forest_chart, heat_chart, scope_in

SHOWN = 5
SPOKEN = (LessonState.ACTIVE, LessonState.ANTI_PATTERN)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """`?op=`, `?backend=` and `?platform=` choose what the pictures are of."""
    scope = scope_in(request)
    query = request.GET.urlencode()
    context = {
        "totals": totals(),
        "scope": scope,
        "choices": [
            (name, getattr(scope, name), values) for name, values in scope_choices().items()
        ],
        "forest": forest_chart(scope),
        "forest_csv": f"{reverse('experience:effects_csv')}?{query}",
        "heatmap": heat_chart(scope),
        "heatmap_csv": f"{reverse('experience:places_csv')}?{query}",
        "lessons": Lesson.objects.filter(state__in=SPOKEN)[:SHOWN],
        "waiting": Lesson.objects.filter(state=LessonState.PROPOSED).count(),
        "failures": _failures(),
        "ledgers": [
            ("proposer", ledger("proposer")[:SHOWN]),
            ("strategy", ledger("strategy")[:SHOWN]),
        ],
        "open_gaps": Gap.objects.filter(state=GapState.OPEN).count(),
        "open_conflicts": Disagreement.objects.filter(state=ConflictState.OPEN).count(),
    }
    return render(request, "knowledge/experience/home.html", context)


def _failures() -> list[TrackRecord]:
    """What was tried most and never worked where it was tried."""
    tried = TrackRecord.objects.filter(tried__gt=0).annotate(good=WORKED)
    return list(tried.filter(good=0).order_by("-tried", "-last_at")[:SHOWN])
