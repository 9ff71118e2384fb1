"""What verdicts found, as their rows store it: gains, times, classes, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from campaigns.models import Campaign, Round, Standing, Verdict
from campaigns.records.campaigns import result_of
from campaigns.records.cases import PairedCase, TimeSpread
from campaigns.records.rounds import hypothesis_of
from campaigns.rules.noise.gain import KIND, LEAST_FLOOR, Gain
from campaigns.rules.stop.policy import count_streaks
from campaigns.rules.verdict.chained import PairedStep, Times, paired_times
from campaigns.rules.verdict.decision import UNJUDGED, Gate, Reason, VerdictWord
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
    """One case of a verdict: both arms' times, and the gain between them."""

    case: str
    time: TimeSpread | None
    against: TimeSpread | None
    gain: Gain | None


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
        known = tuple(_results(verdict))
        vars(verdict)[_RESULTS] = known
    return known


# Where a row keeps what was read of it, as it is sealed.
_RESULTS, _RATIOS = "_results", "_ratios"


def _results(verdict: Verdict) -> Iterable[CaseResult]:
    kind = verdict.interval_kind or KIND
    for row in msgspec.convert(verdict.cases, list[PairedCase]):
        of = f"verdict:{verdict.pk}:{row.case}"
        arms = _named(row.time_us, f"median:{of}"), _named(row.incumbent_us, f"rival:{of}")
        gain = row.paired(kind)
        yield CaseResult(row.case, *arms, gain and replace(gain, name=f"gain:{of}"))


def _ratios_of(verdict: Verdict) -> Times:
    """Case → time of the incumbent over its own, for those compared; read once for a row."""
    known: Times | None = vars(verdict).get(_RATIOS)
    if known is None:
        ends = ("gain", "gain_low", "gain_high")
        known = vars(verdict)[_RATIOS] = {
            row["case"]: 1 + row["gain"]
            for row in verdict.cases
            if all(row.get(end) is not None for end in ends)
        }
    return known


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


def paired_times_of(campaign: Campaign, verdicts: Iterable[Verdict]) -> dict[int, Times]:
    """Round → case → µs; empty where v0 was not timed, and without rounds that prove no time.

    verdicts: ordered by round, that of round 1 and of every accepted one among them.
    """
    known = {verdict.round.number: verdict for verdict in verdicts}
    if 1 not in known:
        return {}
    v0 = {result.case: result.time.median for result in results_of(known.pop(1)) if result.time}
    if not v0:
        return {}
    steps = [
        PairedStep(
            number=number,
            against=verdict.round.against.round.number,
            word=VerdictWord(verdict.word),
            ratio=1 + gain.gain,
            cases=_ratios_of(verdict),
        )
        for number, verdict in known.items()
        if verdict.round.against and (gain := gain_of(verdict))
    ]
    total = result_of(campaign)
    return paired_times(v0, steps, 1 + total.gain if total else None)
