"""What verdicts found, as their rows store it: gains, times, classes, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from campaigns.models import Campaign, Evaluation, Round, Standing, Verdict
from campaigns.records.campaigns import share_of, stored_result
from campaigns.records.cases import MeasuredCase, TimeSpread, case_rows
from campaigns.records.evaluations import report_of
from campaigns.records.rounds import hypothesis_of
from campaigns.rules.noise.gain import KIND, LEAST_FLOOR, Gain, geomean
from campaigns.rules.stop.policy import count_streaks
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.decision import UNJUDGED, Gate, Reason
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.verdict.expectation import Borne, borne_out
from campaigns.rules.verdict.sanitizers import NAME as SANITIZERS
from campaigns.rules.verdict.sanitizers import NOT_REACHED
from campaigns.rules.wording import NamedNumber


@dataclass(frozen=True, slots=True)
class SanitizerResult:
    """What sanitizers said before a gain was accepted. passed: None where none of them ran."""

    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a verdict: both arms' times, the gain between them, and how right it was."""

    case: str
    time: TimeSpread | None
    against: TimeSpread | None
    gain: Gain | None
    checked: MeasuredCase


@dataclass(frozen=True, slots=True)
class SessionTimes:
    """What one comparison measured: the times of both arms are medians of the same samples.

    gain: the paired one over all cases, as it was judged. name: of its numbers.
    """

    cases: tuple[CaseResult, ...] = ()
    gain: Gain | None = None
    name: str = ""

    @property
    def times(self) -> dict[str, float]:
        """Case → the candidate's time in µs."""
        return {one.case: one.time.median for one in self.cases if one.time}

    @property
    def incumbent_times(self) -> dict[str, float]:
        """Case → the time of the kernel beside it, in µs."""
        return {one.case: one.against.median for one in self.cases if one.against}

    @property
    def time_us(self) -> float | None:
        """The candidate's time, the geometric mean over the cases."""
        return self._mean("time", self.times)

    @property
    def incumbent_us(self) -> float | None:
        """The same of the kernel beside it."""
        return self._mean("rival", self.incumbent_times)

    @property
    def inverse(self) -> SessionTimes:
        """The same comparison with the arms swapped."""
        cases = (
            replace(one, time=one.against, against=one.time, gain=one.gain and one.gain.inverse)
            for one in self.cases
        )
        return replace(self, cases=tuple(cases), gain=self.gain and self.gain.inverse)

    def _mean(self, what: str, times_us: Mapping[str, float]) -> float | None:
        found = geomean(times_us.values()) if times_us else None
        return found and NamedNumber(found, f"{what}:{self.name}")

    def share(self, target: CampaignTarget) -> float | None:
        """The share of the target's ceilings that it reaches over all cases; see `roof_words`."""
        found = share_of(self.times, target)
        return found and NamedNumber(found, f"share:{self.name}")


@dataclass(frozen=True, slots=True)
class ClassResult:
    """The gain over all cases of one config class."""

    name: str
    cases: tuple[str, ...]
    gain: Gain


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
        idea.expected_metric, idea.expected_direction, idea.expected_amount, gain, noise_of(verdict)
    )


def noise_of(verdict: Verdict) -> NamedNumber:
    """The noise floor of the verdict; the least floor where it stores none."""
    return NamedNumber((verdict.noise or {}).get("value", LEAST_FLOOR), f"noise:{verdict.round_id}")


def gain_of(row: Verdict | Standing) -> Gain | None:
    """A verdict's gain over the incumbent of its round, or that of a standing's own session."""
    if row.gain is None or row.gain_low is None or row.gain_high is None:
        return None
    ends, kind = (row.gain_low, row.gain_high), row.interval_kind or KIND
    return Gain(row.gain, *ends, row.pairs, kind, f"gain:{row._meta.model_name}:{row.pk}")


def results_of(verdict: Verdict) -> tuple[CaseResult, ...]:
    """The verdict's cases, in the order in which they were measured; read once for a row."""
    known: tuple[CaseResult, ...] | None = vars(verdict).get(_RESULTS)
    if known is None:
        kind, of = verdict.interval_kind or KIND, f"verdict:{verdict.pk}"
        known = vars(verdict)[_RESULTS] = case_results(verdict.cases, kind, of)
    return known


# Where a row keeps what was read of it, as it is sealed.
_RESULTS = "_results"


def case_results(rows: Any, kind: str, of: str) -> tuple[CaseResult, ...]:
    """Stored rows of `cases.case_rows`. kind: of their intervals. of: names their numbers."""
    found = []
    for row in msgspec.convert(rows, list[MeasuredCase]):
        name = f"{of}:{row.case}"
        arms = _named(row.time_us, f"median:{name}"), _named(row.incumbent_us, f"rival:{name}")
        gain = row.paired(kind)
        found.append(CaseResult(row.case, *arms, gain and replace(gain, name=f"gain:{name}"), row))
    return tuple(found)


def measured_of(verdict: Verdict | None) -> SessionTimes:
    """What a round's deciding session measured; no cases where it proves no time (invalid)."""
    if verdict is None or verdict.word == Word.INVALID:
        return SessionTimes()
    return SessionTimes(results_of(verdict), gain_of(verdict), f"round:{verdict.round_id}")


def _named(time: TimeSpread | None, name: str) -> TimeSpread | None:
    return time and TimeSpread(NamedNumber(time.median, name), time.low, time.high, time.n)


def classes_of(verdict: Verdict) -> tuple[ClassResult, ...]:
    """The verdict's config classes with the gain of each."""
    kind = verdict.interval_kind or KIND
    return tuple(
        ClassResult(
            name=str(item["class"]),
            cases=tuple(map(str, item["cases"])),
            gain=Gain(
                item["gain"],
                item["gain_low"],
                item["gain_high"],
                item["pairs"],
                kind,
                f"gain:verdict:{verdict.pk}:class:{item['class']}",
            ),
        )
        for item in verdict.classes or ()
    )


def gates_of(verdict: Verdict) -> tuple[Gate, ...]:
    """The verdict's gates in reading order."""
    return tuple(
        Gate(one["name"], one["passed"], str(one["found"]), str(one["limit"]),
             str(one.get("citation") or ""))
        for one in verdict.gates
    )  # fmt: skip


def sanitizer_result(verdict: Verdict) -> SanitizerResult | None:
    """What sanitizers said of the candidate; None where nothing was to be accepted."""
    gate = next((gate for gate in verdict.gates if gate["name"] == SANITIZERS), None)
    if gate is None or gate["found"] == NOT_REACHED:
        return None
    return SanitizerResult(gate["passed"], str(gate["found"]))


def verdicts_of(campaign: Campaign) -> Sequence[Verdict]:
    """In the order of the rounds."""
    rows = Verdict.objects.filter(round__campaign=campaign).select_related("round__against__round")
    rows = rows.defer("round__against__text")  # the sources would be most of what is read
    return list(rows.order_by("round__number"))


def decisions_of(verdicts: Iterable[Verdict]) -> list[tuple[Word, Reason]]:
    """What was decided and why, as the rules count it."""
    return [(Word(v.word), Reason(v.reason)) for v in verdicts]


def streak_of(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The last rounds in a row that were attempts and not accepted; broken hosts left out."""
    attempts = [v for v in verdicts if v.reason not in UNJUDGED]
    count = count_streaks(decisions_of(attempts)).consecutive_non_accepts
    return attempts[len(attempts) - count :]


def final_of(campaign: Campaign) -> SessionTimes | None:
    """What the final session measured; None before it, and if nothing was compared."""
    return finals_of([campaign]).get(campaign.pk)


def finals_of(campaigns: Sequence[Campaign]) -> dict[int, SessionTimes]:
    """Campaign key → its final session. One query if some old row has no cases."""
    results = {one.pk: stored_result(one) for one in campaigns}
    old = [one.evaluation for one in results.values() if one.evaluation and not one.cases]
    reports = Evaluation.objects.in_bulk(old) if old else {}
    found = {}
    for key, result in results.items():
        if (gain := result.as_gain) is not None:
            of = f"campaign:{key}"
            rows = result.cases or _rows(reports.get(result.evaluation or 0))
            gain = replace(gain, name=f"gain:{of}")
            found[key] = SessionTimes(case_results(rows, gain.kind, of), gain, of)
    return found


def _rows(evaluation: Evaluation | None) -> list[dict[str, Any]]:
    report = report_of(evaluation) if evaluation else None
    return case_rows(report.cases, {}) if report else []
