"""/api/v1/review/ and …/decisions/: what waits, and what people decide; no token may decide."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api.campaigns import checked
from campaigns.models import Campaign, DecisionWord, ReviewDecision, Round
from campaigns.records.decisions import Reviewed, reviewed_result, reviewed_round
from campaigns.records.review_queue import review_queue, rows_of_queue
from campaigns.steps.review.decide import decide, undo
from knowledge.api.lists import ListView, Rows, Selected
from knowledge.api.view import RowView
from knowledge.lookup.listing import FilterError
from knowledge.lookup.waiting import Waiting, WaitingKind

WORDS = [word.value for word in DecisionWord if word != DecisionWord.UNDONE]
KINDS = [kind.value for kind in WaitingKind]
MINE = {"": False, "0": False, "1": True}


class ReviewDecisionSerializer(fields.ModelSerializer):
    """round: its number; null for the campaign's result. undoes: the decision it takes back."""

    campaign = fields.IntegerField(source="campaign_id")
    round = fields.SerializerMethodField()
    by = fields.CharField(source="by.username")
    undoes = fields.IntegerField(source="undoes_id", allow_null=True)

    class Meta:
        model = ReviewDecision
        fields: tuple[str, ...] = (
            "id",
            "campaign",
            "round",
            "word",
            "reason",
            "by",
            "at",
            "undoes",
        )

    def get_round(self, row: ReviewDecision) -> int | None:
        return row.round.number if row.round else None


class ReviewedSerializer(fields.Serializer):
    """state: where it stands. approvals, needed: how many there are, and have to be.

    waived: gates that were let go. choices: what may be said. refusal: why you may not, or "".
    seen: send it with a decision, which is refused where somebody was first.
    """

    state = fields.CharField(source="standing.state")
    approvals = fields.IntegerField(source="standing.approvals")
    needed = fields.IntegerField()
    waived = fields.ListField(child=fields.CharField())
    choices = fields.ListField(child=fields.ChoiceField(WORDS))
    refusal = fields.SerializerMethodField()
    seen = fields.IntegerField()
    decisions = ReviewDecisionSerializer(source="log", many=True)

    def get_refusal(self, row: Reviewed) -> str:
        return row.refusal(self.context["request"].user)


class NewDecisionSerializer(fields.Serializer):
    word = fields.ChoiceField(WORDS)
    reason = fields.CharField(
        required=False, allow_blank=True, help_text="needed to return or to mark invalid"
    )
    seen = fields.IntegerField(required=False, help_text="as `seen` was read; default: any")


class WaitingSerializer(fields.Serializer):
    """kind and key: what waits. asks: what is to be done. mine: whether it waits for you."""

    kind = fields.ChoiceField(KINDS, source="waiting.kind")
    key = fields.IntegerField(source="waiting.key")
    since = fields.DateTimeField(source="waiting.since")
    title = fields.CharField()
    url = fields.CharField()
    asks = fields.CharField()
    author = fields.CharField()
    affects = fields.CharField()
    mine = fields.SerializerMethodField()

    def get_mine(self, row: Any) -> bool:
        return row.waiting in self.context["view"].mine


class ReviewQueueView(ListView):
    """GET lists what waits for a decision, the oldest first; `?kind=`, and `?mine=1` for yours."""

    serializer_class = WaitingSerializer
    filter_backends = [Selected]
    names = ("kind", "mine")
    choices = {"kind": KINDS, "mine": ["0", "1"]}
    queryset = Round.objects.none()
    mine: frozenset[Waiting] = frozenset()

    def rows(self, **path: Any) -> Rows:
        kind, mine = self.wanted.get("kind", ""), self.wanted.get("mine", "")
        if kind and kind not in KINDS:
            raise FilterError("kind", f"{kind!r:.40}; accepted: {', '.join(KINDS)}")
        if mine not in MINE:
            raise FilterError("mine", f"{mine!r:.40}; accepted: 0, 1")
        queue = review_queue(self.request.user)
        self.mine = frozenset(queue.mine)
        return queue.of(kind, mine=MINE[mine])

    def records(self, rows: Any) -> Any:
        return rows_of_queue(rows)


class Deciding(RowView):
    """What the addresses of decisions share: people alone write, and say so to a token."""

    queryset = ReviewDecision.objects.none()
    serializer_class = ReviewedSerializer
    for_people = "people decide: log in with a session"

    def said(self, about: Campaign | Round) -> Response:
        """Store the body's decision; 201 with where it stands now."""
        body = checked(self.body(), NewDecisionSerializer)
        made = decide(
            about, body["word"], body.get("reason", ""), self.request.user, body.get("seen")
        )
        return Response(ReviewDecisionSerializer(made).data, 201)

    def shown(self, found: Reviewed | None) -> Response:
        """Where it stands; 404 where there is nothing to decide yet."""
        self.asked()
        if found is None:
            raise Http404("there is nothing to decide about it yet")
        return Response(self.get_serializer(found).data)


class RoundDecisions(Deciding):
    """What is decided about a round.

    GET says where it stands. POST decides; 403 for its author and for tokens, 409 where somebody
    was first, or where a finished campaign takes no re-run.
    """

    def round_at(self, pk: int, number: int) -> Round:
        rows = Round.objects.select_related("campaign", "verdict", "chosen", "submission")
        found: Round = get_object_or_404(rows, campaign=pk, number=number)
        return found

    @extend_schema(responses=ReviewedSerializer)
    def get(self, request: Request, pk: int, number: int) -> Response:
        return self.shown(reviewed_round(self.round_at(pk, number)))

    @extend_schema(request=NewDecisionSerializer, responses={201: ReviewDecisionSerializer})
    def post(self, request: Request, pk: int, number: int) -> Response:
        return self.said(self.round_at(pk, number))


class ResultDecisions(Deciding):
    """What is decided about a finished campaign's result; as for a round."""

    @extend_schema(responses=ReviewedSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return self.shown(reviewed_result(get_object_or_404(Campaign, pk=pk)))

    @extend_schema(request=NewDecisionSerializer, responses={201: ReviewDecisionSerializer})
    def post(self, request: Request, pk: int) -> Response:
        return self.said(get_object_or_404(Campaign, pk=pk))


class UndoDecision(Deciding):
    """POST takes an own decision of the last seconds back; 409 where it is too late."""

    @extend_schema(request=None, responses=ReviewDecisionSerializer)
    def post(self, request: Request, pk: int, key: int) -> Response:
        rows = ReviewDecision.objects.select_related("round", "campaign", "by")
        found = get_object_or_404(rows, campaign=pk, pk=key)
        undo(found, request.user)
        return Response(ReviewDecisionSerializer(rows.get(undoes=found)).data)
