"""Campaigns, rounds and what came of them, as the HTTP door writes them."""

from __future__ import annotations

from datetime import datetime

from rest_framework import serializers as fields

from campaigns.api.measured import GainSerializer
from campaigns.evaluator.contract.files import protocol_from
from campaigns.models import (
    Campaign,
    Candidate,
    Event,
    ImportedCampaign,
    ImportedRound,
    Round,
    Verdict,
    Webhook,
)
from campaigns.proposers.situation import facts_about
from campaigns.records.campaigns import intake_of, result_of, target_of
from campaigns.records.device_waits import no_worker_told
from campaigns.records.explained.profiles import ProfileValue, profile_value
from campaigns.records.findings import FoundLine, found_lines, policy_of, stored_policy
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.records.values import (
    CandidateValue,
    RoundCandidates,
    StandingValue,
    candidates_by_round,
    standing_value,
)
from campaigns.records.verdicts import (
    CaseResult,
    ClassResult,
    SessionTimes,
    classes_of,
    final_of,
    gain_of,
    gates_of,
    measured_of,
    noise_of,
    results_of,
)
from campaigns.reports.baselines import BaselineCase, BaselineRow, baseline_rows
from campaigns.reports.rows import standing_of
from campaigns.rules.search_log import SearchStep
from campaigns.rules.target.ceilings import CaseTarget
from campaigns.rules.verdict.decision import Gate
from knowledge.api.lists import Read
from knowledge.api.shapes import columns_of, person_name, shape_of
from knowledge.models import WorkKind, project_of

CaseTargetSerializer = shape_of(
    "CaseTarget", CaseTarget, "case flops bytes bound floor_us target_us words"
)
BaselineCaseSerializer = shape_of("BaselineCase", BaselineCase)
BaselineSerializer = shape_of(
    "Baseline",
    BaselineRow,
    "baseline=kind name evaluation beside_round=beside beside_best=is_best outcome why timer "
    "time_us kernel_us gain cases copied note",
)
ProfileSerializer = shape_of("Profile", ProfileValue)
FindingSerializer = shape_of("Finding", FoundLine)
FoundInSerializer = shape_of(
    "FoundIn", CandidateValue, "ordinal label file=file_name chosen findings"
)
FoundInRoundSerializer = shape_of("FoundInRound", RoundCandidates)
SearchedSerializer = shape_of("Searched", SearchStep)
HypothesisSerializer = shape_of(
    "Hypothesis",
    StoredHypothesis,
    "strategy title change rationale evidence expected_metric expected_direction expected_amount "
    "risks scope params cites searched",
)
StandingSerializer = shape_of(
    "Standing",
    StandingValue,
    "word sentence gain gain_low gain_high pairs evaluation at",
    at=datetime,
)
GateSerializer = shape_of("Gate", Gate)
CaseResultSerializer = shape_of(
    "CaseResult", CaseResult, "case time_us=time against_us=against gain"
)
ClassResultSerializer = shape_of("ClassResult", ClassResult)
SessionSerializer = shape_of("Session", SessionTimes, "candidate_us=time_us incumbent_us gain")


CampaignSerializer = columns_of(
    "Campaign",
    Campaign,
    "id title problem problem_id op platform backend cases proposer state doing pause_requested "
    "stop_requested stop_reason stop_sentence result incumbent incumbent_round seed created_by "
    "created_at finished_at archived_at recorded_at",
    problem=fields.CharField(source="problem.slug"),
    op=fields.CharField(source="problem.op"),
    platform=fields.CharField(source="platform.slug"),
    cases=fields.ListField(child=fields.CharField()),
    result=Read(GainSerializer(allow_null=True), result_of),
    incumbent=fields.IntegerField(source="incumbent_id", allow_null=True),
    incumbent_round=fields.IntegerField(source="incumbent.round.number", allow_null=True),
    created_by=fields.CharField(source="created_by.username", allow_null=True),
    archived_at=fields.DateTimeField(source="archived.at", allow_null=True),
)
WholeCampaignSerializer = columns_of(
    "WholeCampaign",
    CampaignSerializer,
    "final project target missing findings_policy own_kernels require_sanitizers intake baselines "
    "no_worker evidence",
    """With its final session, its target and what was agreed on at its beginning.

    final: the times of the best (candidate_us) and of v0 (incumbent_us) side by side, the geometric
    means over the cases, with their gain; null before it, and if v0 is the best. project: whose
    members alone see it; "" where everybody does. no_worker: that no worker of its platform is
    alive, and how one is started; "" where one is. evidence: what a hypothesis may rest on, a name
    → what was seen of the incumbent.
    """,
    final=Read(SessionSerializer(allow_null=True), final_of),
    project=Read(fields.CharField(), lambda c: str(project_of(WorkKind.CAMPAIGN, c.pk) or "")),
    target=Read(CaseTargetSerializer(many=True), lambda c: target_of(c).cases.values()),
    missing=Read(fields.CharField(), lambda c: target_of(c).missing),
    findings_policy=Read(
        fields.DictField(child=fields.CharField()), lambda c: stored_policy(policy_of(c))
    ),
    own_kernels=Read(fields.ListField(child=fields.CharField()), lambda c: c.own_kernels or []),
    require_sanitizers=Read(
        fields.BooleanField(), lambda c: protocol_from(c.protocol.rules).require_sanitizers
    ),
    intake=Read(fields.DictField(child=fields.CharField()), lambda c: intake_of(c).stored),
    baselines=Read(BaselineSerializer(many=True), baseline_rows),
    no_worker=Read(fields.CharField(), no_worker_told),
    evidence=Read(fields.DictField(child=fields.CharField()), facts_about),
)
CampaignFindingsSerializer = columns_of(
    "CampaignFindings",
    WholeCampaignSerializer,
    "rounds",
    "The campaign, and the findings of every candidate by round.",
    rounds=Read(FoundInRoundSerializer(many=True), candidates_by_round),
)


def _measured(row: Round) -> SessionTimes:
    return measured_of(getattr(row, "verdict", None))


RoundSerializer = columns_of(
    "Round",
    Round,
    "id campaign number kind state title against chosen verdict reason candidate_us incumbent_us "
    "gain sessions standing opened_at closed_at",
    """verdict: its word, "" while there is none. candidate_us, incumbent_us: the times of both
    kernels side by side, the geometric mean over the cases; null where no time is proven. gain: the
    paired one of these times. sessions: the keys of the evaluations that all three are of; two if
    they are pooled. standing: how far a gain is confirmed.""",
    campaign=fields.IntegerField(source="campaign_id"),
    title=fields.CharField(),
    against=fields.IntegerField(source="against_id", allow_null=True),
    chosen=fields.IntegerField(source="chosen_id", allow_null=True),
    verdict=fields.CharField(source="verdict.word", default=""),
    reason=fields.CharField(source="verdict.reason", default=""),
    candidate_us=Read(fields.FloatField(allow_null=True), lambda row: _measured(row).time_us),
    incumbent_us=Read(fields.FloatField(allow_null=True), lambda row: _measured(row).incumbent_us),
    gain=Read(
        GainSerializer(allow_null=True),
        lambda row: gain_of(row.verdict) if hasattr(row, "verdict") else None,
    ),
    sessions=fields.ListField(source="verdict.sessions", child=fields.IntegerField(), default=[]),
    standing=Read(fields.CharField(), standing_of),
)
WholeRoundSerializer = columns_of(
    "WholeRound",
    RoundSerializer,
    "hypothesis standings",
    hypothesis=Read(HypothesisSerializer(allow_null=True), hypothesis_of),
    standings=Read(
        StandingSerializer(many=True), lambda row: list(map(standing_value, row.standings.all()))
    ),
)
CandidateSerializer = columns_of(
    "Candidate",
    Candidate,
    "id campaign round round_number ordinal label file_name flags params digest created_at",
    campaign=fields.IntegerField(source="round.campaign_id"),
    round=fields.IntegerField(source="round_id"),
    round_number=fields.IntegerField(source="round.number"),
    flags=fields.ListField(child=fields.CharField()),
    params=fields.DictField(),
)
WholeCandidateSerializer = columns_of(
    "WholeCandidate",
    CandidateSerializer,
    "source findings profile",
    "With its source, as it was handed in, what is to be checked in it, what was counted of it.",
    source=fields.CharField(source="text"),
    findings=Read(
        FindingSerializer(many=True, allow_null=True),
        lambda row: found_lines(row, row.round.campaign),
    ),
    profile=Read(ProfileSerializer(allow_null=True), profile_value),
)
VerdictSerializer = columns_of(
    "Verdict",
    Verdict,
    "id campaign round round_number evaluation sessions word reason sentence gain noise_floor "
    "decided_at",
    "sessions: the keys of the evaluations that its times and gain are of; two if they are pooled.",
    campaign=fields.IntegerField(source="round.campaign_id"),
    round=fields.IntegerField(source="round_id"),
    round_number=fields.IntegerField(source="round.number"),
    evaluation=fields.IntegerField(source="evaluation_id"),
    sessions=fields.ListField(child=fields.IntegerField()),
    gain=Read(GainSerializer(allow_null=True), gain_of),
    noise_floor=Read(fields.FloatField(), noise_of),
)
WholeVerdictSerializer = columns_of(
    "WholeVerdict",
    VerdictSerializer,
    "gates cases classes",
    gates=Read(GateSerializer(many=True), gates_of),
    cases=Read(CaseResultSerializer(many=True), results_of),
    classes=Read(ClassResultSerializer(many=True), classes_of),
)
EventSerializer = columns_of(
    "Event",
    Event,
    "id campaign round kind message data at",
    campaign=fields.IntegerField(source="campaign_id"),
    round=fields.IntegerField(source="round_id", allow_null=True),
    data=fields.DictField(),
)
ImportedSerializer = columns_of(
    "Imported",
    ImportedCampaign,
    "id digest system name heading operator platform backend incumbent stop_reason imported_by "
    "imported_at",
    "What another system claims of a campaign; none of it is counted with what was measured here.",
    heading=fields.CharField(),
    imported_by=person_name("imported_by"),
)
ImportedRoundSerializer = columns_of(
    "ImportedRound",
    ImportedRound,
    "ordinal number name title hypothesis rationale status kept masked figure unit metric "
    "convention amends path line kernel at claims missing",
    "figure: as it was written, in its own unit.",
)
WholeImportedSerializer = columns_of(
    "WholeImported",
    ImportedSerializer,
    "facts tips missing left_out rounds",
    "With its claims and its rounds.",
    rounds=ImportedRoundSerializer(many=True),
)
WebhookSerializer = columns_of(
    "Webhook",
    Webhook,
    "id url kinds by created_at ended_at answer",
    kinds=fields.ListField(child=fields.CharField()),
    by=person_name("by"),
)
