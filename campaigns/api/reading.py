"""/api/v1/campaigns/, rounds/, candidates/ and what was measured and concluded: lists and rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from campaigns.api import filters, measured, serializers
from campaigns.models import (
    Campaign,
    Candidate,
    Case,
    Evaluation,
    Event,
    Problem,
    Round,
    Sweep,
    SweepPoint,
    Verdict,
)
from campaigns.records.campaigns import target_of
from campaigns.records.cases import measured_case, sample_rows
from campaigns.records.evaluations import report_of
from campaigns.records.sweeps import knobs_of
from campaigns.reports.rows import some_rows, with_standing
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.sweeps import KNOB, value_words
from campaigns.trails.exporters.pull_request import Site, campaign_lines, round_lines
from knowledge.api.lists import ListView, OneView, Rows
from knowledge.api.view import RowView
from knowledge.exchange.writers.markdown import joined

CAMPAIGNS = Campaign.objects.for_list().select_related("created_by", "protocol")
ROUNDS = with_standing(Round.objects.select_related("verdict").prefetch_related("standings"))
CANDIDATES = Candidate.objects.select_related("round")
EVALUATIONS = Evaluation.objects.select_related("candidate__round", "worker").defer(
    "candidate__text", "candidate__findings"
)
VERDICTS = Verdict.objects.select_related("round").prefetch_related("round__standings")
SWEEPS = Sweep.objects.select_related("round").annotate(tried=Count("points"))


def _list(about: str, rows: Any, shape: Any, filterset: Any, order: str = "-pk") -> type[ListView]:
    """A view of rows. about: what the schema says of it."""
    options = {"queryset": rows, "serializer_class": shape, "filterset_class": filterset}
    return type("Rows", (ListView,), {**options, "order": order, "__doc__": about})


def _one(about: str, rows: Any, shape: Any) -> type[OneView]:
    return type("One", (OneView,), {"queryset": rows, "serializer_class": shape, "__doc__": about})


OneCampaign = _one(
    "GET one campaign with its target.", CAMPAIGNS, serializers.WholeCampaignSerializer
)
Findings = _one(
    "GET the campaign, its policy, and the findings of every candidate by round.",
    CAMPAIGNS,
    serializers.CampaignFindingsSerializer,
)
Rounds = _list(
    "GET lists rounds, the newest first.", ROUNDS, serializers.RoundSerializer, filters.RoundFilters
)
OneRound = _one(
    "GET one round with its hypothesis, and how far its gain is confirmed.",
    ROUNDS,
    serializers.WholeRoundSerializer,
)
Candidates = _list(
    "GET lists candidates, the newest first, without their sources.",
    CANDIDATES.defer("text", "findings"),
    serializers.CandidateSerializer,
    filters.CandidateFilters,
)
OneCandidate = _one(
    "GET one candidate with its source and what was found in it.",
    CANDIDATES.select_related("round__campaign"),
    serializers.WholeCandidateSerializer,
)
Evaluations = _list(
    "GET lists evaluations, the newest first.",
    EVALUATIONS.defer("report"),
    measured.EvaluationSerializer,
    filters.EvaluationFilters,
)
OneEvaluation = _one(
    "GET one evaluation with its cases and its environment.",
    EVALUATIONS,
    measured.WholeEvaluationSerializer,
)
Verdicts = _list(
    "GET lists verdicts, the newest first.",
    VERDICTS,
    serializers.VerdictSerializer,
    filters.VerdictFilters,
)
OneVerdict = _one(
    "GET one verdict with its gates, cases and classes.",
    VERDICTS,
    serializers.WholeVerdictSerializer,
)
Events = _list(
    "GET lists what happened, in order.",
    Event.objects.all(),
    serializers.EventSerializer,
    filters.EventFilters,
    order="pk",
)
OneEvent = _one("GET one event.", Event.objects.all(), serializers.EventSerializer)
Sweeps = _list(
    "GET lists searches over knobs, the newest first.",
    SWEEPS,
    measured.SweepSerializer,
    filters.SweepFilters,
)
OneSweep = _one("GET one search with its knobs.", SWEEPS, measured.WholeSweepSerializer)
OneProblem = _one(
    "GET one version of a problem with its cases and files.",
    Problem.objects.prefetch_related("cases"),
    measured.WholeProblemSerializer,
)


class EvaluationCases(ListView):
    """GET the cases of one evaluation: how right, how fast."""

    queryset = EVALUATIONS
    serializer_class = measured.CaseRowSerializer
    filter_backends = []

    def rows(self, **path: Any) -> Rows:
        report = report_of(get_object_or_404(self.get_queryset(), **path))
        return [measured_case(case) for case in report.cases] if report else []


class Samples(EvaluationCases):
    """GET every sample of one evaluation, a row each."""

    serializer_class = measured.SampleSerializer

    def rows(self, **path: Any) -> Rows:
        return sample_rows(report_of(get_object_or_404(self.get_queryset(), **path)))


class Points(ListView):
    """GET the points of one search, in the order of asking.

    `knob.NAME=VALUE` keeps those with this value, for each knob of the search.
    """

    queryset = SweepPoint.objects.all()
    serializer_class = measured.PointSerializer
    filterset_class = filters.PointFilters
    order = "pk"

    def rows(self, **path: Any) -> Rows:
        found = super().rows()
        assert not isinstance(found, list)
        found = found.filter(sweep=get_object_or_404(Sweep, **path))
        for name, value in self.wanted.items():
            if name.startswith(KNOB):
                knob, params = name.removeprefix(KNOB), found.values_list("pk", "params")
                kept = [pk for pk, at in params if value_words(at.get(knob, "")) == value]
                found = found.filter(pk__in=kept)
        return found

    def filter_names(self, **path: Any) -> tuple[str, ...]:
        knobs = knobs_of(get_object_or_404(Sweep, **path))
        return (*super().filter_names(), *(KNOB + knob.name for knob in knobs))


class Problems(ListView):
    """GET lists the versions of problems that campaigns were made of, the newest first."""

    queryset = Problem.objects.defer("files").prefetch_related("cases")
    serializer_class = measured.ProblemSerializer
    filterset_class = filters.ProblemFilters


class ProblemCases(ListView):
    """GET the cases of one version of a problem, in its order."""

    queryset = Case.objects.all()
    serializer_class = measured.CaseSerializer
    filter_backends = []
    order = "pk"

    def rows(self, **path: Any) -> Rows:
        found = super().rows()
        assert not isinstance(found, list)
        return found.filter(problem=get_object_or_404(Problem, **path))


class CampaignMarkdown(RowView):
    """GET the campaign in a few lines of Markdown, as a pull request shows it."""

    queryset: QuerySet[Any] = CAMPAIGNS
    serializer_class = serializers.CampaignSerializer

    @extend_schema(responses={(200, "text/markdown"): str})
    def get(self, request: Request, pk: int) -> HttpResponse:
        self.asked()
        return _markdown(self.lines(self.get_object(), request.build_absolute_uri))

    def lines(self, row: Any, site: Site) -> Iterable[str]:
        return campaign_lines(campaign_sheet(row, timezone.now()), site)


class RoundMarkdown(CampaignMarkdown):
    """GET the round in a few lines of Markdown, as a pull request shows it."""

    queryset = ROUNDS.select_related("campaign")
    serializer_class = serializers.RoundSerializer

    def lines(self, row: Any, site: Site) -> Iterable[str]:
        campaign = row.campaign
        return round_lines(some_rows(campaign, [row.number], target_of(campaign))[row.number], site)


def _markdown(lines: Iterable[str]) -> HttpResponse:
    return HttpResponse(joined(lines), content_type="text/markdown; charset=utf-8")
