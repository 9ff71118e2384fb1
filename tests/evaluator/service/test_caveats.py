"""Times of short calls on a CPU come with a caveat."""

from __future__ import annotations

from campaigns.evaluator.contract import Timer, Timing
from campaigns.evaluator.service.notices import SHORT_CALL_US, short_call_caveats
from tests.evaluator.small import source


def timed(us: float) -> Timing:
    return Timing((us - 1, us, 9 * us), 8, 1, Timer.CALLS)


def test_it_names_the_cases_whose_calls_are_short():
    (said,) = short_call_caveats({"n1": timed(SHORT_CALL_US - 1), "n2": timed(SHORT_CALL_US)})
    assert said == (
        "Calls under 0.4 ms (n1): a kernel may fetch the next call's inputs early; "
        "kopt does not measure that on a CPU."
    )


def test_it_says_nothing_of_longer_calls():
    assert short_call_caveats({"n": timed(SHORT_CALL_US)}) == ()


def test_an_evaluation_says_it_beside_its_times(judge):
    assert any("next call's inputs early" in note for note in judge(source()).notes)
