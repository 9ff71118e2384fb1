"""What was counted of the incumbent decides what the built-in search tries first (R26, R27)."""

from __future__ import annotations

from dataclasses import replace

from campaigns.proposers.base import Pointed, proposer
from campaigns.rules.verdict.expectation import AdviceRecord
from tests.campaigns.proposers.test_search import start

SPILLS = {"name": "spills", "words": "registers went through memory", "strategies": ["cu.spill"]}
PROFILE = {
    "case": "512x1024",
    "kernel": "solve",
    "limit": "memory_cache",
    "why": "memory at 82 %",
    "findings": [SPILLS | {"share": 0.4}],
    "counted": {"dram_pct": "10 % of the DRAM's peak"},
}
ADVICE = "flags.optimise"


def counted(**more):
    return replace(start(), evidence={**start().evidence, "profile": PROFILE}, **more)


def pointed(trust=None):
    words = "solve on 512x1024: registers went through memory, at most 40 % of its time"
    return (Pointed("finding:spills", words, frozenset({ADVICE}), trust),)


def first(situation):
    return proposer("search").propose(situation).hypothesis


def test_r26_an_idea_that_a_finding_points_at_goes_first_and_cites_it():
    found = first(counted(pointed=pointed()))
    assert found.strategy == ADVICE
    assert found.cites == ("finding:spills",)
    assert found.evidence[0].endswith("at most 40 % of its time")
    assert found.evidence[1] == "solve on 512x1024: limited by memory cache: memory at 82 %"


def test_r26_a_finding_that_never_paid_raises_nothing():
    lost = AdviceRecord(rounds=4, accepted=0, measured=4, gain=-0.01, promised=0.4)
    assert first(counted(pointed=pointed(lost))).strategy == first(counted()).strategy != ADVICE


def test_r25_what_is_for_the_class_goes_before_the_rest():
    assert first(counted(suited=frozenset({ADVICE}))).strategy == ADVICE


def test_r27_any_other_idea_rests_on_what_limits_the_kernel():
    found = first(counted())
    assert found.cites == ("limit",)
    assert first(start()).cites == ()


def test_r27_targets_that_the_code_misses_can_be_cited_without_a_profile():
    calls = {"name": "calls", "words": "2 calls of library functions", "strategies": []}
    facts = {**start().evidence, "code": [calls]}
    situation = replace(
        start(),
        evidence=facts,
        pointed=(Pointed("code:calls", "machine code: 2 calls", frozenset({"cpp.vector_exp"})),),
    )
    found = first(situation)
    # It is the first anyhow: what code says raises nothing.
    assert (found.strategy, found.cites) == (first(start()).strategy, ("code:calls",))
    assert found.evidence[0] == "machine code: 2 calls of library functions"
