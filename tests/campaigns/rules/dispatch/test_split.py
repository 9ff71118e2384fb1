"""When a dispatch split is called for, and that it is kept only where its class gains alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import Gain, improved, regressed
from campaigns.rules.verdict.decide import decide_again
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.dispatch import call_for_split, expected_saving, judge_split
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import PairedComparison, decide_session, judge_comparison
from tests.campaigns.rules.builders import case, report, timing

CLASSES = {"a": "D=1", "b": "D=2", "c": "D=3"}
SPLIT = Standard(has_incumbent=True, classes=CLASSES, taken=frozenset(["D=2"]))
SLOW = timing([10.0] * 10)


def gain(value: float, spread: float = 0.001) -> Gain:
    return Gain(value, value - spread, value + spread, 10)


def measured(**ratios: float):
    return report(
        *(case(timing([10.0 / ratio] * 10), SLOW, name) for name, ratio in ratios.items())
    )


@pytest.mark.parametrize(
    ("ratios", "reason"),
    [
        ({"a": 1, "b": 1.5, "c": 1}, Reason.PROMOTED),
        # Every other class has to hold, though the guard allows a case 5 %.
        ({"a": 0.97, "b": 1.5, "c": 1}, Reason.CLASS_REGRESSED),
        ({"a": 1.5, "b": 1, "c": 1.5}, Reason.CLASS_NOT_GAINED),
        ({"a": 1, "b": 1, "c": 1}, Reason.WITHIN_NOISE),
        ({"a": 0.9, "b": 1.5, "c": 1}, Reason.CASE_REGRESSED),
    ],
)
def test_r19_a_split_is_kept_only_where_its_class_gains_and_no_other_loses(ratios, reason):
    found = decide_session(measured(**ratios), SPLIT)
    assert found.reason is reason
    assert found.gates[-1].name == "split"
    assert found.gates[-1].passed is (reason in (Reason.PROMOTED,))


def test_r19_what_is_no_split_is_not_judged_as_one():
    found = decide_session(measured(a=1.5, b=1, c=0.97), replace(SPLIT, taken=frozenset()))
    assert found.reason is Reason.PROMOTED
    assert "split" not in {gate.name for gate in found.gates}


def test_r19_a_split_that_is_not_kept_asks_for_no_second_session():
    # 1.2 % over all cases alone would be measured again.
    found = decide_session(measured(a=1.0, b=1.0, c=1.04), SPLIT)
    assert found.reason is Reason.CLASS_NOT_GAINED


def test_r19_both_sessions_of_a_split_have_to_show_it():
    good, bad = measured(a=1, b=1.5, c=1), measured(a=0.97, b=1.6, c=1)
    assert decide_again(good, good, SPLIT).reason is Reason.PROMOTED
    assert decide_again(good, bad, SPLIT).reason is Reason.CLASS_REGRESSED


GAINS = st.builds(
    lambda value, down, up: Gain(value, value - down, value + up, 10),
    st.floats(-0.5, 2),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
)
BY_CLASS = st.fixed_dictionaries(dict.fromkeys(("D=1", "D=2", "D=3"), GAINS))
TAKEN = st.sets(st.sampled_from(["D=1", "D=2", "D=3"]), min_size=1, max_size=2)


@given(BY_CLASS, st.one_of(st.just({}), BY_CLASS), TAKEN, GAINS)
def test_r19_no_split_is_kept_that_costs_a_class_or_gains_none(gains, clock, taken, total):
    compared = PairedComparison(
        total, {}, gains, clock=total if clock else None, clock_classes=clock
    )
    found = judge_comparison(compared, replace(SPLIT, taken=frozenset(taken), sessions=2), ())
    if found.verdict is VerdictWord.ACCEPTED:
        for told in filter(None, (gains, clock)):
            assert all(improved(told[name], 0.01) for name in taken)
            assert not any(regressed(told[name], 0.01) for name in told.keys() - taken)
    gate, reason, sentence = judge_split(gains, clock, frozenset(taken), 0.01)
    assert gate.passed is (reason is None) is (sentence == "")


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), GAINS), st.sampled_from(Reason))
def test_r19_a_split_is_called_for_by_a_divergence_between_sound_kernels_alone(gains, reason):
    call = call_for_split(reason, gains, 0.01)
    wins = [name for name, g in gains.items() if improved(g, 0.01)]
    losses = [name for name, g in gains.items() if regressed(g, 0.01)]
    if call is None:
        return
    assert wins
    assert losses
    assert reason not in (Reason.WRONG_RESULT, Reason.CHEATED, Reason.SANITIZER, Reason.BASELINE)
    assert [name for name, _ in call.taken] == (losses if reason is Reason.PROMOTED else wins)


def test_r19_a_rejected_and_an_accepted_round_call_for_a_split_the_other_way_round():
    gains = {"short": gain(-0.2), "long": gain(1.0)}
    rejected = call_for_split(Reason.CASE_REGRESSED, gains, 0.01)
    assert rejected.expected == (("long", 1.0),)
    accepted = call_for_split(Reason.PROMOTED, gains, 0.01)
    assert accepted.expected == (("short", pytest.approx(0.25)),)
    assert call_for_split(Reason.SANITIZER, gains, 0.01) is None
    # Half of the cases twice as fast: the geometric mean of the times falls to 1 / √2.
    assert expected_saving(rejected, {"short": 2, "long": 2}) == pytest.approx(1 - 2**-0.5)
