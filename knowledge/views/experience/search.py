"""One box over everything that can be found."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """One box over everything that can be found."""
    return render(request, "knowledge/experience/search.html", {"q": request.GET.get("q", "")})
