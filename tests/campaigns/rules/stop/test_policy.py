from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.stop.policy import (
    History,
    StopPolicy,
    StopReason,
    count_streaks,
    counters,
    should_stop,
)
from campaigns.rules.target.goal import Reached
from campaigns.rules.target.target import absolute_target
from campaigns.rules.verdict.decision import Reason

POLICY = StopPolicy()


@pytest.mark.parametrize(
    ("history", "reason", "success"),
    [
        (History(1, share_of_floor=0.93), StopReason.ROOFLINE_REACHED, True),
        (History(4, accepts=2, share_of_floor=0.90), StopReason.TARGET_MET, True),
        (History(20, share_of_floor=0.5), StopReason.MAX_ROUNDS, False),
        (
            History(7, consecutive_regressions=5, restart_settled=True),
            StopReason.CONSECUTIVE_REGRESSIONS,
            False,
        ),
        (History(9, consecutive_non_accepts=8), StopReason.FAILURE_BUDGET, False),
        (History(3, user_stopped=True, share_of_floor=0.95), StopReason.USER, False),
        (History(3, wall_h=2.0), StopReason.WALL_TIME, False),
        (History(3, device_h=0.5), StopReason.DEVICE_TIME, False),
    ],
)
def test_it_stops_with_a_reason(history, reason, success):
    stop = should_stop(replace(POLICY, max_wall_h=2.0, max_device_h=0.5), history)
    assert stop is not None
    assert (stop.reason, stop.success) == (reason, success)
    assert stop.sentence.endswith(".")


def test_it_goes_on_while_there_is_room():
    assert should_stop(POLICY, History(19, 3, 4, 7, share_of_floor=0.8999)) is None
    assert should_stop(POLICY, History(2)) is None


def test_r49_it_counts_time_that_nothing_limits():
    assert should_stop(POLICY, History(3, wall_h=1e6, device_h=1e6)) is None
    found = {counter.reason: counter for counter in counters(POLICY, History(3, wall_h=0.123))}
    assert found[StopReason.WALL_TIME].words == "0.12 h, no limit"
    assert found[StopReason.WALL_TIME].share == 0.0
    assert found[StopReason.MAX_ROUNDS].words == "3 of 20"
    assert found[StopReason.MAX_ROUNDS].share == 0.15


@given(
    policy=st.builds(
        StopPolicy,
        max_rounds=st.integers(1, 119),
        max_consecutive_regressions=st.integers(1, 9),
        max_consecutive_non_accepts=st.integers(1, 9),
        max_wall_h=st.none() | st.floats(0.01, 100),
        max_device_h=st.none() | st.floats(0.01, 100),
    ),
    history=st.builds(
        History,
        rounds=st.integers(0, 119),
        consecutive_regressions=st.integers(0, 9),
        consecutive_non_accepts=st.integers(0, 9),
        wall_h=st.floats(0, 100),
        device_h=st.floats(0, 100),
        restart_settled=st.just(True),
    ),
)
def test_r49_it_stops_exactly_when_a_counter_is_full(policy, history):
    full = [c for c in counters(policy, history) if c.limit is not None and c.used >= c.limit]
    stop = should_stop(policy, history)
    assert (stop is None) is not bool(full)
    assert stop is None or stop.reason is full[0].reason
    assert all(c.share == 1.0 for c in full)


def test_r6_it_stops_at_a_target_that_is_no_share_of_the_ceilings():
    met = Reached(absolute_target("time_us", 30.0), 29.0)
    stop = should_stop(POLICY, History(3, accepts=1, share_of_floor=0.5, reached=met))
    assert stop is not None
    assert (stop.reason, stop.success) == (StopReason.TARGET_MET, True)
    assert "time_us is 29.0 µs, the target is time_us ≤ 30.0 µs" in stop.sentence


def test_r49_it_stops_at_the_roofline_whatever_the_target_is():
    missed = Reached(absolute_target("time_us", 20.0), 29.0)
    assert should_stop(POLICY, History(3, accepts=1, share_of_floor=0.5, reached=missed)) is None
    stop = should_stop(POLICY, History(3, accepts=1, share_of_floor=0.93, reached=missed))
    assert stop is not None
    assert stop.reason is StopReason.ROOFLINE_REACHED
    assert "the target is time_us ≤ 20.0 µs" in stop.sentence


@pytest.mark.parametrize(
    ("reached", "reason"),
    [(0.6, StopReason.TARGET_MET), (0.92, StopReason.ROOFLINE_REACHED)],
)
def test_r49_a_baseline_that_meets_a_low_target_is_at_the_roofline_from_90_percent_on(
    reached, reason
):
    stop = should_stop(StopPolicy(target_fraction=0.5), History(1, share_of_floor=reached))
    assert stop is not None
    assert (stop.reason, stop.success) == (reason, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_rounds": 0},
        {"max_rounds": 120},
        {"target_fraction": 0},
        {"target_fraction": 1e-320},
        {"target_fraction": 0.0099},
        {"max_consecutive_regressions": 0},
        {"max_consecutive_non_accepts": 0},
        {"max_wall_h": 0},
        {"max_wall_h": 10_001},
        {"max_device_h": float("nan")},
        {"restart": "perhaps"},
    ],
)
def test_it_refuses_a_policy_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        StopPolicy(**wrong)


def test_it_counts_streaks_and_leaves_out_a_broken_host():
    reasons = [
        Reason.BASELINE,
        Reason.SLOWER,
        Reason.PROMOTED,
        Reason.BUILD_FAILED,
        Reason.SLOWER,
        Reason.BROKEN_HOST,
        Reason.CASE_REGRESSED,
    ]
    found = count_streaks((reason.verdict, reason) for reason in reasons)
    assert (found.accepts, found.consecutive_regressions, found.consecutive_non_accepts) == (
        1,
        2,
        3,
    )


def test_it_ends_a_streak_of_regressions_with_a_tie():
    # Requirements §7: -0.8 % and then -0.9 % are ties.
    reasons = [Reason.BASELINE, Reason.SLOWER, Reason.WITHIN_NOISE, Reason.WITHIN_NOISE]
    found = count_streaks((reason.verdict, reason) for reason in reasons)
    assert (found.consecutive_regressions, found.consecutive_non_accepts) == (0, 3)
