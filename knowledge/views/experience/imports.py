"""The imports of experience, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.models import ExperienceImport


@require_safe
def imports(request: HttpRequest) -> HttpResponse:
    """The imports of experience, newest first."""
    return render(
        request, "knowledge/experience/imports.html", {"imports": ExperienceImport.objects.all()}
    )
