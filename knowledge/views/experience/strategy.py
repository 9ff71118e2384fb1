"""One strategy."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import Strategy


@require_safe
def strategy(request: HttpRequest, slug: str) -> HttpResponse:
    """One strategy."""
    found = get_object_or_404(Strategy, slug=slug)
    return render(request, "knowledge/experience/strategy.html", {"strategy": found})
