"""/api/v1/campaigns/…/series/: what was measured again, and what people answered."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api.campaigns import checked
from campaigns.api.measured import GainSerializer
from campaigns.models import Campaign, SeriesAnswerWord, SeriesEntry
from campaigns.records.series import series_of, series_shown
from campaigns.steps.review.answer_series import answer_series
from knowledge.api.lists import ListView, Rows
from knowledge.api.shapes import body_of
from knowledge.api.view import RowView

SAID = body_of(
    "SeriesAnswer",
    answer=fields.CharField(),
    by=fields.CharField(source="by.username"),
    why=fields.CharField(),
)
SeriesRowSerializer = body_of(
    "SeriesRow",
    "One measurement. before: the evaluation it is compared with. changed: what differs from that.",
    id=fields.IntegerField(source="entry.pk"),
    campaign=fields.IntegerField(source="entry.campaign_id"),
    round=fields.IntegerField(source="entry.round.number"),
    evaluation=fields.IntegerField(source="entry.evaluation"),
    before=fields.IntegerField(source="entry.before", allow_null=True),
    at=fields.DateTimeField(source="entry.at"),
    why=fields.CharField(source="entry.why"),
    sort=fields.CharField(),
    sentence=fields.CharField(source="entry.sentence"),
    gain=GainSerializer(source="now.gain", allow_null=True),
    environment=fields.DictField(source="now.environment"),
    changed=fields.ListField(child=fields.DictField(), source="entry.changed"),
    waits=fields.BooleanField(),
    answer=SAID(allow_null=True),
)
SERIES_ANSWER = body_of(
    "NewSeriesAnswer",
    "known: the number is accepted. reopened: a new campaign. invalid: the result is.",
    answer=fields.ChoiceField(SeriesAnswerWord.values),
    why=fields.CharField(required=False, allow_blank=True, help_text="needed but for reopened"),
)


class Series(ListView):
    """GET lists what was measured again of a campaign, the newest first."""

    serializer_class = SeriesRowSerializer
    filter_backends = []
    queryset = SeriesEntry.objects.none()

    def rows(self, **path: Any) -> Rows:
        return series_of(get_object_or_404(Campaign, **path))


class SeriesAnswers(RowView):
    """POST answers one measurement that moved; 403 for its author and for tokens, 409 too late."""

    queryset = SeriesEntry.objects.none()
    serializer_class = SeriesRowSerializer
    for_people = "people decide: log in with a session"

    @extend_schema(request=SERIES_ANSWER, responses={201: SeriesRowSerializer})
    def post(self, request: Request, pk: int, key: int) -> Response:
        campaign = get_object_or_404(Campaign, pk=pk)
        body = checked(self.body(), SERIES_ANSWER)
        answer_series(campaign, key, body["answer"], body.get("why", ""), request.user)
        return Response(SeriesRowSerializer(series_shown(campaign, key)).data, 201)
