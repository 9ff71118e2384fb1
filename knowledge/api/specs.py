"""/api/v1/specs/ and documents/: list, look up, propose and review values; read their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import django_filters as filters
from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.lists import ListView, OneView, Selected
from knowledge.api.shapes import body_of, columns_of, person_name, texts
from knowledge.api.view import ApiView, RowView
from knowledge.curation.errors import LONGEST_REASON, CurationError
from knowledge.curation.propose import Proposal, submit
from knowledge.curation.review import approve, give_back, retire
from knowledge.lookup.listing import (
    FilterError,
    Filters,
    NotKnown,
    documents_with,
    platform_named,
    specs_matching,
)
from knowledge.lookup.spec_json import answer_record, spec_records
from knowledge.models import Batch, Document, Flag, Platform, Revision, Spec
from knowledge.models.token import Scope
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
SHEET = Spec.objects.for_sheet().with_flags(Flag.objects.open())
ALSO: dict[str, tuple[str, ...]] = {"retire": ("successor",)}  # what it reads beside `why`


FlagSerializer = body_of(
    "Flag",
    id=serializers.IntegerField(),
    **texts("kind note"),
    raised_at=serializers.DateTimeField(),
)
CitationSerializer = body_of(
    "Citation",
    "The lines that a value rests on. state: ok, or what has become of them.",
    **texts("text path"),
    lines=serializers.ListField(child=serializers.IntegerField()),
    **texts("revision quote href state"),
    flag=FlagSerializer(allow_null=True),
)
SpecSerializer = columns_of(
    "Spec",
    Spec,
    "id url platform metric qualifiers state rank value unit shown evidence source source_kind "
    "source_url note replaces citation",
    "One value in its canonical unit; null for names, UNKNOWN and NONE.",
    record=staticmethod(lambda spec: spec_records([spec])[0]),
    **texts("url platform"),
    qualifiers=serializers.DictField(child=serializers.CharField()),
    replaces=serializers.IntegerField(allow_null=True),
    citation=CitationSerializer(allow_null=True),
)
ProposalSerializer = body_of(
    "Proposal",
    "One value with the lines that it rests on.",
    **texts("platform metric"),
    value=serializers.CharField(help_text="with its unit, such as 4.8 TB/s"),
    cite=serializers.CharField(help_text="<gpu-wiki>/path.md:L5"),
    **texts("source source_kind evidence why"),
    **texts("source_url rank note", required=False, allow_blank=True),
    qualifiers=serializers.DictField(child=serializers.CharField(), required=False),
    replaces=serializers.IntegerField(required=False, allow_null=True),
)
DecisionSerializer = body_of(
    "Decision",
    "successor: the id of the value that is preferred then; of `retire` only.",
    why=serializers.CharField(),
    successor=serializers.IntegerField(required=False, allow_null=True),
)


class SpecsView(ListView):
    """GET lists values, the oldest first."""

    queryset = SHEET
    serializer_class = SpecSerializer
    filter_backends = [Selected]
    names = tuple(Filters.names())
    order = "pk"
    scopes = {"POST": Scope.CURATE}

    def select(self, wanted: dict[str, str]) -> QuerySet[Spec]:
        return specs_matching(Filters(**wanted))

    def records(self, rows: Sequence[Spec]) -> list[dict[str, Any]]:
        return spec_records(rows)

    @extend_schema(request=ProposalSerializer, responses={201: SpecSerializer})
    def post(self, request: Request) -> Response:
        """POST proposes a value, for a curator to review."""
        spec = submit(_proposal(self.body()), request.user)
        return Response(SpecSerializer(spec).data, 201)


class OneSpecView(OneView):
    """GET one value with its citation."""

    queryset = SHEET
    serializer_class = SpecSerializer


class LookupView(ApiView):
    """GET the approved answer to a question, or state "unknown" and how to obtain it."""

    @extend_schema(
        parameters=[
            OpenApiParameter("platform", required=True),
            OpenApiParameter("metric", required=True),
            *map(OpenApiParameter, QUALIFIERS),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        asked = self.asked("platform", "metric", *QUALIFIERS)
        for name in ("platform", "metric"):
            if name not in asked:
                raise FilterError(name, "is needed, such as ?platform=h200-sxm&metric=l2_size")
        platform = platform_named(asked.pop("platform"))
        _, record = answer_record(platform, asked.pop("metric"), asked)
        return Response(record)


class ReviewView(RowView):
    """POST one decision of a second person. No token may."""

    queryset = Spec.objects.all()
    verb = ""

    @extend_schema(request=DecisionSerializer, responses=SpecSerializer)
    def post(self, request: Request, pk: int) -> Response:
        spec = _spec_at(pk)
        body = self.body()
        _only(body, "why", *ALSO.get(self.verb, ()))
        why = _text(body, "why")
        VERBS[self.verb](spec, request.user, why, body)
        return Response(SpecSerializer(_spec_at(pk)).data)


VERBS: dict[str, Callable[[Spec, Any, str, dict[str, Any]], object]] = {
    "approve": lambda spec, by, why, body: approve(spec, by, why),
    "return": lambda spec, by, why, body: give_back(spec, by, why),
    "retire": lambda spec, by, why, body: retire(spec, by, why, _spec_named(body, "successor")),
}


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
    found = body.get("qualifiers", {})
    if not isinstance(found, dict):
        raise CurationError("qualifiers", 'accepted: an object of texts, {"dtype": "float16"}')
    for key, value in found.items():
        if key not in QUALIFIERS:
            raise CurationError("qualifiers", f"unknown key; accepted: {', '.join(QUALIFIERS)}")
        if not isinstance(value, str) or len(value) > LONGEST_QUALIFIER:
            words = f"{key}: accepted: a text of up to {LONGEST_QUALIFIER} characters"
            raise CurationError("qualifiers", words)
    return Proposal(
        platform=platform, qualifiers=found, replaces=_spec_named(body, "replaces"), **texts
    )


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


PlatformSerializer = columns_of(
    "Platform",
    Platform,
    "id slug name vendor arch kind target aliases",
    "One exact product. aliases: the names that drivers report.",
    aliases=serializers.ListField(child=serializers.CharField()),
)


class PlatformFilters(filters.FilterSet):
    vendor = filters.CharFilter("vendor")
    arch = filters.CharFilter("arch")
    kind = filters.CharFilter("kind")


class Platforms(ListView):
    """GET lists platforms."""

    queryset = Platform.objects.all()
    serializer_class = PlatformSerializer
    filterset_class = PlatformFilters
    order = "pk"


class OnePlatform(OneView):
    """GET one platform by its slug, name or an unambiguous part of one."""

    queryset = Platform.objects.all()
    serializer_class = PlatformSerializer
    lookup_field = "slug"

    def get_object(self) -> Platform:
        return platform_named(self.kwargs["slug"])


BatchSerializer = columns_of(
    "Batch",
    Batch,
    "number kind origin format state why author created_at decided_at undone_at undone_by url",
    "One import of files.",
    number=serializers.IntegerField(),
    author=person_name("author"),
    undone_by=person_name("undone_by"),
    url=serializers.CharField(source="get_absolute_url"),
)
DocumentSerializer = columns_of(
    "Document",
    Document,
    "id path title origin withdrawn_at changed_at",
    changed_at=serializers.DateTimeField(),
)
RevisionSerializer = columns_of("Revision", Revision, "number sha256 text created_at")
WholeDocumentSerializer = columns_of(
    "WholeDocument",
    Document,
    "id path title origin withdrawn_at latest",
    "With its newest text.",
    latest=RevisionSerializer(),
)


class DocumentFilters(filters.FilterSet):
    q = filters.CharFilter(method="with_words", label="words in path, title or newest text")
    origin = filters.CharFilter("origin")
    path = filters.CharFilter("path")

    def with_words(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(pk__in=documents_with(text).order_by().values("pk"))


class Documents(ListView):
    """GET lists documents, without their texts."""

    queryset = documents_with("")
    serializer_class = DocumentSerializer
    filterset_class = DocumentFilters
    order = "pk"


class OneDocument(OneView):
    """GET one document with its newest text."""

    queryset = Document.objects.all()
    serializer_class = WholeDocumentSerializer
