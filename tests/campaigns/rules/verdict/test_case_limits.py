""""""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.case_limits import (
    CaseEffect,
    GuardPolicy,
    Level,
    case_effect,
    level_words,
    representative,
)
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import PairedComparison, decide_session, judge_comparison
from tests.campaigns.rules.builders import case, report, timing


@pytest.mark.parametrize(
    ("low", "gain", "high", "policy", "expected"),
    [
        (-0.08, -0.07, -0.051, GuardPolicy.DEFAULT, CaseEffect.REJECT),
        (-0.08, -0.06, -0.049, GuardPolicy.DEFAULT, CaseEffect.WARN),
        (-0.08, -0.06, -0.031, GuardPolicy.STRICT, CaseEffect.REJECT),
        (-0.03, -0.02, -0.011, GuardPolicy.STRICT, CaseEffect.WARN),
        (-0.02, -0.01, 0.01, GuardPolicy.DEFAULT, CaseEffect.UNCHANGED),
        (-0.01, 0.03, 0.05, GuardPolicy.DEFAULT, CaseEffect.UNCHANGED),
        (0.01, 0.03, 0.05, GuardPolicy.DEFAULT, CaseEffect.IMPROVED),
    ],
)
def test_r13_it_guards_each_case(low, gain, high, policy, expected):
    assert case_effect(Gain(gain, low, high, 10), 0.01, policy) is expected


CLASSES = {"a": "D=1", "b": "D=2", "c": "D=1", "d": "D=3"}
SLOW, FAST = timing([10.0] * 10), timing([5.0] * 10)
QUICK = Standard(has_incumbent=True, level=Level.QUICK, cases=frozenset(["a", "b"]), whole=4)


@pytest.mark.parametrize(
    ("classes", "declared", "skewed", "chosen"),
    [
        (CLASSES, (), (), ("a", "b", "d")),
        (CLASSES, ("c",), (), ("b", "c", "d")),
        (CLASSES, ("a", "c"), (), ("a", "b", "c", "d")),
        (CLASSES, ("elsewhere",), (), ("a", "b", "d")),
        (CLASSES, (), ("c",), ("a", "b", "c", "d")),
        (CLASSES, (), ("b", "c"), ("a", "b", "d")),
        (dict.fromkeys("abc", ""), (), (), ("a", "b", "c")),
        (dict.fromkeys("abc", ""), ("b",), (), ("b",)),
    ],
)
def test_r18_the_quick_level_is_what_is_declared_and_one_of_each_class(
    classes, declared, skewed, chosen
):
    assert representative(classes, declared, skewed) == chosen


NAMES = st.sampled_from("abcdefgh")


@given(
    st.dictionaries(NAMES, st.sampled_from(["", "x", "y", "z"]), min_size=1),
    st.sets(NAMES),
    st.sets(NAMES),
)
def test_r18_every_class_is_represented_and_r22_a_skewed_case_is(classes, declared, skewed):
    chosen = representative(classes, declared, skewed)
    assert set(chosen) <= set(classes)
    assert {classes[name] for name in chosen} >= set(classes.values()) - {""}
    assert set(chosen) >= declared & set(classes)
    assert not skewed & set(classes) or skewed & set(chosen)
    assert chosen


def test_r18_a_verdict_says_its_level():
    words = {gate.name: gate for gate in decide_session(report(case(FAST, SLOW, "a")), QUICK).gates}
    assert words["level"].found == "quick: 2 representative of 4 cases"
    assert words["level"].passed is None
    full = replace(QUICK, level=Level.FULL, cases=frozenset("abcd"))
    gates = {gate.name: gate for gate in decide_session(report(case(FAST, SLOW, "a")), full).gates}
    assert (gates["level"].found, gates["level"].passed) == ("full: all 4 cases", True)
    assert level_words(Level.FULL, 1, 1) == "full: all 1 case"
    assert level_words(Level.QUICK, 0, 0) == "quick"


@pytest.mark.parametrize("level", Level)
def test_r18_inside_a_level_no_case_is_left_out(level):
    standard = replace(QUICK, level=level)
    found = decide_session(report(case(FAST, SLOW, "a")), standard)
    assert found.reason is Reason.NOT_TIMED
    assert "b was never measured" in found.sentence


def test_r18_a_gain_on_the_quick_level_is_not_accepted_however_large():
    both = report(case(FAST, SLOW, "a"), case(FAST, SLOW, "b"))
    found = decide_session(both, QUICK)
    assert (found.verdict, found.reason) == (VerdictWord.NO_CHANGE, Reason.NEEDS_FULL_LEVEL)
    assert "quick: 2 representative of 4 cases" in found.sentence
    assert decide_session(both, replace(QUICK, level=Level.FULL)).verdict is VerdictWord.ACCEPTED
    # Nor is a baseline, which sets the noise for all others.
    first = decide_session(both, replace(QUICK, has_incumbent=False))
    assert first.reason is Reason.NEEDS_FULL_LEVEL


GAINS = st.builds(
    lambda value, down, up: Gain(value, value - down, value + up, 10),
    st.floats(-0.5, 3),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
)


@given(GAINS, st.dictionaries(NAMES, GAINS), st.integers(1, 2))
def test_r18_nothing_is_ever_accepted_on_the_quick_level(total, cases, sessions):
    standard = replace(QUICK, sessions=sessions)
    found = judge_comparison(PairedComparison(total, cases), standard, ())
    assert found.verdict is not VerdictWord.ACCEPTED
