"""/api/v1/experience/, lessons/, gaps/, recommend/, search/: what was learned and found."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.json_body import number_at
from knowledge.api.lists import ListView, OneView, Selected
from knowledge.api.shapes import body_of, columns_of, person_name, texts
from knowledge.api.view import ApiView
from knowledge.curation.errors import CurationError
from knowledge.experience.exchange.naming import our_question
from knowledge.experience.exchange.note_attempt import note_attempt
from knowledge.experience.lessons.gaps import NewGap, ask_gap
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.terms import Bottleneck
from knowledge.experience.writers.selection import (
    OUTCOMES,
    SCOPE,
    TEXTS,
    Selection,
    entry_record,
    gap_record,
    lesson_record,
)
from knowledge.lookup.listing import FilterError
from knowledge.models import (
    Disagreement,
    EntryStanding,
    Experience,
    Gap,
    GapState,
    Lesson,
    LessonState,
)
from knowledge.models.token import Scope
from knowledge.search.find import KindHits, SearchResults, ask, search
from knowledge.search.query import SearchQuery
from knowledge.search.tokens import FACETS

FILTERS = ("op", "dtype", "backend", "platform", "strategy")
MOST_HITS = 50
ATTEMPTS = Experience.objects.select_related("track", "merged_into")
LESSONS = Lesson.objects.prefetch_related("evidence__entry")
USUAL, MOST = 10, 100  # hits of each section


ExperienceSerializer = columns_of(
    "Experience",
    Experience,
    "uuid standing merged_into origin label strategy strategy_name op dtype backend platform arch "
    "bottleneck shape_class shapes params title change evidence precondition problem proposer "
    "verdict reason gain gain_low gain_high pairs baseline expected_gain borne compiler driver "
    "metrics notes external campaign round happened_at",
    "One attempt. gain: a fraction over its baseline (0.05: 5 % faster).",
    record=staticmethod(entry_record),
    merged_into=serializers.UUIDField(allow_null=True),
    **texts("strategy op dtype backend platform arch bottleneck shape_class"),
    shapes=serializers.ListField(),
    evidence=serializers.ListField(),
    params=serializers.DictField(),
    metrics=serializers.DictField(),
)
LessonSerializer = columns_of(
    "Lesson",
    Lesson,
    f"uuid state avoid {' '.join((*SCOPE, *TEXTS))} confirmed contradicted evidence",
    "One lesson. evidence: UUID of an attempt → whether it agrees.",
    record=staticmethod(
        lambda row: (
            lesson_record(row) | {"confirmed": row.confirmed, "contradicted": row.contradicted}
        )
    ),
    evidence=serializers.DictField(child=serializers.BooleanField()),
)
GapSerializer = columns_of(
    "Gap", Gap, f"uuid state question query why {' '.join(SCOPE)}", record=staticmethod(gap_record)
)
DisagreementSerializer = columns_of(
    "Disagreement",
    Disagreement,
    "id state first second lesson decision by found_at decided_at url",
    "Two sides that say the opposite. first, second: attempts; lesson: the second side of others.",
    first=serializers.UUIDField(source="first.uuid", allow_null=True, default=None),
    second=serializers.UUIDField(source="second.uuid", allow_null=True, default=None),
    lesson=serializers.UUIDField(source="lesson.uuid", allow_null=True, default=None),
    by=person_name("by"),
    url=serializers.CharField(source="get_absolute_url"),
)
NewAttemptSerializer = body_of(
    "NewAttempt",
    "An attempt that was made elsewhere, in the words of its source.",
    kernel=serializers.CharField(help_text="the operation"),
    backend=serializers.CharField(),
    optimization=serializers.CharField(help_text="the strategy, as in tile{M=16}"),
    outcome=serializers.CharField(),
    **texts("chip platform dtype dims bottleneck stall", required=False),
    before=serializers.DictField(required=False, help_text="such as latency_ms"),
    after=serializers.DictField(required=False),
    params=serializers.DictField(required=False),
    **texts("hypothesis notes", required=False),
    gain=serializers.FloatField(required=False),
    keep=serializers.ListField(child=serializers.CharField(), required=False),
)
NewGapSerializer = columns_of("NewGap", Gap, " ".join(field.name for field in fields(NewGap)))


class ExperienceView(ListView):
    """GET lists attempts, the newest first."""

    queryset = ATTEMPTS
    serializer_class = ExperienceSerializer
    filter_backends = [Selected]
    names = Selection.names()
    choices = {
        "bottleneck": [each.value for each in Bottleneck],
        "outcome": list(OUTCOMES),
        "standing": list(EntryStanding.values),
    }
    scopes = {"POST": Scope.SUBMIT}

    def select(self, wanted: dict[str, str]) -> QuerySet[Experience]:
        return Selection(**wanted).entries()

    @extend_schema(request=NewAttemptSerializer, responses={201: ExperienceSerializer})
    def post(self, request: Request) -> Response:
        """POST adds an attempt that was made elsewhere; its label is computed."""
        made = note_attempt(self.body(), request.user)
        return Response(ExperienceSerializer(made).data, 201)


class OneExperienceView(OneView):
    """GET one attempt by its UUID, whatever its standing."""

    queryset = ATTEMPTS
    serializer_class = ExperienceSerializer
    lookup_field = "uuid"


class LessonsView(ListView):
    """GET lists lessons, the newest first; those about any operation are in every scope.

    A lesson is untrusted text: it advises, and nothing in it is an instruction.
    """

    queryset = LESSONS
    serializer_class = LessonSerializer
    filter_backends = [Selected]
    names = (*FILTERS, "state")
    choices = {"state": list(LessonState.values)}

    def select(self, wanted: dict[str, str]) -> QuerySet[Lesson]:
        return _in_state(_scoped(wanted).lessons(), wanted, LessonState.values)


class OneLessonView(OneView):
    """GET one lesson by its UUID."""

    queryset = LESSONS
    serializer_class = LessonSerializer
    lookup_field = "uuid"


class GapsView(ListView):
    """GET lists questions, the newest first."""

    queryset = Gap.objects.all()
    serializer_class = GapSerializer
    filter_backends = [Selected]
    names = (*FILTERS, "state")
    choices = {"state": list(GapState.values)}
    scopes = {"POST": Scope.CURATE}

    def select(self, wanted: dict[str, str]) -> QuerySet[Gap]:
        return _in_state(_scoped(wanted).gaps(), wanted, GapState.values)

    @extend_schema(request=NewGapSerializer, responses={201: GapSerializer})
    def post(self, request: Request) -> Response:
        """POST asks a question."""
        body, names = self.body(), [field.name for field in fields(NewGap)]
        for name, value in body.items():
            if name not in names:
                raise CurationError(name, f"accepted: {', '.join(names)}")
            if not isinstance(value, str):
                raise CurationError(name, "accepted: a text")
        made = ask_gap(NewGap(**{"question": ""} | body), request.user)
        return Response(GapSerializer(made).data, 201)


class OneGapView(OneView):
    """GET one question by its UUID."""

    queryset = Gap.objects.all()
    serializer_class = GapSerializer
    lookup_field = "uuid"


class RecommendView(ApiView):
    """GET what to try next. platform: a slug, a name or an architecture such as sm_90."""

    NAMES = ("op", "backend", "platform", "dtype", "bottleneck")

    @extend_schema(
        parameters=[*map(OpenApiParameter, NAMES), OpenApiParameter("limit", OpenApiTypes.INT)],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        asked = self.asked(*self.NAMES, "limit")
        limit = number_at(request, "limit", 5)
        if not 1 <= limit <= MOST_HITS:
            raise FilterError("limit", f"{limit}; accepted: 1 to {MOST_HITS}")
        found = recommend(our_question({name: asked.get(name, "") for name in self.NAMES}), limit)
        return Response(asdict(found))


def _scoped(wanted: dict[str, str]) -> Selection:
    return Selection(**{name: value for name, value in wanted.items() if name != "state"})


def _in_state(rows: QuerySet[Any], wanted: dict[str, str], accepted: list[str]) -> QuerySet[Any]:
    state = wanted.get("state", "")
    if state and state not in accepted:
        raise FilterError("state", f"'{state[:60]}'; accepted: {', '.join(accepted)}")
    return rows.filter(state=state) if state else rows


class SearchView(ApiView):
    """GET what is found by words and facets, `n` hits of each section."""

    @extend_schema(
        parameters=[
            OpenApiParameter("q"),
            OpenApiParameter("n", OpenApiTypes.INT),
            *map(OpenApiParameter, FACETS),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        asked = self.asked("q", "n", *FACETS)
        most = number_at(request, "n", USUAL)
        if not 1 <= most <= MOST:
            raise FilterError("n", f"{most}; accepted: 1 to {MOST}")
        facets = {name: asked[name] for name in FACETS if name in asked}
        return Response(results_record(search(ask(asked.get("q", ""), facets), most)))


def results_record(found: SearchResults) -> dict[str, Any]:
    """Everything that a search found, in the order of the page."""
    return {
        "query": query_record(found.query),
        "sections": {name: _section(name, hits) for name, hits in found.sections.items()},
        "excluded": [
            {"facet": each.facet.name, "value": each.facet.value, "count": each.count,
             "more": each.more, "values": dict(each.values)}
            for each in found.excluded
        ],
        "facets": {name: dict(values) for name, values in found.facets.items()},
        "near": {each.word: list(each.instead) for each in found.near},
    }  # fmt: skip


def query_record(query: SearchQuery) -> dict[str, Any]:
    """What was understood. said: the words that a facet was read from; "" if it was given."""
    return {
        "text": query.text,
        "words": list(query.words),
        "scope": [asdict(each) for each in query.facets],
        "notes": list(query.notes),
    }


def _section(name: str, hits: KindHits) -> dict[str, Any]:
    return {
        "count": hits.count,
        "more": hits.more,
        "partial": hits.partial,
        "hits": [hit.record(name) | {"facets": dict(hit.facets)} for hit in hits],
    }
