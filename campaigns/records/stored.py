"""The JSON columns of the records, read into typed values. The only place that knows their keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from campaigns.evaluator.ceilings.busy import BUSY_LIMIT
from campaigns.evaluator.contract import ContractError, MachineCode, Report
from campaigns.models import Campaign, Candidate, Evaluation, EvaluationKind, Round, Verdict
from campaigns.records.declared_bucket import declared_of
from campaigns.rules.noise.gain import KIND, LEAST_FLOOR, Gain
from campaigns.rules.target.ceilings import PLACEHOLDER
from campaigns.rules.target.goal import Goal, goal_from
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.verdict.buckets import Declared
from campaigns.rules.verdict.expectation import Borne, borne_out
from campaigns.rules.verdict.sanitizers import NAME as SANITIZERS
from campaigns.rules.verdict.sanitizers import NOT_REACHED
from knowledge.specs.cited import UNKNOWN, Cited, cited_in

# Evaluations whose candidate may be the incumbent next: the machine code of these is read.
READ_IN = frozenset({EvaluationKind.BASELINE, EvaluationKind.REMEASURE})


@dataclass(frozen=True, slots=True)
class CaseTarget:
    """What step 0 found for one case; the times are None where a ceiling is unknown.

    words: the target with its basis and arithmetic. limit: the ceiling that holds the case back.
    """

    case: str
    flops: float
    bytes: float
    bound: str
    floor_us: float | None
    target_us: float | None
    formula: str
    words: str = ""
    limit: Cited | None = None

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes


@dataclass(frozen=True, slots=True)
class Assumption:
    """A placeholder in use: what a person allowed where nothing is cited. question: bandwidth…"""

    question: str
    shown: str
    reason: str
    allowed_by: str


@dataclass(frozen=True, slots=True)
class StoredRidge:
    """One dtype against one memory level, and the two ceilings, None where one is unknown."""

    dtype: str
    accumulate: str
    level: str
    text: str
    bandwidth: Cited | None
    compute: Cited | None

    @property
    def is_known(self) -> bool:
        return self.bandwidth is not None and self.compute is not None


@dataclass(frozen=True, slots=True)
class Target:
    """The goal as a fraction of the floor, every known ceiling with its citation, and each case.

    bandwidth, compute: the ceilings that the target rests on, out of bandwidths and computes.
    lessers: what bounds lesser precisions, which a changed one is told by.
    provisional: the cases as placeholders would have them; no share, stop or floor rests on those.
    goal: what was asked for. busy: the share of CPU time that others took while it was measured.
    """

    fraction: float
    bandwidth: Cited | None
    compute: Cited | None
    bandwidths: tuple[Cited, ...]
    computes: tuple[Cited, ...]
    cases: Mapping[str, CaseTarget]
    is_set: bool
    lessers: tuple[Cited, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    provisional: Mapping[str, CaseTarget] = field(default_factory=dict)
    goal: Goal = field(default_factory=Goal)
    ridges: tuple[StoredRidge, ...] = ()
    busy: Cited | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the ceilings may be too low because the host was busy with something else."""
        return self.busy is not None and self.busy.value > BUSY_LIMIT

    @property
    def missing(self) -> str:
        """What is shown instead of a target; empty where there is nothing missing."""
        if not self.is_set or (self.bandwidth and self.compute):
            return ""
        return PLACEHOLDER if self.provisional else UNKNOWN

    @property
    def citations(self) -> tuple[Cited, ...]:
        """The two ceilings that the target rests on, where they are known."""
        return tuple(cited for cited in (self.bandwidth, self.compute) if cited)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a round tries, why, and how far it should move which metric."""

    strategy: str
    title: str
    change: str
    rationale: str
    evidence: tuple[str, ...]
    expected_metric: str
    expected_direction: str
    expected_amount: float | None
    risks: str
    declared: Declared
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of times in microseconds, with its 95 % interval."""

    median: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Looked:
    """What sanitizers said before a gain was accepted. passed: None where none of them ran."""

    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a verdict: both arms' times, and the gain between them."""

    case: str
    time: Spread | None
    against: Spread | None
    gain: Gain | None


@dataclass(frozen=True, slots=True)
class ClassResult:
    """The gain over all cases of one config class."""

    name: str
    cases: tuple[str, ...]
    gain: Gain


def target_of(campaign: Campaign) -> Target:
    """Read `campaign.target`, as set_target writes it; empty before step 0."""
    stored: Mapping[str, Any] = campaign.target
    bandwidths, computes = cited_in(stored, "bandwidth"), cited_in(stored, "compute")
    cases = stored.get("cases") or {}
    return Target(
        fraction=float(stored.get("fraction") or campaign.stop_policy.get("target_fraction", 0.9)),
        bandwidth=choose_ceiling(bandwidths),
        compute=choose_ceiling(computes),
        bandwidths=bandwidths,
        computes=computes,
        cases={name: _case_target(name, item) for name, item in cases.items()},
        is_set=bool(stored),
        lessers=cited_in(stored, "lesser"),
        goal=goal_from(campaign.goal, float(campaign.stop_policy.get("target_fraction", 0.9))),
        ridges=tuple(_ridge(item, stored) for item in stored.get("ridges") or ()),
        busy=next(iter(cited_in(stored, "busy_share")), None),
        assumptions=tuple(
            Assumption(question, item["shown"], item["reason"], item["allowed_by"])
            for question, item in (stored.get("placeholders") or {}).items()
        ),
        provisional={
            name: _case_target(name, {**cases[name], **item})
            for name, item in (stored.get("provisional") or {}).items()
        },
    )


def hypothesis_of(round_: Round) -> Hypothesis | None:
    """Read `round.hypothesis`; None for the baseline, which tries nothing."""
    stored: Mapping[str, Any] = round_.hypothesis
    if not stored:
        return None
    amount = stored.get("expected_amount")
    return Hypothesis(
        strategy=str(stored.get("strategy", "")),
        title=str(stored.get("title", "")),
        change=str(stored.get("change", "")),
        rationale=str(stored.get("rationale", "")),
        evidence=_lines(stored.get("evidence")),
        expected_metric=str(stored.get("expected_metric", "")),
        expected_direction=str(stored.get("expected_direction", "")),
        expected_amount=None if amount is None else float(amount),
        risks=str(stored.get("risks", "")),
        declared=declared_of(round_) or Declared(None),
        scope=str(stored.get("scope", "")),
    )


def borne_of(round_: Round, verdict: Verdict) -> Borne | None:
    """What became of the round's expectation; None for the baseline, which has none.

    One about a config class is held against the gain of that class (R19).
    """
    idea = hypothesis_of(round_)
    if idea is None:
        return None
    gain = gain_of(verdict)
    if idea.scope:
        gain = next((c.gain for c in classes_of(verdict) if c.name == idea.scope), None)
    return borne_out(
        idea.expected_metric,
        idea.expected_direction,
        idea.expected_amount,
        gain,
        noise_of(verdict),
    )


def result_of(campaign: Campaign) -> Gain | None:
    """The incumbent against v0, measured side by side at the end; None before or without it."""
    stored: Mapping[str, Any] = campaign.result
    if stored.get("gain") is None or not stored.get("pairs"):
        return None
    return Gain(
        stored["gain"],
        stored["gain_low"],
        stored["gain_high"],
        stored["pairs"],
        stored.get("interval") or KIND,
    )


def noise_of(verdict: Verdict) -> float:
    """The floor that the verdict stands on; the least of one that tells none."""
    return float((verdict.noise or {}).get("value", LEAST_FLOOR))


def gain_of(verdict: Verdict) -> Gain | None:
    """The verdict's gain over the incumbent of its round."""
    if verdict.gain is None or verdict.gain_low is None or verdict.gain_high is None:
        return None
    kind = verdict.interval_kind or KIND
    return Gain(verdict.gain, verdict.gain_low, verdict.gain_high, verdict.pairs, kind)


def results_of(verdict: Verdict) -> tuple[CaseResult, ...]:
    """The verdict's cases, in the order in which they were measured."""
    kind = verdict.interval_kind or KIND
    return tuple(
        CaseResult(
            case=str(item["case"]),
            time=_spread(item.get("time_us")),
            against=_spread(item.get("incumbent_us")),
            gain=_gain(item, kind),
        )
        for item in verdict.cases
    )


def classes_of(verdict: Verdict) -> tuple[ClassResult, ...]:
    """The verdict's config classes with the gain of each."""
    kind = verdict.interval_kind or KIND
    return tuple(
        ClassResult(
            name=str(item["class"]),
            cases=tuple(map(str, item["cases"])),
            gain=Gain(item["gain"], item["gain_low"], item["gain_high"], item["pairs"], kind),
        )
        for item in verdict.classes or ()
    )


def looked_at(verdict: Verdict) -> Looked | None:
    """What sanitizers said of the candidate; None where nothing was to be accepted."""
    gate = next((gate for gate in verdict.gates if gate["name"] == SANITIZERS), None)
    if gate is None or gate["found"] == NOT_REACHED:
        return None
    return Looked(gate["passed"], str(gate["found"]))


def report_of(evaluation: Evaluation) -> Report | None:
    """The stored report; None while there is none, or where another version wrote it."""
    try:
        return evaluation.facts
    except ContractError:
        return None


def machine_code_of(candidate: Candidate) -> MachineCode | None:
    """As it was read when the candidate was measured to become the incumbent, the last time."""
    return machine_code_in(candidate.evaluations.filter(kind__in=READ_IN).order_by("-pk"))


def machine_code_in(evaluations: Iterable[Evaluation]) -> MachineCode | None:
    """The same of the candidate's evaluations, the newest first."""
    for evaluation in evaluations:
        report = report_of(evaluation) if evaluation.kind in READ_IN else None
        if report and report.machine_code:
            return report.machine_code
    return None


def _ridge(item: Mapping[str, Any], stored: Mapping[str, Any]) -> StoredRidge:
    # Targets of before this was stored have the text alone.
    return StoredRidge(
        dtype=str(item["dtype"]),
        accumulate=str(stored.get("accumulate") or ""),
        level=str(item["level"]),
        text=str(item["text"]),
        bandwidth=next(iter(cited_in(item, "bandwidth")), None),
        compute=next(iter(cited_in(item, "compute")), None),
    )


def _case_target(name: str, value: Mapping[str, Any]) -> CaseTarget:
    return CaseTarget(
        case=name,
        flops=float(value["flops"]),
        bytes=float(value["bytes"]),
        bound=str(value.get("bound") or ""),
        floor_us=value.get("floor_us"),
        target_us=value.get("target_us"),
        formula=str(value.get("formula") or ""),
        words=str((value.get("goal") or {}).get("words") or ""),
        limit=next(
            iter(cited_in(value, "bandwidth" if value.get("bound") == "memory" else "compute")),
            None,
        ),
    )


def _spread(value: Mapping[str, Any] | None) -> Spread | None:
    if not value:
        return None
    return Spread(value["median"], value["low"], value["high"], value["n"])


def _gain(item: Mapping[str, Any], kind: str) -> Gain | None:
    if item.get("gain") is None:
        return None
    pairs = (item.get("time_us") or {}).get("n", 0)
    return Gain(item["gain"], item["gain_low"], item["gain_high"], pairs, kind)


def _lines(value: Any) -> tuple[str, ...]:
    if not value:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(item) for item in value)
