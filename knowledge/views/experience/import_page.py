"""One import: its plan, or what became of it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import ExperienceImport


@require_safe
def import_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One import: its plan, or what became of it."""
    found = get_object_or_404(ExperienceImport, pk=pk)
    return render(request, "knowledge/experience/import.html", {"batch": found})
