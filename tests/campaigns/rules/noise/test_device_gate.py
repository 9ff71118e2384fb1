"""When a device may be measured on, and how long somebody waits for it (R8)."""

import pytest

from campaigns.rules.noise.device_gate import (
    CPU,
    CPU_MINUTE,
    GPU,
    LOOK_EVERY_S,
    MIB,
    MOST_WAIT_S,
    UNKNOWN_ACTIVITY,
    Activity,
    DeviceState,
    is_over,
    judge,
    next_check_s,
    waited_s,
)

QUIET = Activity((), 0.0, 0)


@pytest.mark.parametrize(
    ("looks", "gate", "why"),
    [
        (
            [QUIET] * 3,
            DeviceState.IDLE,
            "no other process computes on it, at most 0 % busy in 3 samples",
        ),
        ([QUIET, Activity((), 5.0, 0), QUIET], DeviceState.IDLE, "at most 5 % busy in 3 samples"),
        # What the driver keeps for itself is nobody's.
        ([Activity((), 0.0, 283 * MIB)] * 3, DeviceState.IDLE, "no other process"),
        ([QUIET] * 2, DeviceState.UNKNOWN, "2 of 3 samples taken"),
        ([], DeviceState.UNKNOWN, "0 of 3 samples taken"),
        ([QUIET, Activity((), 6.0, 0), QUIET], DeviceState.BUSY, "6 % busy, at most 5 % is idle"),
        (
            [QUIET, QUIET, Activity((4711,), 0.0, 0)],
            DeviceState.BUSY,
            "process 4711 computes on it",
        ),
        (
            [Activity((5, 4), 0.0, 0), Activity((3, 2, 4), 0.0, 0), QUIET],
            DeviceState.BUSY,
            "processes 2, 3, 4 and 1 more compute",
        ),
        (
            [QUIET, QUIET, Activity((), 0.0, MIB)],
            DeviceState.BUSY,
            "its memory use changed by 1 MiB while kopt ran nothing",
        ),
        # A container hides the process of a server that waits for work, but not what it keeps.
        (
            [Activity((), 0.0, 40_960 * MIB)] * 3,
            DeviceState.BUSY,
            "40,960 MiB of its memory are used by other processes",
        ),
        (
            [Activity((7,), 97.0, 40_960 * MIB)] * 3,
            DeviceState.BUSY,
            "process 7 computes on it; 97 % busy, at most 5 % is idle; "
            "40,960 MiB of its memory are used by other processes",
        ),
        (
            [UNKNOWN_ACTIVITY] * 3,
            DeviceState.UNKNOWN,
            "this host does not show which processes compute on it nor how busy it is nor how "
            "much of its memory is in use",
        ),
        (
            [Activity(None, 0.0, 0)] * 3,
            DeviceState.UNKNOWN,
            "this host does not show which processes compute on it",
        ),
        (
            [QUIET, QUIET, Activity((), None, 0)],
            DeviceState.UNKNOWN,
            "does not show how busy it is",
        ),
        # What is hidden does not excuse what is seen.
        ([Activity(None, 50.0, None)] * 3, DeviceState.BUSY, "50 % busy, at most 5 % is idle"),
    ],
)
def test_r8_it_says_of_a_gpu_whether_it_is_idle_and_why_not(looks, gate, why):
    found = judge(looks, GPU)
    assert found.gate is gate
    assert why in found.why
    assert "\n" not in found.why


@pytest.mark.parametrize(
    ("percents", "limits", "gate", "why"),
    [
        ([25.0] * 3, CPU, DeviceState.IDLE, "at most 25 % busy in 3 samples"),
        ([0.0, 26.0, 0.0], CPU, DeviceState.BUSY, "26 % busy, at most 25 % is idle"),
        ([30.0], CPU_MINUTE, DeviceState.IDLE, "at most 30 % busy in one sample"),
        ([80.0], CPU_MINUTE, DeviceState.BUSY, "80 % busy"),
    ],
)
def test_it_looks_at_the_load_of_a_cpu_alone(percents, limits, gate, why):
    found = judge([Activity((), percent, None) for percent in percents], limits)
    assert (found.gate, why in found.why) == (gate, True)


def test_it_ranks_the_most_idle_first():
    looks = [
        QUIET,
        Activity((), 4.0, 0),
        UNKNOWN_ACTIVITY,
        Activity((7,), 1.0, 0),
        Activity((7,), 50.0, 0),
        Activity((7,), 50.0, MIB),
    ]
    ranks = [judge([look] * 3, GPU).rank for look in looks]
    assert ranks == sorted(set(ranks))


def test_it_reads_as_one_line():
    assert str(judge([QUIET] * 2, GPU)) == "unknown: 2 of 3 samples taken"


def test_r8_it_looks_every_ten_minutes_and_waits_for_sixty():
    waited, looks = 0.0, 0
    while not is_over(waited):
        pause_s = next_check_s(waited, bounded=True)
        assert pause_s == LOOK_EVERY_S
        # A bell is heard a little late.
        waited = waited_s(waited, pause_s + 20, pause_s)
        looks += 1
    assert (looks, waited) == (6, MOST_WAIT_S)


def test_it_does_not_count_the_time_in_which_nobody_looked():
    assert waited_s(600.0, 86_400.0, 600.0) == 1200.0
    assert waited_s(600.0, 30.0, 600.0) == 630.0
    # Another host's clock may be behind.
    assert waited_s(600.0, -5.0, 600.0) == 600.0


def test_it_looks_once_more_where_the_sixty_minutes_end():
    assert next_check_s(3300.0, bounded=True) == 300.0


def test_it_looks_ever_more_rarely_where_no_campaign_waits():
    waited, looks = 0.0, 0
    while waited < 24 * 3600:
        pause_s = next_check_s(waited, bounded=False)
        waited = waited_s(waited, pause_s, pause_s)
        looks += 1
    assert looks < 10
