"""How many people a gain needs, and where it stands by what they said."""

import pytest

from campaigns.rules.review.standing import (
    APPROVED,
    INVALID,
    RERUN,
    RETURNED,
    ReviewPolicy,
    ReviewState,
    choices,
    needed_for_result,
    needed_for_round,
    people_needed,
    standing,
)

POLICY = ReviewPolicy()


@pytest.mark.parametrize(
    ("gain", "waived", "people"),
    [
        (None, False, 0),
        (0.0999, False, 0),
        (0.10, False, 1),
        (0.999, False, 1),
        (1.0, False, 2),
        (7.0, False, 2),
        (0.02, True, 2),
        (None, True, 2),
    ],
)
def test_a_large_gain_or_a_waived_gate_needs_more_people(gain, waived, people):
    assert people_needed(gain, waived=waived, policy=POLICY) == people


def test_the_limits_are_those_of_the_policy():
    strict = ReviewPolicy(alone_below=0.0, two_above=0.05)
    gains = (0.01, 0.05)
    assert [people_needed(g, waived=False, policy=strict) for g in gains] == [1, 2]


@pytest.mark.parametrize(
    ("word", "people"), [("accepted", 1), ("needs_review", 1), ("rejected", 0), ("invalid", 0)]
)
def test_only_what_was_accepted_or_cannot_be_waits(word, people):
    assert needed_for_round(word, 0.5, waived=False, policy=POLICY) == people


@pytest.mark.parametrize(
    ("gain", "rounds", "people"),
    [(0.05, [0, 0], 0), (0.05, [0, 2], 2), (0.3, [0, 0], 1), (None, [1], 1), (3.0, [], 1)],
)
def test_a_result_needs_the_most_that_a_round_of_it_needs(gain, rounds, people):
    assert needed_for_result(gain, rounds, POLICY) == people


@pytest.mark.parametrize(
    ("needed", "words", "state", "shown"),
    [
        (0, [], ReviewState.AUTOMATIC, "needs no person"),
        (0, [APPROVED], ReviewState.APPROVED, "approved"),
        (1, [], ReviewState.OPEN, "waits for a decision, 0 of 1 approval"),
        (2, [APPROVED], ReviewState.OPEN, "waits for a decision, 1 of 2 approvals"),
        (2, [APPROVED, APPROVED], ReviewState.APPROVED, "approved, 2 of 2 approvals"),
        (1, [APPROVED, RETURNED], ReviewState.RETURNED, "returned to its author"),
        (1, [RETURNED, RERUN], ReviewState.RERUN, "a re-run is asked for"),
        (0, [RERUN, INVALID], ReviewState.INVALID, "marked invalid"),
    ],
)
def test_it_stands_by_the_strongest_objection_then_by_approvals(needed, words, state, shown):
    found = standing(needed, words)
    assert (found.state, found.words) == (state, shown)


def test_nobody_approves_what_the_judge_did_not_accept():
    assert choices("needs_review") == (RETURNED, INVALID, RERUN)
    assert APPROVED in choices("accepted")
    assert RERUN not in choices(None)
    found = standing(1, [APPROVED], may_approve=False)
    assert (found.state, found.words) == (ReviewState.OPEN, "waits for a decision")
