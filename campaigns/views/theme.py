"""Stores which colours a visitor wants."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from campaigns.reports.theme import COOKIE, Theme

YEAR_S = 365 * 24 * 3600


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Store the choice and go back to where it was made."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    response = HttpResponseRedirect(back)
    chosen = Theme.read(request.POST.get("theme", ""))
    response.set_cookie(
        COOKIE, chosen.value, max_age=YEAR_S, samesite="Lax", httponly=True,
        secure=request.is_secure(),
    )  # fmt: skip
    return response
