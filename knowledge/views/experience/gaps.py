"""The open questions."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.models import Gap


@require_safe
def gaps(request: HttpRequest) -> HttpResponse:
    """The open questions."""
    return render(request, "knowledge/experience/gaps.html", {"gaps": Gap.objects.all()})
