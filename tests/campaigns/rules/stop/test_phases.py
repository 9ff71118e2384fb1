from hypothesis import given
from hypothesis import strategies as st

from campaigns.models.transitions import WORKING
from campaigns.rules.stop.phases import LIMITS, MEASURING, Clock, Overrun, is_idle, overrun


def test_r16_every_phase_of_work_has_limits_but_a_wait_for_a_worker_or_a_person():
    assert set(LIMITS) == {state.value for state in WORKING} - {"confirmed", "awaiting"}
    assert {"baseline", "validate", "report"} == MEASURING
    assert all(0 < limit.idle_s <= limit.wall_s for limit in LIMITS.values())


@given(st.sampled_from(sorted(LIMITS)), st.floats(0, 1e5), st.floats(0, 1e5))
def test_r16_running_out_is_an_outcome(state, spent, silent):
    clock = Clock(state, spent, silent)
    assert (overrun(clock) is None) is (spent < LIMITS[state].wall_s)
    assert is_idle(clock) is (silent >= LIMITS[state].idle_s)


def test_r16_what_a_person_waits_for_has_no_limit():
    assert overrun(Clock("paused", 1e9, 1e9)) is None
    assert not is_idle(Clock("confirmed", 1e9, 1e9))
    assert overrun(Clock("restart", 3600.0, 0.0)) is Overrun.DECLINE
