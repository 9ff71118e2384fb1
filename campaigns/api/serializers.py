"""Campaigns, rounds and what came of them, as the HTTP door writes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as fields

from campaigns.evaluator.contract.files import protocol_from
from campaigns.models import Campaign, Candidate, Event, Round, Verdict
from campaigns.records.campaigns import intake_of, result_of
from campaigns.records.device_waits import no_worker_of
from campaigns.records.findings import finding_facts, policy_of, stored_policy
from campaigns.records.rounds import hypothesis_of
from campaigns.records.target.targets import target_of
from campaigns.records.verdicts import (
    classes_of,
    gain_of,
    gates_of,
    noise_of,
    results_of,
)
from campaigns.reports.baselines import baseline_rows
from campaigns.reports.rows import standing_facts, standing_of
from knowledge.api.records import Read


class GainSerializer(fields.Serializer):
    """A change as a fraction (0.05: 5 % faster) with its interval."""

    gain = fields.FloatField()
    low = fields.FloatField()
    high = fields.FloatField()
    pairs = fields.IntegerField()
    kind = fields.CharField()


class TimeSerializer(fields.Serializer):
    """The median of times in microseconds, with its 95 % interval."""

    median = fields.FloatField()
    low = fields.FloatField()
    high = fields.FloatField()
    n = fields.IntegerField()


class CaseTargetSerializer(fields.Serializer):
    """What a case could take at best; null where nothing is cited."""

    case = fields.CharField()
    flops = fields.FloatField()
    bytes = fields.FloatField()
    bound = fields.CharField()
    floor_us = fields.FloatField(allow_null=True)
    target_us = fields.FloatField(allow_null=True)
    words = fields.CharField()


class CampaignSerializer(fields.ModelSerializer):
    problem = fields.CharField(source="problem.slug")
    op = fields.CharField(source="problem.op")
    platform = fields.CharField(source="platform.slug")
    cases = fields.ListField(child=fields.CharField())
    result = Read(GainSerializer(allow_null=True), result_of)
    incumbent = fields.IntegerField(source="incumbent_id", allow_null=True)
    incumbent_round = fields.IntegerField(source="incumbent.round.number", allow_null=True)
    created_by = fields.CharField(source="created_by.username", allow_null=True)

    class Meta:
        model = Campaign
        fields: tuple[str, ...] = (
            *("id", "title", "problem", "problem_id", "op", "platform", "backend"),
            *("cases", "proposer", "state", "doing", "pause_requested", "stop_requested"),
            *("stop_reason", "stop_sentence", "result", "incumbent", "incumbent_round", "seed"),
            *("created_by", "created_at", "finished_at"),
        )


class CopiedOutputSerializer(fields.Serializer):
    """An output into which each timed call copies an answer, so says the runner; its bytes."""

    name = fields.CharField()
    nbytes = fields.IntegerField()


class BaselineCaseSerializer(fields.Serializer):
    """One case of torch and of the kernel beside it, in µs; gain: of the kernel, a fraction."""

    case = fields.CharField()
    time_us = fields.FloatField()
    kernel_us = fields.FloatField()
    gain = GainSerializer()


class BaselineSerializer(fields.Serializer):
    """torch measured beside the kernel of a round; without a gain `why` says why there is none.

    copied: what torch copies in each timed call, at its largest. note: the same in words.
    """

    baseline = fields.CharField(source="kind")
    name = fields.CharField()
    evaluation = fields.IntegerField()
    beside_round = fields.IntegerField(source="beside")
    beside_best = fields.BooleanField(source="is_best")
    outcome = fields.CharField()
    why = fields.CharField()
    timer = fields.CharField()
    time_us = fields.FloatField(allow_null=True)
    kernel_us = fields.FloatField(allow_null=True)
    gain = GainSerializer(allow_null=True)
    cases = BaselineCaseSerializer(many=True)
    copied = CopiedOutputSerializer(many=True)
    note = fields.CharField()


class WholeCampaignSerializer(CampaignSerializer):
    """With its target and what was agreed on at its beginning.

    no_worker: that no worker of its platform is alive, and how one is started; "" where one is.
    """

    target = Read(CaseTargetSerializer(many=True), lambda c: target_of(c).cases.values())
    missing = Read(fields.CharField(), lambda c: target_of(c).missing)
    findings_policy = Read(
        fields.DictField(child=fields.CharField()), lambda c: stored_policy(policy_of(c))
    )
    own_kernels = Read(fields.ListField(child=fields.CharField()), lambda c: c.own_kernels or [])
    require_sanitizers = Read(
        fields.BooleanField(), lambda c: protocol_from(c.protocol.rules).require_sanitizers
    )
    intake = Read(fields.DictField(child=fields.CharField()), lambda c: intake_of(c).stored)

    baselines = Read(BaselineSerializer(many=True), baseline_rows)
    no_worker = Read(fields.CharField(), no_worker_of)

    class Meta(CampaignSerializer.Meta):
        fields = (
            *CampaignSerializer.Meta.fields,
            *("target", "missing", "findings_policy", "own_kernels"),
            *("require_sanitizers", "intake", "baselines", "no_worker"),
        )


class FindingSerializer(fields.Serializer):
    """What a reviewer should check in a source, and what the campaign makes of it."""

    kind = fields.CharField()
    line = fields.IntegerField()
    what = fields.CharField()
    text = fields.CharField()
    meaning = fields.CharField()
    stance = fields.CharField()


class FoundInSerializer(fields.Serializer):
    """One candidate's findings; null where it was not examined."""

    ordinal = fields.IntegerField()
    label = fields.CharField()
    file = fields.CharField()
    chosen = fields.BooleanField()
    findings = FindingSerializer(many=True, allow_null=True)


class FoundInRoundSerializer(fields.Serializer):
    round = fields.IntegerField()
    candidates = FoundInSerializer(many=True)


class CampaignFindingsSerializer(WholeCampaignSerializer):
    """The campaign, and the findings of every candidate by round."""

    rounds = FoundInRoundSerializer(many=True, source="found")

    class Meta(WholeCampaignSerializer.Meta):
        fields = (*WholeCampaignSerializer.Meta.fields, "rounds")


class HypothesisSerializer(fields.Serializer):
    strategy = fields.CharField()
    title = fields.CharField()
    change = fields.CharField()
    rationale = fields.CharField()
    evidence = fields.ListField(child=fields.CharField())
    expected_metric = fields.CharField()
    expected_direction = fields.CharField()
    expected_amount = fields.FloatField(allow_null=True)
    risks = fields.CharField()
    scope = fields.CharField()
    params = fields.DictField()


class RoundSerializer(fields.ModelSerializer):
    """verdict: its word, "" while there is none. standing: how far a gain is confirmed."""

    campaign = fields.IntegerField(source="campaign_id")
    title = fields.CharField()
    against = fields.IntegerField(source="against_id", allow_null=True)
    chosen = fields.IntegerField(source="chosen_id", allow_null=True)
    verdict = fields.CharField(source="verdict.word", default="")
    reason = fields.CharField(source="verdict.reason", default="")
    gain = Read(
        GainSerializer(allow_null=True),
        lambda row: gain_of(row.verdict) if hasattr(row, "verdict") else None,
    )
    standing = Read(fields.CharField(), standing_of)

    class Meta:
        model = Round
        fields: tuple[str, ...] = (
            *("id", "campaign", "number", "kind", "state", "title", "against", "chosen"),
            *("verdict", "reason", "gain", "standing", "opened_at", "closed_at"),
        )


class StandingSerializer(fields.Serializer):
    """One step of the standing, with what its own session showed."""

    word = fields.CharField()
    sentence = fields.CharField()
    gain = fields.FloatField(allow_null=True)
    gain_low = fields.FloatField(allow_null=True)
    gain_high = fields.FloatField(allow_null=True)
    pairs = fields.IntegerField()
    evaluation = fields.IntegerField()
    at = fields.DateTimeField()


class WholeRoundSerializer(RoundSerializer):
    hypothesis = Read(HypothesisSerializer(allow_null=True), hypothesis_of)
    standings = Read(StandingSerializer(many=True), lambda row: standing_facts(row.standings.all()))

    class Meta(RoundSerializer.Meta):
        fields = (*RoundSerializer.Meta.fields, "hypothesis", "standings")


class CandidateSerializer(fields.ModelSerializer):
    campaign = fields.IntegerField(source="round.campaign_id")
    round = fields.IntegerField(source="round_id")
    round_number = fields.IntegerField(source="round.number")
    flags = fields.ListField(child=fields.CharField())
    params = fields.DictField()

    class Meta:
        model = Candidate
        fields: tuple[str, ...] = (
            *("id", "campaign", "round", "round_number", "ordinal", "label", "file_name"),
            *("flags", "params", "digest", "created_at"),
        )


class WholeCandidateSerializer(CandidateSerializer):
    """With its source, as it was handed in, and what is to be checked in it."""

    source = fields.CharField(source="text")
    findings = Read(
        FindingSerializer(many=True, allow_null=True),
        lambda row: finding_facts(row, row.round.campaign),
    )

    class Meta(CandidateSerializer.Meta):
        fields = (*CandidateSerializer.Meta.fields, "source", "findings")


class VerdictSerializer(fields.ModelSerializer):
    campaign = fields.IntegerField(source="round.campaign_id")
    round = fields.IntegerField(source="round_id")
    round_number = fields.IntegerField(source="round.number")
    evaluation = fields.IntegerField(source="evaluation_id")
    gain = Read(GainSerializer(allow_null=True), gain_of)
    noise_floor = Read(fields.FloatField(), noise_of)

    class Meta:
        model = Verdict
        fields: tuple[str, ...] = (
            *("id", "campaign", "round", "round_number", "evaluation", "word", "reason"),
            *("sentence", "gain", "noise_floor", "decided_at"),
        )


class GateSerializer(fields.Serializer):
    """One gate in reading order. passed: null where it did not apply."""

    name = fields.CharField()
    passed = fields.BooleanField(allow_null=True)
    found = fields.CharField()
    limit = fields.CharField()
    citation = fields.CharField()


class CaseResultSerializer(fields.Serializer):
    """One case: the times of both arms, and the gain between them."""

    case = fields.CharField()
    time_us = TimeSerializer(source="time", allow_null=True)
    against_us = TimeSerializer(source="against", allow_null=True)
    gain = GainSerializer(allow_null=True)


class ClassResultSerializer(fields.Serializer):
    name = fields.CharField()
    cases = fields.ListField(child=fields.CharField())
    gain = GainSerializer()


class WholeVerdictSerializer(VerdictSerializer):
    gates = Read(GateSerializer(many=True), gates_of)
    cases = Read(CaseResultSerializer(many=True), results_of)
    classes = Read(ClassResultSerializer(many=True), classes_of)

    class Meta(VerdictSerializer.Meta):
        fields = (*VerdictSerializer.Meta.fields, "gates", "cases", "classes")


class EventSerializer(fields.ModelSerializer):
    campaign = fields.IntegerField(source="campaign_id")
    round = fields.IntegerField(source="round_id", allow_null=True)
    data: Any = fields.DictField()

    class Meta:
        model = Event
        fields: tuple[str, ...] = ("id", "campaign", "round", "kind", "message", "data", "at")
