"""The ladder, its directions and the choice of a restart, whatever came before (R40, R48, R49)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from campaigns.proposers.base import Category
from campaigns.rules.stop.ladder import (
    MOST_REPAIRS,
    Rung,
    Way,
    directions,
    masked,
    may_repair,
    rung,
    tally,
)
from campaigns.rules.stop.policy import History, StopPolicy, StopReason, count_streaks, should_stop
from campaigns.rules.verdict.decision import Reason, VerdictWord

ways = st.builds(
    Way,
    strategy=st.uuids().map(str),
    category=st.sampled_from(Category),
    title=st.just("it"),
    why=st.just("so"),
    expected=st.floats(1, 4),
    by_itself=st.booleans(),
)


def test_r48_each_step_up_has_its_measure():
    found = [rung(n, Reason.SLOWER, restart_settled=False) for n in range(9)]
    assert found == [
        *(None, Rung.DIAGNOSE, Rung.REVIEW, Rung.MACHINE_CODE, Rung.COMPARE, Rung.RESTART),
        *(None, None, None),
    ]


def test_r48_a_restart_is_offered_once():
    assert rung(5, Reason.SLOWER, restart_settled=True) is None


@given(st.integers(0, 12), st.booleans())
def test_r48_a_broken_host_makes_no_step_up(count, settled):
    assert rung(count, Reason.BROKEN_HOST, restart_settled=settled) is None


@given(st.lists(ways, max_size=12), st.sets(st.sampled_from(Category)))
def test_r48_a_review_names_three_categories_where_there_are_three(untried, recent):
    found = directions(untried, recent)
    kinds = {way.category for way in untried}
    assert len({way.category for way in found.ways}) == len(kinds)
    assert set(found.ways) <= set(untried)
    assert len(found.ways) == min(6, len(untried))
    if len(kinds) < 3:
        assert found.note
    fresh = kinds - recent
    assert {way.category for way in found.ways[: len(fresh)]} == fresh


def test_r48_a_review_says_when_nothing_is_left():
    assert directions((), ()).note == "the catalogue holds no untried technique"
    one = Way("a", Category.LAUNCH, "it", "so", 1.1)
    assert "only 1 category is left of the 3" in directions([one], ()).note
    assert tally([Reason.SLOWER, Reason.CRASHED, Reason.SLOWER]) == "2 slower, 1 crashed"


@given(st.sets(st.integers(1, 119)), st.sets(st.integers(1, 119), min_size=1), st.integers(0))
def test_r40_a_restart_masks_half_and_never_what_is_protected(attempts, protected, seed):
    found = masked(attempts, protected, seed)
    eligible = attempts - protected
    assert set(found) <= eligible
    assert len(set(found)) == len(found)
    assert abs(len(found) - len(eligible) / 2) <= 0.5
    assert found == masked(attempts, protected, seed)


@given(st.lists(st.sampled_from(Reason), max_size=30), st.integers(0, 30))
def test_r49_regressions_of_before_a_restart_do_not_count(reasons, after):
    decisions = [(reason.verdict, reason) for reason in reasons]
    whole, since = count_streaks(decisions), count_streaks(decisions, after)
    assert since.consecutive_non_accepts == whole.consecutive_non_accepts
    later = [r for r in reasons[after:] if r is not Reason.BROKEN_HOST]
    assert since.consecutive_regressions <= min(len(later), whole.consecutive_regressions)


@given(st.lists(st.sampled_from(Reason), max_size=30), st.integers(0, 30))
def test_law_8_a_broken_host_leaves_every_counter_alone(reasons, place):
    decisions = [(reason.verdict, reason) for reason in reasons]
    broken = (VerdictWord.INVALID, Reason.BROKEN_HOST)
    more = [*decisions[:place], broken, *decisions[place:]]
    assert count_streaks(more) == count_streaks(decisions)


@given(st.integers(0, 7), st.booleans())
def test_r49_regressions_stop_a_campaign_only_once_a_restart_is_settled(count, settled):
    history = History(9, consecutive_regressions=count, restart_settled=settled)
    stop = should_stop(StopPolicy(), history)
    assert (stop is not None) is (settled and count >= 5)
    assert stop is None or stop.reason is StopReason.CONSECUTIVE_REGRESSIONS
    full = should_stop(StopPolicy(), replace(history, consecutive_non_accepts=8))
    assert full is not None


FAILED = {Reason.BUILD_FAILED, Reason.WRONG_RESULT, Reason.CRASHED, Reason.TIMED_OUT}


@given(st.sampled_from(Reason), st.lists(st.booleans(), max_size=6))
def test_r17_it_allows_three_repairs_of_what_another_change_may_mend(reason, earlier):
    allowed = reason in FAILED and len(earlier) < 3 and False not in earlier
    assert may_repair(reason, earlier) is allowed


def test_r17_it_helps_neither_a_cheat_nor_a_broken_host():
    assert MOST_REPAIRS == 3
    assert not may_repair(Reason.CHEATED, [])
    assert not may_repair(Reason.BROKEN_HOST, [])
    assert not may_repair(Reason.FINDING_REFUSED, [])
    assert may_repair(Reason.CRASHED, [True, True])
