"""Wiki home: what is written, and what is known of which platform."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.models import Document, Platform, SpecState
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """List documents and platforms, with how many values each platform has and lacks."""
    approved = Q(specs__state=SpecState.APPROVED)
    missing = Q(specs__shown=UNKNOWN_VALUE)
    platforms = Platform.objects.annotate(
        known=Count("specs", filter=approved & ~Q(specs__shown__in=[UNKNOWN_VALUE, ABSENT_VALUE])),
        unknown=Count("specs", filter=approved & missing),
    )
    context = {"documents": Document.objects.all(), "platforms": platforms}
    return render(request, "knowledge/home.html", context)
