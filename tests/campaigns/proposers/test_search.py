"""The built-in search: order, evidence, no repetition, an end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import (
    Attempt,
    Category,
    MetricDirection,
    Situation,
    UnknownProposerError,
    proposer,
    proposer_names,
)
from campaigns.proposers.search.catalogue import category_of, untried
from campaigns.proposers.search.ideas import flag_ideas
from campaigns.rules.stop.ladder import directions
from knowledge.exchange.importer import SHIPPED
from knowledge.exchange.readers.files import read_folder
from knowledge.experience.catalogue.applies import applies
from knowledge.experience.catalogue.names import Place
from knowledge.experience.catalogue.read import read_catalogue

BY_ID = read_catalogue(read_folder(SHIPPED)).strategies
CATALOGUE = tuple(BY_ID.values())

SOFTMAX = Path("campaigns/problems/softmax/v0.cpp").read_text()
EVIDENCE = {
    "cores": 2,
    "cases": [
        {
            "case": "512x1024",
            "time_us": 2400.0,
            "floor_us": 240.0,
            "bound": "memory",
            "gb_per_s": 1.7,
            "gflop_per_s": 1.1,
            "citation": "docs/measured/cpu.md:L12",
        }
    ],
}


def start() -> Situation:
    source = Source("v0.cpp", SOFTMAX)
    return Situation("softmax", "softmax", "cpp", source, 1, "cpu", (), EVIDENCE)


def rejected(draft, number: int) -> Attempt:
    hypothesis = draft.hypothesis
    return Attempt(hypothesis.strategy, hypothesis.params, "rejected", 0.9, number)


def test_it_is_registered_by_its_own_file():
    assert "search" in proposer_names()


def test_it_names_the_known_proposers_when_asked_for_another():
    with pytest.raises(UnknownProposerError, match=r"accepted: .*search"):
        proposer("nobody")


def test_it_proposes_the_largest_expected_gain_first():
    draft = proposer("search").propose(start())
    assert draft.hypothesis.strategy == "cpp.vector_exp"
    assert draft.hypothesis.expected_direction is MetricDirection.DOWN


def test_it_cites_the_incumbents_numbers():
    (sentence,) = proposer("search").propose(start()).hypothesis.evidence
    for part in (
        "2.40 ms by unpaired medians",
        "10 % of the floor of 240 µs",
        "1.7 GB/s",
        "cpu.md:L12",
    ):
        assert part in sentence


def test_it_gives_the_same_answer_to_the_same_situation():
    assert proposer("search").propose(start()) == proposer("search").propose(start())


def test_it_expects_no_more_than_the_floor_leaves():
    near = {"cases": [EVIDENCE["cases"][0] | {"floor_us": 2000.0}]}
    draft = proposer("search").propose(replace(start(), evidence=near))
    assert draft.hypothesis.expected_amount <= 1 - 2000 / 2400 + 1e-3


def test_it_never_repeats_itself_and_comes_to_an_end():
    situation, seen = start(), []
    for number in range(2, 40):
        draft = proposer("search").propose(situation)
        if draft is None:
            break
        assert 1 <= len(draft.candidates) <= 4
        seen.append((draft.hypothesis.strategy, tuple(sorted(draft.hypothesis.params.items()))))
        history = (*situation.history, rejected(draft, number))
        situation = replace(situation, history=history)
    else:
        pytest.fail("the search never ended")
    assert len(seen) == len(set(seen)) >= 5


def test_it_has_nothing_to_say_at_the_floor():
    there = {"cases": [EVIDENCE["cases"][0] | {"floor_us": 2400.0}]}
    assert proposer("search").propose(replace(start(), evidence=there)) is None


def test_it_has_nothing_to_say_about_an_unknown_backend():
    foreign = replace(start(), backend="fortran", source=Source("k.f90", "end"))
    assert proposer("search").propose(foreign) is None


def test_r48_the_catalogue_names_what_was_not_tried_by_category():
    ways = untried(start())
    assert {way.strategy for way in ways if way.by_itself} >= {"cpp.vector_exp", "flags.optimise"}
    assert len({way.category for way in ways}) >= 3
    first = proposer("search").propose(start())
    tried = replace(start(), history=(rejected(first, 2),))
    assert first.hypothesis.strategy not in {way.strategy for way in untried(tried)}
    assert category_of("cpp.vector_exp") is Category.ALGORITHM
    assert category_of("tune.num_stages") is Category.PIPELINE
    assert category_of("somebody.elses") is None


def test_r48_it_goes_in_the_directions_of_a_review():
    named = replace(start(), directions=("flags.optimise", "cpp.vector_exp"))
    assert proposer("search").propose(named).hypothesis.strategy == "flags.optimise"
    other = replace(start(), directions=("by.hand",))
    assert proposer("search").propose(other).hypothesis.strategy == "cpp.vector_exp"


@pytest.mark.parametrize(
    ("op", "place", "wrong"),
    [
        ("softmax", Place("h200-sxm", "sm_90a", "NVIDIA"), {"cu.swizzle.grid", "cu.tensor"}),
        ("matmul", Place("a10", "sm_86", "NVIDIA"), {"cu.tma", "cu.warpspec", "cu.blockperrow"}),
        ("vector_add", Place("t4", "sm_75", "NVIDIA"), {"cu.splitk", "cu.cpasync", "cu.online"}),
    ],
)
def test_r48_it_names_what_needs_a_person_and_only_where_it_can_fit(op, place, wrong):
    situation = replace(start(), op=op, backend="cuda", source=Source("k.cu", "void f();"))
    ways = untried(situation, CATALOGUE, place)
    people = {way.strategy: way for way in ways if way.strategy in BY_ID}
    assert people
    for slug, way in people.items():
        assert not way.by_itself
        assert "needs a person" in way.named
        assert BY_ID[slug].kind == "technique"
        assert BY_ID[slug].recipes == ()
        assert applies(BY_ID[slug], op=op, backend="cuda", vendor=place.vendor, arch=place.arch), (
            slug
        )
    assert not wrong & set(people)
    assert "cu.fma" not in people  # it is for compute, and the roofline says memory
    found = directions(ways, ())
    assert len({way.category for way in found.ways}) >= 3
    assert len(found.ways) <= 6
    assert "a person or a model" in found.note


def test_r48_its_own_ideas_have_the_ids_of_the_catalogue():
    ways = {way.strategy: way.catalogue for way in untried(start(), CATALOGUE)}
    assert ways["cpp.vector_exp"] == "cpp.vector_exp"
    assert ways["flags.optimise"] == "cpp.flags"
    tried = (Attempt("cpp.accumulators", {}, "rejected", None, 2),)
    again = untried(replace(start(), history=tried), CATALOGUE)
    assert "cpp.accumulators" not in {way.strategy for way in again}
    assert category_of("cu.tma", CATALOGUE) is Category.MOVEMENT


@pytest.mark.parametrize(
    ("params", "round_", "known"),
    [
        ({"from round": 1, "points": "5"}, 3, True),
        ({"points": "5"}, 1, True),
        ({"from round": 2, "points": "5"}, 3, False),
        ({"from round": 1, "BLOCK": 64}, 3, False),
    ],
)
def test_it_tries_no_flags_again_that_a_search_of_this_source_has_screened(params, round_, known):
    searched = Attempt("tune.space", params, "no change shown", 1.0, round_)
    found = {idea.strategy for idea in flag_ideas(replace(start(), history=(searched,)))}
    assert ("flags.optimise" in found) is not known
    assert "flags.relaxed" in found
