"""One lesson."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import Lesson


@require_safe
def lesson(request: HttpRequest, key: UUID) -> HttpResponse:
    """One lesson."""
    found = get_object_or_404(Lesson, uuid=key)
    return render(request, "knowledge/experience/lesson.html", {"lesson": found})
