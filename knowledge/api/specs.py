"""/api/v1/specs/: list, look up, propose and review values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.door import Door
from knowledge.curation.errors import CurationError
from knowledge.curation.proposal import Proposal, submit
from knowledge.curation.review import approve, give_back, retire
from knowledge.listing import FilterError, Filters, NotKnown, platform_named, specs_matching
from knowledge.models import Spec
from knowledge.records import answer_record, spec_records
from knowledge.specs.facts import QUALIFIERS

# JSON name → whether it has to be there. `source_kind` is "kind" in a document's line.
TEXTS = {
    "metric": True,
    "value": True,
    "cite": True,
    "source": True,
    "source_kind": True,
    "evidence": True,
    "why": True,
    "source_url": False,
    "rank": False,
    "note": False,
}
OTHERS = ("platform", "qualifiers", "replaces")
LONGEST_PAGE = 500
NUL = "\0"  # PostgreSQL stores no text with it


class Pages(PageNumberPagination):
    """`?page=`, and `?page_size=` from 1 to `LONGEST_PAGE`."""

    page_size = 100

    def get_page_size(self, request: Request) -> int:
        """FilterError for anything but a number that is accepted."""
        asked = request.query_params.get("page_size", str(self.page_size))
        size = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 0
        if not 1 <= size <= LONGEST_PAGE:
            raise FilterError("page_size", f"'{asked}'; accepted: 1 to {LONGEST_PAGE}")
        return size


class Specs(Door):
    """GET lists (`?platform=&metric=&state=&evidence=&rank=&q=`); POST proposes one value."""

    def get(self, request: Request) -> Response:
        asked = _parameters(request, (*Filters.names(), "page", "page_size"))
        rows = specs_matching(Filters(**{k: v for k, v in asked.items() if k in Filters.names()}))
        pages = Pages()
        shown = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(spec_records(shown or []))

    def post(self, request: Request) -> Response:
        spec = submit(_proposal(self.body()), request.user)
        return Response(spec_records([spec])[0], 201)


class Lookup(Door):
    """GET `?platform=&metric=&<qualifier>=`: the approved answer, or how to obtain it."""

    def get(self, request: Request) -> Response:
        asked = _parameters(request, ("platform", "metric", *QUALIFIERS))
        for name in ("platform", "metric"):
            if name not in asked:
                raise FilterError(name, "is needed, such as ?platform=h200-sxm&metric=l2_size")
        platform = platform_named(asked.pop("platform"))
        _, record = answer_record(platform, asked.pop("metric"), asked)
        return Response(record)


class Review(Door):
    """POST one decision of a second person, with `why`; for `retire` also `successor`, an id."""

    verb = ""

    def post(self, request: Request, pk: int) -> Response:
        spec = _spec_at(pk)
        body = self.body()
        why = _text(body, "why")
        VERBS[self.verb](spec, request.user, why, body)
        return Response(spec_records([_spec_at(pk)])[0])


def _approve(spec: Spec, by: Any, why: str, body: dict[str, Any]) -> None:
    approve(spec, by, why)


def _return(spec: Spec, by: Any, why: str, body: dict[str, Any]) -> None:
    give_back(spec, by, why)


def _retire(spec: Spec, by: Any, why: str, body: dict[str, Any]) -> None:
    retire(spec, by, why, _spec_named(body, "successor"))


VERBS: dict[str, Callable[[Spec, Any, str, dict[str, Any]], None]] = {
    "approve": _approve,
    "return": _return,
    "retire": _retire,
}


def _parameters(request: Request, accepted: tuple[str, ...]) -> dict[str, str]:
    """The parameters of an address. FilterError for one that is unknown, empty or given twice."""
    found: dict[str, str] = {}
    for name, values in request.query_params.lists():
        if name not in accepted:
            raise FilterError(name, f"unknown parameter; accepted: {', '.join(accepted)}")
        if len(values) != 1 or not values[0] or NUL in values[0]:
            raise FilterError(name, "accepted: one value, not empty, without NUL characters")
        found[name] = values[0]
    return found


def _proposal(body: dict[str, Any]) -> Proposal:
    unknown = sorted(body.keys() - TEXTS.keys() - set(OTHERS))
    if unknown:
        accepted = ", ".join((*OTHERS, *TEXTS))
        raise CurationError(unknown[0], f"unknown field; accepted: {accepted}")
    texts = {name: _text(body, name) for name in TEXTS}
    for name, needed in TEXTS.items():
        if needed and not texts[name]:
            raise CurationError(name, "is needed")
    try:
        platform = platform_named(_text(body, "platform"))
    except NotKnown as error:
        raise CurationError("platform", str(error)) from error
    return Proposal(
        platform=platform,
        qualifiers=_qualifiers(body),
        replaces=_spec_named(body, "replaces"),
        **texts,
    )


def _qualifiers(body: dict[str, Any]) -> dict[str, str]:
    found = body.get("qualifiers", {})
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise CurationError("qualifiers", 'accepted: an object of texts, {"dtype": "float16"}')
    return found


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or NUL in value:
        raise CurationError(name, "accepted: text without NUL characters")
    return value


def _spec_named(body: dict[str, Any], name: str) -> Spec | None:
    key = body.get(name)
    if key is None:
        return None
    found = Spec.objects.filter(pk=key).first() if type(key) is int and key < 2**63 else None
    if found is None:
        raise CurationError(name, f"{key!r}; accepted: the id of a spec")
    return found


def _spec_at(pk: int) -> Spec:
    found = Spec.objects.for_sheet().filter(pk=pk).first() if pk < 2**63 else None
    if found is None:
        raise Http404(f"no spec {pk}")
    return found
