"""A manifest gives defaults: what fits exactly, each with its line, and what is not taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.rules.target.goal import parse_goal
from campaigns.trails.exporters.archive import trail_files
from campaigns.trails.importers.claims import TrailRefused
from campaigns.trails.importers.manifest import ManifestChoices, read_manifest
from tests.campaigns.sample import build_sample

KNOWN = ManifestChoices(
    problems={
        "softmax": ("softmax", ("512x1024", "1024x1024", "4096x4096")),
        "gemm_fp8": ("gemm", ("small", "large")),
        "gemm_bf16": ("gemm", ("small",)),
    },
    platforms={"h200-sxm": ("NVIDIA H200 SXM", "NVIDIA H200"), "mi355x": ("AMD MI355X", "MI355X")},
)
THEIRS = (Path(__file__).parent / "trails" / "optimize" / "manifest.yaml").read_text()


def values(found):
    return {option: default.value for option, default in found.defaults.items()}


def test_it_takes_what_fits_and_lists_the_rest():
    found = read_manifest("manifest.yaml", THEIRS, KNOWN)
    assert values(found) == {
        "problem": "gemm_fp8",
        "backend": "triton",
        "platform": "mi355x",
        "case": ["small", "large"],
        "rounds": 40,
    }
    assert found.defaults["problem"].place == "manifest.yaml:L2"
    left = {line.split(": ")[1] for line in found.left}
    assert {"target_lang", "primary_metric", "project_skill", "test_command", "created"} <= left


@pytest.mark.parametrize("goal", ["ceiling:0.85", "baseline:1.5", "time_us<=0.1", ">=3.2 TB/s"])
def test_our_own_manifest_makes_the_same_campaign_again(db, goal):
    sample = build_sample()
    sample.goal = parse_goal(goal).stored
    found = read_manifest("manifest.yaml", trail_files(sample)["manifest.yaml"], KNOWN)
    made = values(found)
    assert found.left == ()
    assert parse_goal(made["target"]) == parse_goal(goal)
    assert (made["problem"], made["backend"], made["platform"]) == ("softmax", "cuda", "h200-sxm")
    assert made["case"] == sample.cases
    assert made["rounds"] == sample.stop_policy["max_rounds"]


def test_a_target_and_a_guard_in_words_are_taken():
    text = THEIRS.replace("performance_target: null", 'performance_target: ">500 TFLOPS"')
    found = read_manifest("manifest.yaml", f"{text}guard: strict\n", KNOWN)
    assert values(found)["target"] == ">500 TFLOPS"
    assert values(found)["guard"] == "strict"
    with pytest.raises(TrailRefused, match="guard: 'lax'; accepted: default, strict"):
        read_manifest("manifest.yaml", f"{THEIRS}guard: lax\n", KNOWN)


@pytest.mark.parametrize(
    ("edit", "option", "why"),
    [
        (("gemm_fp8", "gemm"), "problem", "several fit; there is gemm_fp8, gemm_bf16"),
        (("gemm_fp8", "attention"), "problem", "none fits exactly; there is softmax"),
        (("TRITON", "CK"), "backend", "none fits exactly; there is cpp, cuda, triton"),
        (("MI355X", "MI300X"), "platform", "none fits exactly"),
        (("label: small", "label: tiny"), "case", "not all are cases of gemm_fp8"),
        (("target: null", "target: as fast as can be"), "target", "accepted"),
    ],
)
def test_nothing_is_guessed(edit, option, why):
    assert edit[0] in THEIRS
    found = read_manifest("manifest.yaml", THEIRS.replace(*edit, 1), KNOWN)
    assert option not in found.defaults
    assert any(why in line for line in found.left), found.left


@pytest.mark.parametrize("rounds", ["120", "0", "4000"])
def test_a_hundred_and_twenty_rounds_are_refused(rounds):
    text = THEIRS.replace("max_iterations: 40", f"max_iterations: {rounds}")
    said = rf"L20: max_iterations: {rounds}; accepted: 1 to 119, as a campaign has fewer than 120"
    with pytest.raises(TrailRefused, match=said):
        read_manifest("manifest.yaml", text, KNOWN)
