"""What the team has learned, at a glance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What the team has learned, at a glance."""
    return render(request, "knowledge/experience/home.html", {})
