"""The sheet of one platform: every value, unknown ones too, with the line it rests on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import Platform


@require_safe
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """All approved values of a platform, competing ones beside the preferred."""
    platform = get_object_or_404(Platform, slug=slug)
    specs = platform.specs.approved().for_sheet()
    return render(request, "knowledge/platform.html", {"platform": platform, "specs": specs})
