"""How much of a variant the screen looks at."""

from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.stream import VariantOrder
from campaigns.evaluator.screen.bench import ScreenBench


class Timed:
    """A case whose calls and bursts take so long, in µs; counts its bursts."""

    def __init__(self, time_us, wrong=""):
        self.case = SimpleNamespace(name="rows")
        self.took_us, self._wrong = time_us, wrong
        self.wrong_by_us = 0.0
        self.bursts = 0

    def lay(self):
        pass

    def prepare(self, *, again):
        self.bursts += 1

    def check(self):
        return self._wrong

    def rough_us(self, near_us):
        return self.took_us + self.wrong_by_us

    def time_us(self, near_us):
        self.bursts += 2
        return self.took_us

    def burst_us(self):
        self.bursts += 1
        return self.took_us


@pytest.fixture
def screened(tmp_path, monkeypatch):
    """Screen one case where 100 µs are the best so far."""
    monkeypatch.setattr(ScreenBench, "__init__", lambda self: None)
    monkeypatch.setattr(ScreenBench, "_load", lambda *_: None)

    def screen(case, **best_us):
        bench = ScreenBench()
        bench._cases, bench._best_us = [case], {"rows": 100.0}
        return bench._screened(VariantOrder(1, None, tmp_path, best_us), -1)

    return screen


@pytest.mark.parametrize(("time_us", "bursts"), [(110.0, 9), (111.0, 4)], ids=["near", "behind"])
def test_one_near_the_best_gets_more_bursts(screened, time_us, bursts):
    case = Timed(time_us)
    result = screened(case)
    assert (result.ended_early, result.times_us) == (False, {"rows": time_us})
    assert case.bursts == bursts


def test_one_behind_the_best_of_all_devices_ends_after_a_burst_or_two(screened):
    case = Timed(110.0)
    assert screened(case, rows=50.0).ended_early
    assert case.bursts == 3


def test_one_that_a_single_call_shows_to_be_hopeless_gets_no_burst(screened):
    case = Timed(500.0)
    result = screened(case)
    assert (result.ended_early, result.times_us, case.bursts) == (True, {"rows": 500.0}, 0)


def test_a_single_call_may_say_some_ten_microseconds_too_many(screened):
    case = Timed(4.0)
    case.wrong_by_us = 40.0
    assert screened(case, rows=4.0).times_us == {"rows": 4.0}


def test_a_wrong_one_is_not_timed(screened):
    case = Timed(10.0, wrong="1 of 8 values is wrong")
    assert screened(case).outcome is Outcome.WRONG_RESULT
    assert case.bursts == 0
