from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.contract import Outcome, Timer
from campaigns.evaluator.contract.looks import LOOKS
from campaigns.rules.target.roofline import Work, physical_floor
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.rules.verdict.decide import decide_again
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import GATE_NAMES, decide_session
from tests.campaigns.rules.builders import case, ceiling, report, timing

AGAINST = Standard(has_incumbent=True)
BASELINE = Standard(has_incumbent=False)
SLOW, FAST = timing([10.0] * 10), timing([5.0] * 10)


@pytest.mark.parametrize(
    ("word", "sentence", "told"),
    [
        (VerdictWord.ACCEPTED, "Accepted: +5 %.", "Accepted: +5 %."),
        (VerdictWord.ACCEPTED, "Baseline: correct.", "accepted: Baseline: correct."),
        (VerdictWord.REJECTED, "Rejected by Rule 11: W2.", "Rejected by Rule 11: W2."),
        (VerdictWord.REJECTED, "Wrong result: 0.", "rejected: Wrong result: 0."),
        (VerdictWord.NO_CHANGE, "No change shown: +0 %.", "No change shown: +0 %."),
        (VerdictWord.NEEDS_REVIEW, "Needs review: 1 µs.", "Needs review: 1 µs."),
    ],
)
def test_it_tells_a_sentence_alone_where_that_begins_with_the_word(word, sentence, told):
    assert word.told(sentence) == told


def times(*ratios: float) -> list:
    """One report case per ratio of incumbent to candidate time."""
    return [
        case(timing([10.0 / ratio] * 10), SLOW, f"case {index}")
        for index, ratio in enumerate(ratios)
    ]


def test_it_accepts_a_clear_gain_and_names_its_baseline():
    found = decide_session(report(case(FAST, SLOW)), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.ACCEPTED, Reason.PROMOTED)
    assert found.gain is not None
    assert found.gain.gain == pytest.approx(1.0)
    assert "2.00× faster [2.00, 2.00] against the incumbent" in found.sentence
    assert "n=10 pairs" in found.sentence
    assert tuple(gate.name for gate in found.gates) == GATE_NAMES
    passed = {gate.name: gate.passed for gate in found.gates}
    unknown = ("static findings", "transfer", "plausibility", "device time", "own kernels")
    assert [passed.pop(name) for name in (*unknown, "repeats")] == [None] * 6
    assert set(passed.values()) == {True}


def test_a_gain_of_an_answer_that_no_input_changes_needs_a_floor():
    same = report(replace(case(FAST, SLOW), answer_varies=False))
    found = decide_session(same, AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.NEEDS_REVIEW, Reason.ANSWER_NEVER_VARIES)
    assert "a kernel that reads nothing could pass" in found.sentence
    floor = physical_floor(Work(0, 1e6), [ceiling(1e12)], [])
    known = replace(AGAINST, floors={"4096x4096": floor})
    assert decide_session(same, known).reason is Reason.PROMOTED
    assert decide_session(same, BASELINE).reason is Reason.BASELINE


def test_it_accepts_a_correct_baseline():
    found = decide_session(report(case(SLOW)), BASELINE)
    assert (found.verdict, found.reason) == (VerdictWord.ACCEPTED, Reason.BASELINE)
    assert found.gain is None


@pytest.mark.parametrize(
    ("ratio", "reason"),
    [
        (1.0, Reason.WITHIN_NOISE),
        (1.009, Reason.WITHIN_NOISE),
        (0.992, Reason.WITHIN_NOISE),
        (1.015, Reason.NEEDS_SECOND_SESSION),
        (1.03, Reason.PROMOTED),
        (0.98, Reason.SLOWER),
        (0.5, Reason.SLOWER),
    ],
)
def test_it_judges_the_size_of_a_gain(ratio, reason):
    found = decide_session(report(*times(ratio)), AGAINST)
    assert found.reason is reason
    assert found.verdict is reason.verdict


def test_it_believes_a_small_gain_after_a_second_session():
    twice = Standard(has_incumbent=True, sessions=2)
    assert decide_session(report(*times(1.015)), twice).reason is Reason.PROMOTED


def test_r12_it_raises_the_bar_on_a_noisy_worker():
    noisy = Standard(has_incumbent=True, noise=0.06)
    assert decide_session(report(*times(1.05)), noisy).reason is Reason.WITHIN_NOISE


def test_it_is_undecided_where_the_interval_holds_zero_and_a_change_worth_having():
    spread = timing([8.0, 12.0, 7.0, 13.0, 8.5, 12.5, 7.5, 11.0, 9.0, 12.0])
    measured = report(case(spread, SLOW))
    found = decide_session(measured, AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.NOT_JUDGED, Reason.UNDECIDED)
    # Where only changes beyond the interval count, the same times say that there is none.
    wide = decide_session(measured, replace(AGAINST, noise=0.13))
    assert (wide.verdict, wide.reason) == (VerdictWord.NO_CHANGE, Reason.WITHIN_NOISE)
    assert found.gain is not None
    assert found.gain.low < 0 < found.gain.high
    assert "faster" not in found.sentence


def test_r13_it_rejects_a_win_that_costs_a_protected_case():
    found = decide_session(report(*times(2.0, 0.9)), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.CASE_REGRESSED)
    unprotected = Standard(has_incumbent=True, protected=frozenset({"case 0"}))
    assert decide_session(report(*times(2.0, 0.9)), unprotected).verdict is VerdictWord.ACCEPTED


def test_r13_it_guards_harder_under_the_strict_policy():
    strict = Standard(has_incumbent=True, guard=GuardPolicy.STRICT)
    assert decide_session(report(*times(2.0, 0.96)), AGAINST).verdict is VerdictWord.ACCEPTED
    assert decide_session(report(*times(2.0, 0.96)), strict).reason is Reason.CASE_REGRESSED


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome.BUILD_FAILED, VerdictWord.REJECTED),
        (Outcome.WRONG_RESULT, VerdictWord.REJECTED),
        (Outcome.CRASHED, VerdictWord.REJECTED),
        (Outcome.TIMED_OUT, VerdictWord.REJECTED),
        (Outcome.CHEATED, VerdictWord.INVALID),
        (Outcome.BROKEN_HOST, VerdictWord.INVALID),
    ],
)
def test_it_turns_each_failed_outcome_into_its_verdict(outcome, verdict):
    found = decide_session(report(case(), outcome=outcome, reason="what happened"), AGAINST)
    assert found.verdict is verdict
    assert found.reason.value == outcome.value
    assert "what happened" in found.sentence
    assert found.void is (outcome is Outcome.BROKEN_HOST)


def test_what_is_not_the_candidates_doing_is_not_put_on_the_host_either():
    broken = report(case(), outcome=Outcome.BROKEN_HOST, reason="ref.py: line 3: ValueError: odd")
    found = decide_session(broken, AGAINST)
    assert found.sentence == (
        "Not caused by the candidate: ref.py: line 3: ValueError: odd. Nothing is concluded."
    )


def test_a_fault_of_the_problem_is_told_as_its_own():
    found = decide_session(
        replace(
            report(case(), outcome=Outcome.BROKEN_HOST, reason="ref.py: odd"), problem_fault=True
        ),
        AGAINST,
    )
    assert found.sentence == "The problem has a fault: ref.py: odd. Nothing is concluded."
    assert found.void


def test_it_needs_at_least_five_pairs():
    few = report(case(timing([5.0] * 4), timing([10.0] * 4)))
    assert decide_session(few, AGAINST).reason is Reason.TOO_FEW_SAMPLES


def test_r11_a_comparison_that_ended_at_a_look_has_the_interval_of_that_look():
    faster = timing([5.0, 5.1, 4.9, 5.2, 5.0, 5.1])
    whole = report(case(faster, timing([10.0, 10.2, 9.9, 10.1, 9.8, 10.0])))
    looked = replace(whole, looks=LOOKS[:1])
    found, fixed = (decide_session(each, AGAINST) for each in (looked, whole))
    assert found.gain.gain == fixed.gain.gain
    assert found.gain.low < fixed.gain.low
    assert found.gain.high > fixed.gain.high
    assert (found.gain.pairs, found.cases["4096x4096"].kind) == (6, found.gain.kind)
    assert "95% over all looks" in found.gain.kind
    samples = next(gate for gate in found.gates if gate.name == "samples")
    assert samples.found.startswith("6, ended at look 1, whose intervals have 97.9 %; noise floor")


def test_r11_a_gain_that_only_one_look_alone_would_show_is_none():
    # 95 % of six pairs are clear of zero, and those of the first look are not.
    slow = [10.0, 10.3, 10.5, 10.1, 10.6, 10.2]
    whole = report(case(timing([10.0] * 6), timing(slow)))
    assert decide_session(whole, AGAINST).gain.low > 0
    found = decide_session(replace(whole, looks=LOOKS[:1]), AGAINST)
    assert found.reason is Reason.UNDECIDED


def test_it_does_not_accept_what_was_not_timed():
    untimed = timing([5.0] * 10, timer=Timer.NONE)
    for cases in (
        [case()],
        [case(FAST)],
        [case(FAST, SLOW), case(name="b")],
        [case(untimed, SLOW)],
    ):
        assert decide_session(report(*cases), AGAINST).reason is Reason.NOT_TIMED


def test_it_does_not_accept_a_report_without_cases():
    assert decide_session(report(), BASELINE).reason is Reason.WRONG_RESULT


def test_it_prints_the_arithmetic_of_an_impossible_time():
    floor = physical_floor(Work(0, 16.75e6), [ceiling(3.35e12)], [])
    assert floor is not None
    standard = Standard(has_incumbent=True, floors={"4096x4096": floor})
    found = decide_session(report(case(timing([4.99] * 10), SLOW)), standard)
    assert (found.verdict, found.reason) == (VerdictWord.INVALID, Reason.ABOVE_ROOF)
    assert "16.8 MB ÷ 3.35 TB/s = 5.00 µs" in found.sentence
    assert found.gates[GATE_NAMES.index("plausibility")].citation.endswith("h100.md:L23")
    assert (
        decide_session(report(case(timing([5.01] * 10), SLOW)), standard).verdict
        is VerdictWord.ACCEPTED
    )


@pytest.mark.parametrize(
    ("time_us", "reason"),
    [
        (0.0, Reason.TOO_SHORT),
        (-3.0, Reason.TOO_SHORT),
        (float("nan"), Reason.ABOVE_ROOF),
        (float("inf"), Reason.ABOVE_ROOF),
    ],
)
def test_it_never_takes_no_time_for_speed(time_us, reason):
    broken = report(case(timing([5.0] * 9 + [time_us]), SLOW))
    assert decide_session(broken, AGAINST).reason is reason


def test_it_measures_again_when_the_incumbent_has_no_times():
    found = decide_session(report(case(FAST, timing([10.0] * 9 + [0.0]))), AGAINST)
    assert found.reason is Reason.BROKEN_HOST
    assert found.void


@pytest.mark.parametrize("device_us", [40.0, 160.0])
def test_r10_it_asks_for_review_when_device_time_disagrees(device_us):
    arms = timing([100.0] * 10, device_us), timing([200.0] * 10, 200.0)
    assert decide_session(report(case(*arms)), AGAINST).reason is Reason.DEVICE_TIME_DISAGREES


def test_it_allows_the_launch_overhead_between_burst_and_device_time():
    arms = timing([10.0] * 10, 6.0), timing([20.0] * 10, 16.0)
    assert decide_session(report(case(*arms)), AGAINST).verdict is VerdictWord.ACCEPTED


def loops(candidate_device_us: float | None):
    """A plain loop that halves burst time, with this much device time against 10 µs."""

    def loop(burst_us: float, device_us: float | None):
        plain = timing([burst_us] * 10, device_us, Timer.LOOP)
        return replace(plain, device_samples_us=() if device_us is None else (device_us,) * 10)

    return report(case(loop(20.0, candidate_device_us), loop(40.0, 10.0)))


def test_it_lets_device_time_decide_a_plain_loop():
    assert decide_session(loops(5.0), AGAINST).verdict is VerdictWord.ACCEPTED
    assert decide_session(loops(5.0), AGAINST).gain.gain == pytest.approx(1.0)
    assert decide_session(loops(10.0), AGAINST).reason is Reason.WITHIN_NOISE
    assert decide_session(loops(12.0), AGAINST).reason is Reason.SLOWER
    assert decide_session(loops(None), AGAINST).reason is Reason.NO_DEVICE_TIME


def traced(burst_us: float, device_us: float, timer: Timer):
    plain = timing([burst_us] * 10, device_us, timer)
    return replace(plain, device_samples_us=(device_us,) * 10)


def test_it_never_accepts_a_plain_loop_by_the_runners_word_alone():
    # The runner claims half of the device time; the judge's clock sees a slower candidate.
    found = decide_session(
        report(case(traced(200.0, 20.0, Timer.LOOP), traced(40.0, 40.0, Timer.GRAPH))), AGAINST
    )
    assert found.verdict is VerdictWord.NEEDS_REVIEW
    assert found.reason is Reason.DEVICE_TIME_DISAGREES


@pytest.mark.parametrize(
    ("protected", "reason", "second"),
    [
        (None, Reason.DEVICE_TIME_DISAGREES, Reason.DEVICE_TIME_DISAGREES),
        # The size of the gain is the lesser one of both clocks, and not the same in both sessions.
        (frozenset({"fast"}), Reason.PROMOTED, Reason.SESSIONS_DISAGREE),
    ],
)
def test_it_clears_no_protected_case_by_the_runners_word_alone(protected, reason, second):
    """A loop is the candidate's choice, and its device times are the runner's to forge."""
    fast = case(traced(20.0, 5.0, Timer.LOOP), traced(60.0, 40.0, Timer.LOOP), "fast")
    slow = case(traced(80.0, 5.0, Timer.LOOP), traced(60.0, 40.0, Timer.LOOP), "slow")
    standard = replace(AGAINST, protected=protected)
    found = decide_session(report(fast, slow), standard)
    assert found.reason is reason
    if protected is None:
        assert found.sentence.startswith("Needs review: slow: 1.33× slower [1.33, 1.33] against")
        assert "by the judge's clock on a protected case; device time shows 8.00×" in found.sentence
        guard = next(gate for gate in found.gates if gate.name == "guard")
        assert (guard.passed, guard.found.startswith("slow: 1.33× slower")) == (False, True)
    clean = replace(fast, case="slow")
    assert decide_again(report(fast, clean), report(fast, slow), standard).reason is second


def test_it_credits_a_plain_loop_with_the_lesser_gain_of_both_clocks():
    # By the tracer nine times as fast, by the judge's clock half as fast again.
    found = decide_session(
        report(case(traced(40.0, 10.0, Timer.LOOP), traced(60.0, 90.0, Timer.LOOP), "a")), AGAINST
    )
    assert found.reason is Reason.DEVICE_TIME_DISAGREES
    found = decide_session(
        report(case(traced(40.0, 10.0, Timer.LOOP), traced(60.0, 40.0, Timer.LOOP), "a")), AGAINST
    )
    assert found.verdict is VerdictWord.ACCEPTED
    assert found.gain.gain == found.cases["a"].gain == pytest.approx(0.5)
    assert found.sentence.startswith("Accepted: 1.50× faster [1.50, 1.50] against the incumbent")
    assert "by the judge's clock" in found.sentence
    assert "device time shows 4.00× faster" in found.sentence


def test_it_compares_both_arms_on_one_clock():
    # One kernel of 3 µs: through a graph it takes 3.74 µs with gaps, as a loop its tracer says 3.
    found = decide_session(
        report(case(traced(9.0, 3.0, Timer.LOOP), traced(3.74, 3.0, Timer.GRAPH))), AGAINST
    )
    assert found.reason is Reason.WITHIN_NOISE
    bare = replace(traced(3.74, 3.0, Timer.GRAPH), device_samples_us=())
    found = decide_session(report(case(traced(9.0, 3.0, Timer.LOOP), bare)), AGAINST)
    assert found.reason is Reason.NO_DEVICE_TIME


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        (None, Reason.PROMOTED),
        (frozenset({"case 0"}), Reason.PROMOTED),
        (frozenset({"case 0", "case 7"}), Reason.NOT_TIMED),
    ],
)
def test_it_accepts_nothing_that_left_a_case_of_its_campaign_out(cases, reason):
    found = decide_session(report(*times(2.0)), replace(AGAINST, cases=cases))
    assert found.reason is reason
    if reason is Reason.NOT_TIMED:
        assert found.sentence == (
            "Needs review: case 7 was never measured, so nothing is shown there."
        )
        whole = replace(AGAINST, cases=frozenset({"case 0", "case 1"}))
        again = decide_again(report(*times(2.0, 2.0)), report(*times(2.0)), whole)
        assert again.reason is Reason.NOT_TIMED


def test_it_asks_why_only_one_arm_could_be_traced():
    arms = timing([100.0] * 10, None), timing([200.0] * 10, 200.0)
    assert decide_session(report(case(*arms)), AGAINST).reason is Reason.NO_DEVICE_TIME
    untraced = timing([100.0] * 10, None), timing([200.0] * 10, None)
    assert decide_session(report(case(*untraced)), AGAINST).verdict is VerdictWord.ACCEPTED


def test_it_refuses_arms_of_different_length():
    with pytest.raises(ValueError, match="4096x4096: 9 and 10 samples"):
        decide_session(report(case(timing([5.0] * 9), SLOW)), AGAINST)


def test_it_has_a_verdict_for_every_reason():
    assert all(isinstance(reason.verdict, VerdictWord) for reason in Reason)
    assert VerdictWord.NO_CHANGE.words == "no change shown"
    assert VerdictWord.NEEDS_REVIEW.words == "needs review"


MARGINS = st.one_of(st.none(), st.floats(0, 3), st.just(float("nan")))


@given(
    facts=st.lists(st.tuples(st.booleans(), MARGINS, st.floats(0.5, 50)), min_size=1, max_size=4),
    floor_us=st.floats(0.1, 20),
)
def test_r43_it_never_accepts_the_wrong_or_the_impossible(facts, floor_us):
    floor = physical_floor(Work(0, floor_us * 1e6), [ceiling(1e12)], [])
    assert floor is not None
    names = [f"case {index}" for index in range(len(facts))]
    standard = Standard(has_incumbent=True, floors=dict.fromkeys(names, floor))
    cases = [
        case(timing([time_us] * 6), timing([60.0] * 6), name, correct, margin)
        for name, (correct, margin, time_us) in zip(names, facts, strict=True)
    ]
    right = all(correct and (margin is None or margin <= 1) for correct, margin, _ in facts)
    possible = all(time_us >= floor.floor_us for _, _, time_us in facts)
    accepted = decide_session(report(*cases), standard).verdict is VerdictWord.ACCEPTED
    assert accepted == (right and possible)


@pytest.mark.parametrize(("error", "told"), [(2e-5, "relative 2e-05"), (7e268, "relative above 1")])
def test_it_tells_no_relative_error_that_is_next_to_infinite(error: float, told: str) -> None:
    found = decide_session(report(replace(case(SLOW), max_rel_error=error)), BASELINE)
    gate = next(gate for gate in found.gates if gate.name == "correctness")
    assert gate.found.endswith(told)
