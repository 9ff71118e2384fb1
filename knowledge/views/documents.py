"""The list of documents."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.curation.people import may_propose
from knowledge.models import Document

PER_PAGE = 50
LONGEST = 200  # characters of a path or a title; no longer text is in one


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """`?q=` in path or title, `&page=`."""
    # PostgreSQL refuses NUL in any text.
    q = request.GET.get("q", "").replace("\0", "").strip()
    found = Document.objects.annotate(changed_at=Max("revisions__created_at"))
    if len(q) > LONGEST:
        found = found.none()
    elif q:
        found = found.filter(Q(path__icontains=q) | Q(title__icontains=q))
    page = Paginator(found.order_by("path"), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "q": q, "may_propose": may_propose(request.user)}
    return render(request, "knowledge/documents.html", context)
