"""One attempt."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import Experience


@require_safe
def entry(request: HttpRequest, key: UUID) -> HttpResponse:
    """One attempt."""
    found = get_object_or_404(Experience, uuid=key)
    return render(request, "knowledge/experience/entry.html", {"entry": found})
