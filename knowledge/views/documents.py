"""The list of documents, and the search in their texts."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.curation.people import may_propose
from knowledge.lookup.documents import documents_with, snippets

PER_PAGE = 50


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """`?q=` words in path, title or newest text, `&page=`."""
    # PostgreSQL refuses NUL in any text.
    q = request.GET.get("q", "").replace("\0", "").strip()
    page = Paginator(documents_with(q), PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    lines = snippets(rows, q)
    context = {
        "page": page,
        "rows": [(document, lines.get(document.pk)) for document in rows],
        "q": q,
        "may_propose": may_propose(request.user),
    }
    return render(request, "knowledge/documents.html", context)
