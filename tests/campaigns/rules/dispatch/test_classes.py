"""Config classes: what each of them gains, and when they diverge."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import Gain, improved, regressed
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.dispatch import class_of, divergence, grouped
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import compare, compare_sessions, decide_session
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
