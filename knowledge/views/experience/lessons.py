"""The lessons, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.models import Lesson


@require_safe
def lessons(request: HttpRequest) -> HttpResponse:
    """The lessons, newest first."""
    return render(request, "knowledge/experience/lessons.html", {"lessons": Lesson.objects.all()})
