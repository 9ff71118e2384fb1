"""/api/v1/specs/: list, look up, propose and review values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.parameters import Pages, parameters
from knowledge.api.view import ApiView
from knowledge.curation.errors import CurationError
from knowledge.curation.proposal import Proposal, submit
from knowledge.curation.review import approve, give_back, retire
from knowledge.curation.wording import LONGEST_REASON
from knowledge.lookup.listing import FilterError, Filters, NotKnown, platform_named, specs_matching
from knowledge.lookup.spec_json import answer_record, spec_records
from knowledge.models import Spec
from knowledge.specs.facts import MOST, QUALIFIERS

# JSON name → most characters, as the columns and the form have it. `source_kind` is "kind" in a
# document's line.
TEXTS = {
    "platform": 80,
    "metric": 80,
    "value": MOST["shown"],
    "cite": 300,
    "source": MOST["source"],
    "source_kind": 16,
    "evidence": 16,
    "why": LONGEST_REASON,
    "source_url": MOST["source_url"],
    "rank": 16,
    "note": 2000,
}
MAY_BE_EMPTY = ("source_url", "rank", "note")
OTHERS = ("qualifiers", "replaces")
LONGEST_QUALIFIER = 80


class SpecsView(ApiView):
    """GET lists (`?platform=&metric=&state=&evidence=&rank=&q=`); POST proposes one value."""

    def get(self, request: Request) -> Response:
        asked = parameters(request, (*Filters.names(), "page", "page_size"))
        rows = specs_matching(Filters(**{k: v for k, v in asked.items() if k in Filters.names()}))
        pages = Pages()
        shown = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(spec_records(shown or []))

    def post(self, request: Request) -> Response:
        spec = submit(_proposal(self.body()), request.user)
        return Response(spec_records([spec])[0], 201)


class LookupView(ApiView):
    """GET `?platform=&metric=&<qualifier>=`: the approved answer, or how to obtain it."""

    def get(self, request: Request) -> Response:
        asked = parameters(request, ("platform", "metric", *QUALIFIERS))
        for name in ("platform", "metric"):
            if name not in asked:
                raise FilterError(name, "is needed, such as ?platform=h200-sxm&metric=l2_size")
        platform = platform_named(asked.pop("platform"))
        _, record = answer_record(platform, asked.pop("metric"), asked)
        return Response(record)


class ReviewView(ApiView):
    """POST one decision of a second person, with `why`; for `retire` also `successor`, an id."""

    verb = ""

    def post(self, request: Request, pk: int) -> Response:
        spec = _spec_at(pk)
        body = self.body()
        _only(body, "why", *ALSO.get(self.verb, ()))
        why = _text(body, "why")
        VERBS[self.verb](spec, request.user, why, body)
        return Response(spec_records([_spec_at(pk)])[0])


VERBS: dict[str, Callable[[Spec, Any, str, dict[str, Any]], object]] = {
    "approve": lambda spec, by, why, body: approve(spec, by, why),
    "return": lambda spec, by, why, body: give_back(spec, by, why),
    "retire": lambda spec, by, why, body: retire(spec, by, why, _spec_named(body, "successor")),
}
ALSO: dict[str, tuple[str, ...]] = {"retire": ("successor",)}  # what it reads beside `why`


def _only(body: dict[str, Any], *accepted: str) -> None:
    """CurationError for a key that nothing reads."""
    unknown = sorted(body.keys() - set(accepted))
    if unknown:
        raise CurationError(unknown[0], f"unknown field; accepted: {', '.join(accepted)}")


def _proposal(body: dict[str, Any]) -> Proposal:
    _only(body, *TEXTS, *OTHERS)
    texts = {name: _text(body, name) for name in TEXTS}
    for name, text in texts.items():
        if not text and name not in MAY_BE_EMPTY:
            raise CurationError(name, "is needed")
    try:
        platform = platform_named(texts.pop("platform"))
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
    if not isinstance(found, dict):
        raise CurationError("qualifiers", 'accepted: an object of texts, {"dtype": "float16"}')
    for key, value in found.items():
        if key not in QUALIFIERS:
            raise CurationError("qualifiers", f"unknown key; accepted: {', '.join(QUALIFIERS)}")
        if not isinstance(value, str) or len(value) > LONGEST_QUALIFIER:
            words = f"{key}: accepted: a text of up to {LONGEST_QUALIFIER} characters"
            raise CurationError("qualifiers", words)
    return found


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str):
        raise CurationError(name, "accepted: text")
    if len(value) > TEXTS[name]:
        raise CurationError(name, f"{len(value)} characters; accepted: at most {TEXTS[name]}")
    return value


def _spec_named(body: dict[str, Any], name: str) -> Spec | None:
    key = body.get(name)
    if key is None:
        return None
    known = type(key) is int and 0 < key < 2**63
    found = Spec.objects.filter(pk=key).first() if known else None
    if found is None:
        raise CurationError(name, "accepted: the id of a spec")
    return found


def _spec_at(pk: int) -> Spec:
    found = Spec.objects.for_sheet().filter(pk=pk).first() if pk < 2**63 else None
    if found is None:
        raise Http404("no such spec")
    return found
