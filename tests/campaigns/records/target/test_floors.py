"""The floors that a stored target comes to, and what lies between two precisions."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from campaigns.models import Campaign
from campaigns.records.campaigns import target_of
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps import problems as step
from campaigns.steps.problems import floors_here
from tests.campaigns.rules.builders import case, ceiling, report, timing

BANDWIDTH = ceiling(5e12)
CUDA_CORES = ceiling(67e12, "op/s", metric="peak_fp32")
TENSOR_CORES = ceiling(494.5e12, "op/s", metric="peak_tf32_tensor_dense")
# 2 × 4096³ operations: 2051 µs on CUDA cores, 278 µs on tensor cores; 40 µs for the bytes.
MATMUL = {"flops": 2 * 4096**3, "bytes": 2e8}


def target(**more: Any) -> CampaignTarget:
    cited = {"bandwidth": [asdict(BANDWIDTH)], "compute": [asdict(CUDA_CORES)]}
    stored = {"cases": {"4096x4096": MATMUL}, "lesser": [asdict(TENSOR_CORES)]} | cited | more
    return target_of(Campaign(target=stored))


def judged(time_us: float, stored: CampaignTarget) -> tuple[VerdictWord, Reason, str]:
    standard = Standard(
        has_incumbent=True, floors=stored.floors, lesser_floors=stored.lesser_floors
    )
    slow, fast = timing([9000.0] * 10), timing([time_us] * 10)
    found = decide_session(report(case(fast, slow)), standard)
    return found.verdict, found.reason, found.sentence


@pytest.mark.parametrize(
    ("time_us", "verdict", "reason"),
    [
        (2100.0, VerdictWord.ACCEPTED, Reason.PROMOTED),
        (2000.0, VerdictWord.NEEDS_REVIEW, Reason.PRECISION_CHANGED),
        (279.0, VerdictWord.NEEDS_REVIEW, Reason.PRECISION_CHANGED),
        (277.0, VerdictWord.INVALID, Reason.ABOVE_ROOF),
    ],
)
def test_it_tells_a_changed_precision_from_the_impossible(time_us, verdict, reason):
    assert judged(time_us, target())[:2] == (verdict, reason)


def test_it_prints_both_floors_with_their_arithmetic():
    sentence = judged(1000.0, target())[2]
    assert "precision changed" in sentence
    assert "÷ 67 Top/s" in sentence
    assert "peak_tf32_tensor_dense" in sentence
    assert "÷ 495 Top/s" in sentence or "÷ 494.5 Top/s" in sentence


def test_it_calls_what_no_precision_allows_impossible():
    assert judged(1000.0, target(lesser=[]))[1] is Reason.ABOVE_ROOF
    # Bytes are what they are in any precision of the arithmetic.
    bytes_bound = target(cases={"4096x4096": {"flops": 1.0, "bytes": 1e10}})
    assert judged(1900.0, bytes_bound)[1] is Reason.ABOVE_ROOF


def test_it_has_no_lesser_floor_where_nothing_is_known_of_lesser_precisions():
    assert target(lesser=[]).lesser_floors == {}


def test_it_reads_a_target_that_a_later_version_wrote():
    """One reader for every stored citation: an added field is no reason to lose the floor."""
    stored = target(bandwidth=[asdict(BANDWIDTH) | {"kind": "peak"}], disputed=None)
    assert stored.floors == target().floors


@pytest.fixture
def known(monkeypatch):
    """A platform with one bandwidth; asked by `evaluate`, which has no campaign."""
    answers = {
        "platform_for_device": object(),
        "bandwidth_ceilings": [BANDWIDTH],
        "compute_ceilings": [],
        "higher_rivals": [],
        "lesser_ceilings": [],
        "host_busy_share": None,
    }
    for name, found in answers.items():
        monkeypatch.setattr(step, name, lambda *_, _found=found, **__: _found)
    monkeypatch.setattr(step, "work_model", lambda folder, cases: {"one": (1.0, 5e9)})


SPEC = SimpleNamespace(folder=None, dtype="float32", accumulate="float32")


def test_a_problem_has_floors_on_a_known_platform(known, monkeypatch):
    found, lesser = floors_here("Test CPU", SPEC, ())
    assert found["one"].floor_us == pytest.approx(1000.0)
    assert lesser == {}
    monkeypatch.setattr(step, "platform_for_device", lambda name: None)
    assert floors_here("Test CPU", SPEC, ()) == ({}, {})


def test_it_has_none_without_a_database(known, monkeypatch):
    def fails(name):
        raise OperationalError("no such table")

    monkeypatch.setattr(step, "platform_for_device", fails)
    assert floors_here("Test CPU", SPEC, ()) == ({}, {})
