"""What experience makes of the search's ideas: pure, and nothing where there is none."""

from __future__ import annotations

from dataclasses import replace

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Advice, Attempt, Draft, Situation, TriedElsewhere, proposer

TEXT = """
constexpr int TILE = 8;
constexpr int WIDE = 1;
extern "C" void solve(const float* x, float* y, int N) { y[0] = TILE * WIDE * x[0]; }
"""
EVIDENCE = {"cases": [{"case": "a", "time_us": 100.0, "floor_us": 50.0, "bound": "memory"}]}
PLAIN = Situation("p", "copy", "cpp", Source("v0.cpp", TEXT), 1, "cpu", (), EVIDENCE)
WIDE = Advice("st.wide", ("tune.WIDE",), 0.3, ((("WIDE", 16),),), True, ("uuid-1",), "worked")


def drafted(situation: Situation) -> Draft:
    draft = proposer("search").propose(situation)
    assert draft is not None
    return draft


def test_r38_what_worked_comes_first_and_is_named() -> None:
    assert drafted(PLAIN).hypothesis.strategy == "tune.space"
    found = drafted(replace(PLAIN, learned=(WIDE,)))
    assert found.hypothesis.strategy == "tune.WIDE"
    assert found.hypothesis.follows == ("uuid-1",)
    assert found.hypothesis.rationale.endswith("Followed: st.wide, worked.")


def test_the_best_value_elsewhere_is_the_one_candidate_in_the_same_context() -> None:
    (only,) = drafted(replace(PLAIN, learned=(WIDE,))).candidates
    assert only.params == {"WIDE": 16}
    assert "WIDE = 16" in only.source.text


def test_a_search_tries_what_worked_elsewhere_first() -> None:
    known = replace(WIDE, names=("tune.space",), is_here=False)
    found = drafted(replace(PLAIN, learned=(known,)))
    assert found.sweep is not None
    assert [seed["WIDE"] for seed in found.sweep.seeds] == [1, 16]


def test_the_best_point_of_a_search_here_needs_no_other_search() -> None:
    best = (("TILE", 16), ("WIDE", 4))
    known = replace(WIDE, names=("tune.space",), params=(best,))
    found = drafted(replace(PLAIN, learned=(known,)))
    assert found.sweep is None
    assert found.hypothesis.follows == ("uuid-1",)
    assert "WIDE = 4" in found.candidates[0].source.text


def test_a_value_that_the_source_has_already_recommends_nothing() -> None:
    known = replace(WIDE, params=((("WIDE", 1),),))
    found = drafted(replace(PLAIN, learned=(known,))).hypothesis
    assert (found.strategy, found.follows) == ("tune.space", ())


def test_it_expects_twice_the_speed_at_most_and_no_more_than_the_floor_leaves() -> None:
    high = replace(PLAIN, learned=(replace(WIDE, gain=9.0),))
    assert drafted(high).hypothesis.expected_amount == 0.5
    near = {"cases": [{**EVIDENCE["cases"][0], "floor_us": 80.0}]}
    assert drafted(replace(high, evidence=near)).hypothesis.expected_amount == 0.2


def test_what_this_campaign_tried_itself_is_not_advised_again() -> None:
    own = Attempt("tune.WIDE", {"WIDE": 16}, "rejected", 0.9, 2)
    found = drafted(replace(PLAIN, learned=(WIDE,), history=(own,)))
    assert found.hypothesis.strategy == "tune.space"


def test_an_alias_for_many_is_matched() -> None:
    every = replace(WIDE, names=("tune.*",), params=())
    assert drafted(replace(PLAIN, learned=(every,))).hypothesis.follows == ("uuid-1",)


def test_r36_the_same_experiment_is_left_out_with_its_whole_sweep() -> None:
    spent = TriedElsewhere(
        "tune.TILE", (("TILE", 4),), True, "uuid-2", "campaign 3, round 4: tie", ""
    )
    found = drafted(replace(PLAIN, spent=(spent,)))
    assert found.hypothesis.strategy != "tune.TILE"


def test_r36_a_retry_comes_last_and_says_what_is_new() -> None:
    flags = (("flags", "-O3 -march=native -ffast-math"),)
    spent = TriedElsewhere(
        "flags.relaxed", flags, False, "uuid-2", "campaign 3, round 4: tie", "it is new"
    )
    situation, seen = replace(PLAIN, spent=(spent,), learned=(WIDE,)), []
    for number in range(2, 20):
        draft = proposer("search").propose(situation)
        if draft is None:
            break
        idea = draft.hypothesis
        seen.append(idea)
        tried = Attempt(idea.strategy, idea.params, "rejected", 0.9, number)
        situation = replace(situation, history=(*situation.history, tried))
    assert seen[-1].strategy == "flags.relaxed"
    why = "It showed no gain in campaign 3, round 4: tie; tried again because it is new."
    assert seen[-1].rationale.endswith(why)
    assert all("showed no gain" not in one.rationale for one in seen[:-1])
