"""Two to four platforms side by side."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.comparison import FEWEST, MOST, compare
from knowledge.models import Platform

ALL, DIFF = "all", "diff"


@require_safe
def compare_platforms(request: HttpRequest) -> HttpResponse:
    """`?p=<slug>` two to four times, `&only=all` for equal rows too; with fewer it is a form."""
    asked = list(dict.fromkeys(slug for slug in request.GET.getlist("p") if slug))
    platforms = list(Platform.objects.all())
    by_slug = {platform.slug: platform for platform in platforms}
    error = _error(asked, by_slug)
    ready = len(asked) >= FEWEST and not error
    context = {
        "platforms": platforms,
        "slots": [asked[n] if n < len(asked) else "" for n in range(MOST)],
        "error": error,
        "one_more": len(asked) == 1 and not error,
        "comparison": compare([by_slug[slug] for slug in asked]) if ready else None,
        "only": ALL if request.GET.get("only") == ALL else DIFF,
    }
    return render(request, "knowledge/compare.html", context, status=400 if error else 200)


def _error(asked: list[str], known: dict[str, Platform]) -> str:
    for slug in asked:
        if slug not in known:
            accepted = ", ".join(known) or "none yet: run `python manage.py wiki import`"
            return f"unknown platform ‘{slug}’; accepted: {accepted}"
    if len(asked) > MOST:
        return f"{len(asked)} platforms were chosen; accepted: {FEWEST} to {MOST} different ones"
    return ""
