"""Turns what a step of curation refuses into a page: 403 for a right, 409 for who came second."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from knowledge.curation.errors import Conflict, Forbidden
from knowledge.models import Flag, Spec

View = Callable[..., HttpResponse]


def refused(
    request: HttpRequest,
    error: Exception,
    *,
    spec: Spec | None = None,
    back: str = "",
    status: int,
) -> HttpResponse:
    """One page for both: what was not done, the last change of the value, and the way back.

    back: the address of the page that is about what was not changed, if it is no value.
    """
    last = spec.changes.select_related("by").first() if spec is not None else None
    context = {"message": str(error), "spec": spec, "last": last, "back": back, "status": status}
    return render(request, "knowledge/conflict.html", context, status=status)


def refusing(find: Callable[[int], Spec]) -> Callable[[View], View]:
    """Decorate a view of one key: Forbidden → 403, Conflict → 409; `find` gives the value."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponse:
            try:
                return view(request, pk, **kwargs)
            except Forbidden as error:
                return refused(request, error, spec=find(pk), status=403)
            except Conflict as error:
                return refused(request, error, spec=find(pk), status=409)

        return guarded

    return decorate


def spec_of_flag(pk: int) -> Spec:
    """The value that a flag is about."""
    return Flag.objects.select_related("spec__platform").get(pk=pk).spec
