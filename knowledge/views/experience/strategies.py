"""The catalogue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.models import Strategy


@require_safe
def strategies(request: HttpRequest) -> HttpResponse:
    """The catalogue."""
    return render(
        request, "knowledge/experience/strategies.html", {"strategies": Strategy.objects.all()}
    )
