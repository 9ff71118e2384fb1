from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.stop.ladder import MOST_REPAIRS, may_repair
from campaigns.rules.verdict.decision import Reason

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
