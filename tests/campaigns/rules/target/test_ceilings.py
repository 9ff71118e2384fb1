"""Cited ceilings make a target; assumed ones make figures that nobody stops or judges by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.rules.target.ceilings import KNOWN, PLACEHOLDER, CaseTarget, Ceilings, target_under
from campaigns.rules.target.roofline import Work
from knowledge.specs.cited import UNKNOWN
from tests.campaigns.steps.cast import BANDWIDTH, COMPUTE, WORK

WORKS = {"one": Work(*WORK)}
ASSUMED = replace(
    BANDWIDTH, metric="bandwidth", value=20e9, evidence=PLACEHOLDER, citation="", display="20 GB/s"
)


def test_it_makes_a_target_of_what_is_cited() -> None:
    found = target_under(Ceilings((BANDWIDTH,), (COMPUTE,), {}), WORKS, 0.9)
    assert (found.state, found.unknown) == (KNOWN, ())
    assert found.cases["one"].floor_us == pytest.approx(10.0)


def test_r3_it_leaves_the_target_unknown_without_a_ceiling() -> None:
    ceilings = Ceilings((), (COMPUTE,), {})
    found = target_under(ceilings, WORKS, 0.9)
    assert (found.state, found.unknown) == (UNKNOWN, ("bandwidth",))
    assert found.cases["one"] == CaseTarget(*WORK, "one")
    assert target_under(ceilings, WORKS, 0.9).provisional == {}


def test_r3_it_keeps_an_assumption_out_of_floor_and_target() -> None:
    ceilings = Ceilings((), (COMPUTE,), {"bandwidth": ASSUMED})
    found = target_under(ceilings, WORKS, 0.9)
    assert (found.state, found.bandwidths) == (PLACEHOLDER, ())
    assert found.cases["one"] == CaseTarget(*WORK, "one")
    assert found.provisional["one"].floor_us == pytest.approx(5.0)


def test_it_uses_no_assumption_where_a_value_is_cited() -> None:
    ceilings = Ceilings((BANDWIDTH,), (COMPUTE,), {"bandwidth": ASSUMED})
    assert (ceilings.state, ceilings.used, target_under(ceilings, WORKS, 0.9).provisional) == (
        KNOWN,
        {},
        {},
    )


def test_it_stays_unknown_while_one_gap_has_no_assumption() -> None:
    ceilings = Ceilings((), (), {"bandwidth": ASSUMED})
    assert (ceilings.state, target_under(ceilings, WORKS, 0.9).provisional) == (UNKNOWN, {})
