"""Work that a stopped runner left on the device is heard, told from a neighbour's, and blamed."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.errors import HostError
from campaigns.evaluator.judge.integrity import device_quiescence
from campaigns.evaluator.judge.integrity.device_quiescence import LAST, ODD, DeviceQuiescence

BURSTS = 200
QUIET, BUSY = 1.02, 2.1


class Runner:
    name = "candidate"

    def __init__(self):
        self.alive = True

    def kill(self):
        self.alive = False

    def blame(self, outcome, reason):
        return RuntimeError(f"{outcome}: {reason}")


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    monkeypatch.setattr(device_quiescence, "QUIET_S", 0.2)
    monkeypatch.setattr(device_quiescence, "PAUSE_S", 0.01)


def listened(heard, runner, neighbours=0.0):
    """Let the judge listen in as many bursts as an evaluation may have."""
    quiescence = DeviceQuiescence(heard, lambda: neighbours)
    for _ in range(BURSTS):
        quiescence.require_quiet(runner)


def test_it_leaves_a_quiet_runner_alone():
    runner, heard = Runner(), []
    listened(lambda: heard.append(QUIET) or QUIET, runner)
    assert runner.alive
    assert len(heard) == BURSTS


def test_it_blames_work_that_ends_with_its_runner():
    runner = Runner()
    with pytest.raises(RuntimeError, match=f"{Outcome.CHEATED}: .*while it was stopped"):
        listened(lambda: BUSY if runner.alive else QUIET, runner)


def test_it_blames_nobody_for_a_neighbour():
    runner = Runner()
    with pytest.raises(HostError, match="another process"):
        listened(lambda: BUSY, runner)


def test_it_blames_nobody_for_a_neighbour_that_ends_with_the_runner():
    runner = Runner()
    with pytest.raises(HostError, match="another process"):
        listened(lambda: BUSY if runner.alive else QUIET, runner, neighbours=1.0)
    assert runner.alive


def test_it_blames_work_where_nobody_tells_of_neighbours():
    runner = Runner()
    with pytest.raises(RuntimeError, match="while it was stopped"):
        listened(lambda: BUSY if runner.alive else QUIET, runner, neighbours=None)


def test_it_bears_a_neighbour_that_comes_and_goes():
    runner, at = Runner(), iter(range(10**6))
    listened(lambda: BUSY if next(at) % LAST < ODD - 1 else QUIET, runner)
    assert runner.alive


def test_it_waits_until_what_was_killed_is_gone():
    runner, after = Runner(), iter(range(10**6))
    slow = 3 * LAST

    def heard():
        return BUSY if runner.alive or next(after) < slow else QUIET

    with pytest.raises(RuntimeError, match="while it was stopped"):
        listened(heard, runner)


def test_it_keeps_the_runners_apart():
    loud, quiet = Runner(), Runner()
    quiet.name = "incumbent"
    turn = []
    quiescence = DeviceQuiescence(
        lambda: BUSY if loud.alive and turn[-1] is loud else QUIET, lambda: None
    )

    def take_turns():
        for burst in range(BURSTS):
            turn.append((loud, quiet)[burst % 2])
            quiescence.require_quiet(turn[-1])

    with pytest.raises(RuntimeError, match="while it was stopped"):
        take_turns()
    assert quiet.alive
