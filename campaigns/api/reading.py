"""/api/v1/campaigns/, rounds/, candidates/ and what was measured and concluded: lists and rows."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.shortcuts import get_object_or_404

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
from campaigns.records.cases import measured_case, sample_rows
from campaigns.records.evaluations import report_of
from campaigns.records.sweeps import knobs_of
from campaigns.reports.rows import with_standing
from campaigns.reports.sweeps import KNOB, value_words
from knowledge.api.lists import ListView, OneView, Rows

CAMPAIGNS = Campaign.objects.for_list().select_related("created_by", "protocol")
ROUNDS = with_standing(Round.objects.select_related("verdict"))
CANDIDATES = Candidate.objects.select_related("round")
EVALUATIONS = Evaluation.objects.select_related("candidate__round", "worker").defer(
    "candidate__text", "candidate__findings"
)
VERDICTS = Verdict.objects.select_related("round")
SWEEPS = Sweep.objects.select_related("round").annotate(tried=Count("points"))


class OneCampaign(OneView):
    """GET one campaign with its target."""

    queryset = CAMPAIGNS
    serializer_class = serializers.WholeCampaignSerializer


class Findings(OneView):
    """GET the campaign, its policy, and the findings of every candidate by round."""

    queryset = CAMPAIGNS
    serializer_class = serializers.CampaignFindingsSerializer


class Rounds(ListView):
    """GET lists rounds, the newest first."""

    queryset = ROUNDS
    serializer_class = serializers.RoundSerializer
    filterset_class = filters.RoundFilters


class OneRound(OneView):
    """GET one round with its hypothesis, and how far its gain is confirmed."""

    queryset = ROUNDS.prefetch_related("standings")
    serializer_class = serializers.WholeRoundSerializer


class Candidates(ListView):
    """GET lists candidates, the newest first, without their sources."""

    queryset = CANDIDATES.defer("text", "findings")
    serializer_class = serializers.CandidateSerializer
    filterset_class = filters.CandidateFilters


class OneCandidate(OneView):
    """GET one candidate with its source and what was found in it."""

    queryset = CANDIDATES.select_related("round__campaign")
    serializer_class = serializers.WholeCandidateSerializer


class Evaluations(ListView):
    """GET lists evaluations, the newest first."""

    queryset = EVALUATIONS.defer("report")
    serializer_class = measured.EvaluationSerializer
    filterset_class = filters.EvaluationFilters


class OneEvaluation(OneView):
    """GET one evaluation with its cases and its environment."""

    queryset = EVALUATIONS
    serializer_class = measured.WholeEvaluationSerializer


class EvaluationCases(ListView):
    """GET the cases of one evaluation: how right, how fast."""

    queryset = EVALUATIONS
    serializer_class = measured.CaseRowSerializer
    filter_backends = []

    def rows(self, **path: Any) -> Rows:
        report = report_of(get_object_or_404(EVALUATIONS, **path))
        return [measured_case(case) for case in report.cases] if report else []


class Samples(EvaluationCases):
    """GET every sample of one evaluation, a row each."""

    serializer_class = measured.SampleSerializer

    def rows(self, **path: Any) -> Rows:
        return sample_rows(report_of(get_object_or_404(EVALUATIONS, **path)))


class Verdicts(ListView):
    """GET lists verdicts, the newest first."""

    queryset = VERDICTS
    serializer_class = serializers.VerdictSerializer
    filterset_class = filters.VerdictFilters


class OneVerdict(OneView):
    """GET one verdict with its gates, cases and classes."""

    queryset = VERDICTS
    serializer_class = serializers.WholeVerdictSerializer


class Events(ListView):
    """GET lists what happened, in order."""

    queryset = Event.objects.all()
    serializer_class = serializers.EventSerializer
    filterset_class = filters.EventFilters
    order = "pk"


class OneEvent(OneView):
    """GET one event."""

    queryset = Event.objects.all()
    serializer_class = serializers.EventSerializer


class Sweeps(ListView):
    """GET lists searches over knobs, the newest first."""

    queryset = SWEEPS
    serializer_class = measured.SweepSerializer
    filterset_class = filters.SweepFilters


class OneSweep(OneView):
    """GET one search with its knobs."""

    queryset = SWEEPS
    serializer_class = measured.WholeSweepSerializer


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


class OneProblem(OneView):
    """GET one version of a problem with its cases and files."""

    queryset = Problem.objects.prefetch_related("cases")
    serializer_class = measured.WholeProblemSerializer


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
