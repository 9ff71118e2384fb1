"""The imports of experience, newest first, and the form that plans another one."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import may_propose
from knowledge.exchange.readers.folder import ImportRefused
from knowledge.experience.exchange.plan import plan_import
from knowledge.experience.exchange.uploads import MAX_FILE_BYTES, read_experience_uploads
from knowledge.experience.readers.recognise import MOST_ROWS, TAKEN
from knowledge.models import ExperienceImport
from knowledge.views.actions import refused

PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest) -> HttpResponse:
    """All imports; POST plans one of uploaded files."""
    if request.method != "POST":
        return _list(request)
    try:
        name, files = read_experience_uploads(request.FILES.getlist("files"))
        batch = plan_import(files, request.user, origin=name[:120])
    except Forbidden as error:
        return refused(request, error, status=403)
    except ImportRefused as error:
        return _list(request, str(error))
    except CurationError as error:
        return _list(request, error.message)
    return redirect(batch)


def _list(request: HttpRequest, error: str = "") -> HttpResponse:
    batches = ExperienceImport.objects.select_related("author").defer("files", "answers")
    page = Paginator(batches, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "error": error,
        "can_plan": may_propose(request.user),
        "accept": ",".join((".zip", *TAKEN)),
        "max_mb": MAX_FILE_BYTES // 1_000_000,
        "max_rows": f"{MOST_ROWS:,}",
    }
    status = 422 if error else 200
    return render(request, "knowledge/experience/imports.html", context, status=status)
