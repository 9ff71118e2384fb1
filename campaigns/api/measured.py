"""What was measured, searched and asked for, as the HTTP door writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers as fields

from campaigns.evaluator.contract import CopiedOutput
from campaigns.models import Case, Evaluation, Problem, Sweep, SweepPoint
from campaigns.records.cases import MeasuredCase, TimeSpread, measured_case
from campaigns.records.evaluations import report_of
from campaigns.records.sweeps import knobs_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.report_words import notes_of
from knowledge.api.lists import Read
from knowledge.api.shapes import body_of, columns_of, shape_of

# Parts of many records.
GainSerializer = shape_of("Gain", Gain, "gain low high pairs kind")
TimeSerializer = shape_of("Time", TimeSpread)
CopiedOutputSerializer = shape_of("CopiedOutput", CopiedOutput)
CaseRowSerializer = shape_of(
    "CaseRow",
    MeasuredCase,
    "case correct checked_calls max_abs_error max_rel_error margin message time_us incumbent_us "
    "timer device_us copied incumbent_copied cpu_us cores",
)


def _cases(evaluation: Evaluation) -> list[MeasuredCase]:
    report = report_of(evaluation)
    return [measured_case(case) for case in report.cases] if report else []


def _environment(evaluation: Evaluation) -> dict[str, str]:
    report = report_of(evaluation)
    return dict(report.environment) if report else {}


def _notes(evaluation: Evaluation) -> tuple[str, ...]:
    report = report_of(evaluation)
    return notes_of(report) if report else ()


EvaluationSerializer = columns_of(
    "Evaluation",
    Evaluation,
    "id campaign round candidate against kind state attempt outcome reason worker created_at "
    "started_at finished_at",
    campaign=fields.IntegerField(source="candidate.round.campaign_id"),
    round=fields.IntegerField(source="candidate.round_id"),
    candidate=fields.IntegerField(source="candidate_id"),
    against=fields.IntegerField(source="against_id", allow_null=True),
    worker=fields.CharField(source="worker.name", allow_null=True),
    outcome=fields.CharField(),
)
WholeEvaluationSerializer = columns_of(
    "WholeEvaluation",
    EvaluationSerializer,
    "cases environment notes",
    cases=Read(CaseRowSerializer(many=True), _cases),
    environment=Read(fields.DictField(child=fields.CharField()), _environment),
    notes=Read(fields.ListField(child=fields.CharField()), _notes),
)
SampleSerializer = body_of(
    "Sample",
    "One sample. pair: equal ones of both arms belong together.",
    case=fields.CharField(),
    arm=fields.ChoiceField(("candidate", "incumbent")),
    pair=fields.IntegerField(),
    time_us=fields.FloatField(),
)
KnobSerializer = body_of(
    "Knob", name=fields.CharField(), values=fields.ListField(), default=fields.JSONField()
)
SweepSerializer = columns_of(
    "Sweep",
    Sweep,
    "id campaign round round_number strategy seed size most_points most_s tried created_at",
    "size: how many points its space has, as text, for it may be larger than a number holds.",
    campaign=fields.IntegerField(source="round.campaign_id"),
    round=fields.IntegerField(source="round_id"),
    round_number=fields.IntegerField(source="round.number"),
    tried=fields.IntegerField(),
)
WholeSweepSerializer = columns_of(
    "WholeSweep", SweepSerializer, "knobs", knobs=Read(KnobSerializer(many=True), knobs_of)
)
PointSerializer = columns_of(
    "Point",
    SweepPoint,
    "id sweep evaluation number params outcome reason time_us times_us ended_early facts build_s "
    "screen_s at",
    "One variant. time_us: the geometric mean of its cases; null without a time.",
    sweep=fields.IntegerField(source="sweep_id"),
    evaluation=fields.IntegerField(source="evaluation_id"),
    params=fields.DictField(),
    times_us=fields.DictField(child=fields.FloatField()),
    facts=fields.DictField(),
    outcome=fields.CharField(),
)
CaseSerializer = columns_of(
    "Case",
    Case,
    "id problem name params device_kinds protected ordinal",
    problem=fields.IntegerField(source="problem_id"),
    params=fields.DictField(),
    device_kinds=fields.ListField(child=fields.CharField()),
)
ProblemSerializer = columns_of(
    "Problem",
    Problem,
    "id slug digest title op dtype summary backends cases created_at",
    "One version of a problem folder, with the names of its cases.",
    backends=fields.DictField(child=fields.CharField()),
    cases=fields.SlugRelatedField("name", many=True, read_only=True),
)
WholeProblemSerializer = columns_of(
    "WholeProblem",
    ProblemSerializer,
    "tolerance files",
    "With its files: name → text.",
    tolerance=fields.DictField(),
    files=fields.DictField(child=fields.CharField()),
    cases=CaseSerializer(many=True),
)


def problem_record(problem: Problem, cases: Iterable[Case]) -> dict[str, Any]:
    """The whole record of a problem that need not be stored, with these cases."""
    shape = WholeProblemSerializer(problem)
    del shape.fields["cases"]
    return {**shape.data, "cases": CaseSerializer(cases, many=True).data}
