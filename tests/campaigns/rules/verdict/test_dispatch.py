"""Config classes: what each of them gains, and when they diverge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import Gain, improved, regressed
from campaigns.rules.verdict.decide import decide_again
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.dispatch import (
    call_for_split,
    class_of,
    divergence,
    expected_saving,
    grouped,
    judge_split,
)
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import (
    PairedComparison,
    compare,
    compare_sessions,
    decide_session,
    judge_comparison,
)
from tests.campaigns.rules.builders import case, report, timing

CLASSES = {"short a": "D=128", "short b": "D=128", "long": "D=4096"}
AGAINST = Standard(has_incumbent=True, classes=CLASSES)
SLOW = timing([10.0] * 10)


def measured(**ratios: float):
    """One case per ratio of incumbent to candidate time; underscores stand for blanks."""
    return report(
        *(
            case(timing([10.0 / ratio] * 10), SLOW, name.replace("_", " "))
            for name, ratio in ratios.items()
        )
    )


@pytest.mark.parametrize(
    ("params", "columns", "name"),
    [
        ({"N": 8, "D": 128}, ["D"], "D=128"),
        ({"M": 1, "K": 64, "N": 512}, ["M", "N"], "M=1, N=512"),
        ({"N": 8}, ["D"], "D=–"),
        ({"N": 8}, [], ""),
    ],
)
def test_r19_a_class_is_named_by_real_columns(params, columns, name):
    assert class_of(params, columns) == name


def test_it_keeps_the_order_of_cases_and_leaves_out_what_has_no_class():
    found = grouped({"a": 1, "b": 2, "c": 3, "d": 4}, {"c": "x", "a": "y", "b": "x", "d": ""})
    assert found == {"y": {"a": 1}, "x": {"b": 2, "c": 3}}
    assert list(found) == ["y", "x"]


def test_r19_every_comparison_has_the_gain_of_each_class():
    found = compare(measured(short_a=1.2, short_b=1.8, long=0.98), AGAINST)
    assert {name: round(gain.gain, 6) for name, gain in found.classes.items()} == {
        "D=128": pytest.approx((1.2 * 1.8) ** 0.5 - 1, abs=1e-6),
        "D=4096": pytest.approx(-0.02),
    }
    twice = compare_sessions([measured(short_a=1.2, short_b=1.2, long=1.0)] * 2, AGAINST)
    assert twice.classes["D=128"].gain == pytest.approx(0.2)
    assert twice.classes["D=128"].pairs == 20
    assert "2 sessions" in twice.classes["D=128"].kind


def test_a_problem_without_columns_has_no_classes():
    assert compare(measured(a=1.2), Standard(has_incumbent=True)).classes == {}


def test_r19_a_verdict_says_that_its_classes_diverge():
    found = decide_session(measured(short_a=1.5, short_b=1.5, long=0.9), AGAINST)
    assert found.reason is Reason.CASE_REGRESSED
    assert "Config classes differ: D=128 1.50× faster [" in found.sentence
    assert "but D=4096 1.11× slower [" in found.sentence
    assert set(found.classes) == {"D=128", "D=4096"}
    # So does one that is accepted because nobody protects the case that lost.
    free = decide_session(
        measured(short_a=1.5, short_b=1.5, long=0.9), replace(AGAINST, protected=frozenset())
    )
    assert free.reason is Reason.PROMOTED
    assert "Config classes differ" in free.sentence


def test_classes_that_agree_are_not_said_to_diverge():
    assert (
        "diverge"
        not in decide_session(measured(short_a=1.5, short_b=1.5, long=1.1), AGAINST).sentence
    )
    # A loss that is no more than noise is none.
    assert (
        "diverge"
        not in decide_session(measured(short_a=1.5, short_b=1.5, long=0.995), AGAINST).sentence
    )


GAINS = st.builds(
    lambda gain, down, up: Gain(gain, gain - down, gain + up, 10),
    st.floats(-0.5, 2),
    st.floats(0, 0.2),
    st.floats(0, 0.2),
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), GAINS))
def test_r19_classes_diverge_exactly_when_one_gains_and_one_loses(gains):
    found = divergence(gains, 0.01)
    wins = [name for name, gain in gains.items() if improved(gain, 0.01)]
    losses = [name for name, gain in gains.items() if regressed(gain, 0.01)]
    assert (found is not None) is bool(wins and losses)
    if found is not None:
        assert [name for name, _ in found.winners] == wins
        assert [name for name, _ in found.losers] == losses
        assert all(name in found.words for name in (*wins, *losses))


CLASSES_OF_SPLIT = {"a": "D=1", "b": "D=2", "c": "D=3"}
SPLIT = Standard(has_incumbent=True, classes=CLASSES_OF_SPLIT, taken=frozenset(["D=2"]))
SLOW_OF_SPLIT = timing([10.0] * 10)


def gain(value: float, spread: float = 0.001) -> Gain:
    return Gain(value, value - spread, value + spread, 10)


def measured_of_split(**ratios: float):
    return report(
        *(case(timing([10.0 / ratio] * 10), SLOW_OF_SPLIT, name) for name, ratio in ratios.items())
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
    found = decide_session(measured_of_split(**ratios), SPLIT)
    assert found.reason is reason
    assert found.gates[-1].name == "split"
    assert found.gates[-1].passed is (reason in (Reason.PROMOTED,))


def test_r19_what_is_no_split_is_not_judged_as_one():
    found = decide_session(measured_of_split(a=1.5, b=1, c=0.97), replace(SPLIT, taken=frozenset()))
    assert found.reason is Reason.PROMOTED
    assert "split" not in {gate.name for gate in found.gates}


def test_r19_a_split_that_is_not_kept_asks_for_no_second_session():
    # 1.2 % over all cases alone would be measured_of_split again.
    found = decide_session(measured_of_split(a=1.0, b=1.0, c=1.04), SPLIT)
    assert found.reason is Reason.CLASS_NOT_GAINED


def test_r19_both_sessions_of_a_split_have_to_show_it():
    good, bad = measured_of_split(a=1, b=1.5, c=1), measured_of_split(a=0.97, b=1.6, c=1)
    assert decide_again(good, good, SPLIT).reason is Reason.PROMOTED
    assert decide_again(good, bad, SPLIT).reason is Reason.CLASS_REGRESSED


GAINS_OF_SPLIT = st.builds(
    lambda value, down, up: Gain(value, value - down, value + up, 10),
    st.floats(-0.5, 2),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
)
BY_CLASS = st.fixed_dictionaries(dict.fromkeys(("D=1", "D=2", "D=3"), GAINS_OF_SPLIT))
TAKEN = st.sets(st.sampled_from(["D=1", "D=2", "D=3"]), min_size=1, max_size=2)


@given(BY_CLASS, st.one_of(st.just({}), BY_CLASS), TAKEN, GAINS_OF_SPLIT)
def test_r19_no_split_is_kept_that_costs_a_class_or_gains_none(gains, clock, taken, total):
    compared = PairedComparison(
        total, {}, gains, PairedComparison(total, {}, clock) if clock else None
    )
    found = judge_comparison(compared, replace(SPLIT, taken=frozenset(taken), sessions=2), ())
    if found.verdict is VerdictWord.ACCEPTED:
        for told in filter(None, (gains, clock)):
            assert all(improved(told[name], 0.01) for name in taken)
            assert not any(regressed(told[name], 0.01) for name in told.keys() - taken)
    split = judge_split(gains, clock, frozenset(taken), 0.01)
    assert split.gate.passed is (split.reason is None) is (split.sentence == "")


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), GAINS_OF_SPLIT), st.sampled_from(Reason))
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
