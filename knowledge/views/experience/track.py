"""One strategy in one context: its record, and its attempts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import TrackRecord


@require_safe
def track(request: HttpRequest, pk: int) -> HttpResponse:
    """One strategy in one context: its record, and its attempts."""
    found = get_object_or_404(TrackRecord, pk=pk)
    return render(request, "knowledge/experience/track.html", {"track": found})
