"""A claim and its second session: both have to show the gain, and both are told."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Outcome, Protocol, Repeats, Report
from campaigns.evaluator.contract.looks import looks_at
from campaigns.rules.noise.gain import Gain, interval, pooled
from campaigns.rules.target.roofline import Work, physical_floor
from campaigns.rules.verdict.decide import (
    agree,
    best_of,
    claims,
    decide,
    decide_again,
    decide_elsewhere,
    merged,
)
from campaigns.rules.verdict.decision import Gate, Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import GATE_NAMES, decide_session
from tests.campaigns.rules.builders import case, ceiling, report, timing

AGAINST = Standard(has_incumbent=True)
STRAY = (0.999, 1.0, 1.001, 1.0, 0.9995, 1.0005, 1.0, 0.999, 1.001, 1.0)


def session(*ratios: float, name: str = "") -> Report:
    """A report of one session: a case per ratio of incumbent to candidate time."""
    cases = (
        case(
            timing([10 / ratio * stray for stray in STRAY]),
            timing([10 * stray for stray in reversed(STRAY)]),
            f"case {index}",
        )
        for index, ratio in enumerate(ratios)
    )
    return replace(report(*cases), environment={"session": name} if name else {})


def gate(gates: tuple[Gate, ...], name: str) -> Gate:
    return next(found for found in gates if found.name == name)


@pytest.mark.parametrize(
    ("ratio", "claimed"), [(2.0, True), (1.015, True), (1.005, False), (0.9, False)]
)
def test_it_measures_again_what_would_be_accepted(ratio: float, claimed: bool) -> None:
    assert claims(decide_session(session(ratio), AGAINST)) is claimed


def test_it_never_measures_a_failure_or_a_baseline_again() -> None:
    assert not claims(decide_session(report(outcome=Outcome.CRASHED), AGAINST))
    assert not claims(decide_session(session(1.0), Standard(has_incumbent=False)))


def test_it_accepts_what_both_sessions_show_and_tells_the_gain_of_both() -> None:
    found = decide_again(session(2.0, 3.0), session(1.9, 2.8), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.ACCEPTED, Reason.PROMOTED)
    first, second = (interval_of(s) for s in (session(2.0, 3.0), session(1.9, 2.8)))
    assert found.gain is not None
    assert second.gain < found.gain.gain < first.gain
    assert (found.gain.low, found.gain.high) == (
        pytest.approx(second.gain, abs=0.01),
        pytest.approx(first.gain, abs=0.01),
    )
    assert found.gain.low <= second.gain < first.gain <= found.gain.high
    assert found.gain.pairs == 20
    assert set(found.cases) == {"case 0", "case 1"}
    assert "2.45× faster" in found.sentence
    assert "2.31× faster" in found.sentence
    last = ("second session", "both sessions", "sanitizers")
    assert tuple(g.name for g in found.gates) == (*GATE_NAMES, *last)
    assert [g.passed for g in found.gates[-3:]] == [True, True, None]


def interval_of(found: Report) -> Gain:
    gain = decide_session(found, AGAINST).gain
    assert gain is not None
    return gain


def test_it_accepts_a_small_gain_that_both_sessions_show() -> None:
    assert decide_again(session(1.015), session(1.017), AGAINST).reason is Reason.PROMOTED


@pytest.mark.parametrize("second", [1.0, 1.004, 0.995])
def test_it_shows_no_change_when_the_second_session_does_not_repeat_the_gain(second: float) -> None:
    found = decide_again(session(2.0), session(second), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.NO_CHANGE, Reason.NOT_REPEATED)
    claim = "No change shown: the second session did not confirm the gain."
    assert found.sentence.startswith(claim)
    assert "first session showed 2.00× faster" in found.sentence
    assert "second session: No change shown:" in found.sentence
    assert found.gain is not None
    assert found.gain.low <= second - 1 + 0.001
    assert found.gain.high >= 0.999


def test_it_never_takes_the_better_session() -> None:
    found = decide_again(session(1.03), session(1.0), AGAINST)
    assert found.verdict is VerdictWord.NO_CHANGE
    assert found.gain is not None
    assert found.gain.gain < 0.02


@pytest.mark.parametrize(
    ("outcome", "verdict", "reason"),
    [
        (Outcome.WRONG_RESULT, VerdictWord.REJECTED, Reason.WRONG_RESULT),
        (Outcome.CHEATED, VerdictWord.INVALID, Reason.CHEATED),
        (Outcome.CRASHED, VerdictWord.REJECTED, Reason.CRASHED),
        (Outcome.BUILD_FAILED, VerdictWord.REJECTED, Reason.BUILD_FAILED),
        (Outcome.TIMED_OUT, VerdictWord.REJECTED, Reason.TIMED_OUT),
    ],
)
def test_it_gives_the_verdict_of_the_second_sessions_own_gates(
    outcome: Outcome, verdict: VerdictWord, reason: Reason
) -> None:
    failed = replace(report(outcome=outcome), reason="row 17 differs")
    found = decide_again(session(2.0), failed, AGAINST)
    assert (found.verdict, found.reason, found.gain) == (verdict, reason, None)
    assert "2.00× faster" in found.sentence
    assert "row 17 differs" in found.sentence
    assert gate(found.gates, "second session").passed is False
    assert gate(found.gates, "both sessions").passed is None


def test_it_rejects_what_is_slower_the_second_time() -> None:
    found = decide_again(session(2.0), session(0.8), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.SLOWER)


def test_it_calls_a_second_session_below_the_floor_invalid() -> None:
    limit = ceiling(1e12)
    floor = physical_floor(Work(flops=1.0, bytes=4e6), [limit], [])
    assert floor is not None
    standard = replace(AGAINST, floors={"case 0": floor})
    found = decide_again(session(2.0), session(5.0), standard)
    assert (found.verdict, found.reason) == (VerdictWord.INVALID, Reason.ABOVE_ROOF)
    assert gate(found.gates, "second session").citation == limit.citation


def test_it_learns_nothing_from_a_second_session_on_a_broken_host() -> None:
    broken = replace(report(outcome=Outcome.BROKEN_HOST), reason="disk full")
    found = decide_again(session(2.0), broken, AGAINST)
    assert (found.reason, found.void, found.gain) == (Reason.BROKEN_HOST, True, None)
    assert "disk full" in found.sentence
    assert "2.00× faster" in found.sentence


def test_it_takes_no_session_for_a_second_one_of_itself() -> None:
    same = session(2.0, name="a1")
    assert decide_again(same, same, AGAINST).reason is Reason.BROKEN_HOST
    assert decide_again(same, session(2.0, name="b2"), AGAINST).reason is Reason.PROMOTED


def test_it_asks_a_person_when_the_sessions_show_two_different_gains() -> None:
    found = decide_again(session(3.0), session(1.2), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.NEEDS_REVIEW, Reason.SESSIONS_DISAGREE)
    assert "3.00× faster" in found.sentence
    assert "1.20× faster" in found.sentence
    assert gate(found.gates, "both sessions").passed is False


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((0.9, 1.0, 1.1), (0.5, 0.6, 0.7), True),
        ((0.9, 1.0, 1.1), (0.1, 0.3, 0.35), False),
        ((0.9, 1.0, 1.1), (0.1, 0.3, 0.95), True),
        ((0.039, 0.04, 0.041), (0.014, 0.015, 0.016), False),
        ((0.029, 0.03, 0.031), (0.010, 0.011, 0.012), True),
    ],
)
def test_it_says_when_two_gains_are_the_same(one: tuple, other: tuple, same: bool) -> None:
    gains = [Gain(gain, low, high, 10) for low, gain, high in (one, other)]
    assert agree(gains[0], gains[1], 0.01) is same
    assert agree(gains[1], gains[0], 0.01) is same


def test_it_refuses_a_second_session_of_what_claims_nothing() -> None:
    with pytest.raises(ValueError, match="within noise"):
        decide_again(session(1.0), session(2.0), AGAINST)


def test_it_guards_protected_cases_over_both_sessions() -> None:
    found = decide_again(session(3.0, 0.98), session(3.0, 0.93), AGAINST)
    assert found.reason is Reason.CASE_REGRESSED


def test_it_promotes_what_another_worker_shows_again() -> None:
    accepted = interval_of(session(2.0))
    assert decide_elsewhere(session(1.8), AGAINST, accepted).reason is Reason.PROMOTED
    assert decide_elsewhere(session(1.0), AGAINST, accepted).reason is Reason.WITHIN_NOISE
    apart = decide_elsewhere(session(1.2), AGAINST, accepted)
    assert apart.reason is Reason.SESSIONS_DISAGREE
    assert "1.20× faster" in apart.sentence
    assert "2.00× faster" in apart.sentence


def test_it_puts_the_samples_of_both_sessions_together() -> None:
    both = merged(session(2.0), session(1.0))
    timed = both.cases[0].candidate
    assert timed is not None
    assert len(timed.samples_us) == 20
    assert timed.samples_us[0] == pytest.approx(5, rel=0.01)
    assert timed.samples_us[-1] == pytest.approx(10, rel=0.01)


def test_r20_the_verdict_on_both_knows_what_the_second_alone_was_asked() -> None:
    seen = Repeats(1, (10.0,), (10.0,), (10.0,), (10.0,))
    again = session(2.0)
    [case] = again.cases
    assert case.candidate is not None
    told = replace(again, cases=(replace(case, candidate=replace(case.candidate, repeats=seen)),))
    timed = merged(session(2.0), told).cases[0].candidate
    assert timed is not None
    assert timed.repeats == seen


def test_it_pools_one_session_into_its_own_interval() -> None:
    pairs = {"a": [(10.0 * s, 5.0 / s) for s in STRAY]}
    alone, told = interval(pairs, 3), pooled([pairs], 3)
    assert (told.gain, told.low, told.high) == (alone.gain, alone.low, alone.high)


def test_of_several_the_fastest_that_passes_every_gate_is_judged() -> None:
    crashed = report(outcome=Outcome.CRASHED)
    broken = report(outcome=Outcome.BROKEN_HOST)
    tried = (session(1.2), crashed, session(1.5), session(1.0), broken)
    judged = [decide([one], AGAINST) for one in tried]
    assert best_of(judged) == 2
    assert best_of(judged[3:]) == 0
    assert best_of([judged[1], judged[4]]) == 0


def test_of_four_that_are_like_the_incumbent_hardly_ever_one_is_accepted() -> None:
    """The best of each trial goes to its second session alone; the noise floor is none."""
    rng, tries, accepted, claimed = random.Random(11), 300, 0, 0
    standard = replace(AGAINST, noise=0.0)
    (look,) = looks_at(Protocol(), 4)

    def drawn() -> list[float]:
        return [10 * math.exp(rng.gauss(0, 0.02)) for _ in range(2 * look.blocks)]

    def trial(contenders: int) -> list[Report]:
        old = timing(drawn())
        tried = (report(case(timing(drawn()), old)) for _ in range(contenders))
        return [replace(one, looks=(look,) if contenders > 1 else ()) for one in tried]

    for _ in range(tries):
        reports = trial(4)
        judged = [decide([one], standard) for one in reports]
        best = best_of(judged)
        if judged[best].is_claim:
            claimed += 1
            both = decide([reports[best], *trial(1)], standard)
            accepted += both.decision.verdict is VerdictWord.ACCEPTED
    assert claimed <= 0.05 * tries
    assert accepted <= 0.05 * tries


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_verdict_names_the_session_that_its_cases_are_of(outcome: Outcome) -> None:
    second = session(2.0) if outcome is Outcome.PASSED else report(outcome=outcome)
    reports = session(2.0, name="a"), replace(second, environment={"session": "b"})
    found = decide(reports, AGAINST)
    assert found.report is not None
    assert found.report.environment == reports[found.deciding].environment
