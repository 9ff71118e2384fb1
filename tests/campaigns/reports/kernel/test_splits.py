"""How a candidate's launch becomes waves, a bound and a tile's intensity (R4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import (
    CaseReport,
    KernelLaunch,
    Outcome,
    Phase,
    Report,
    Source,
    Timer,
    Timing,
)
from campaigns.models import Campaign, Case, Problem, Protocol
from campaigns.problems.shipped import problem_folder
from campaigns.records.campaigns import target_of
from campaigns.reports.kernel.splits import NO_LAUNCH, NO_TILE, splits_of
from campaigns.rules.target.ceilings import CaseTarget
from knowledge.models import Platform
from tests.kept_wiki import put_wiki

pytestmark = pytest.mark.django_db

LAUNCH = KernelLaunch(1, (16, 16, 1), (128, 1, 1), 64, 49152, 13)
NAME = "1024x1024x1024"
V0 = Source("v0.py", (problem_folder("matmul") / "v0.py").read_text())


def report(launch):
    timing = Timing((10.0,) * 10, 64, 8, Timer.GRAPH, device_us=9.9, launch=launch)
    case = CaseReport(NAME, True, 5, candidate=timing)
    return Report("j", Outcome.PASSED, Phase.DONE, "", (case,))


@pytest.fixture
def campaign(db):
    """A campaign of a matrix product, which needs no more than its rows."""
    put_wiki()

    def make(op="matmul", platform="h200-sxm", backend="triton"):
        problem = Problem.objects.create(
            slug="p", digest=op, title="P", op=op, dtype="float32", files={}, backends={},
            tolerance={},
        )  # fmt: skip
        params = {"M": 1024, "N": 1024, "K": 1024}
        Case.objects.create(problem=problem, name=NAME, params=params, ordinal=0)
        return Campaign.objects.create(
            title="C", problem=problem, platform=Platform.objects.get(slug=platform),
            protocol=Protocol.objects.create(digest=op, rules={}), backend=backend,
            cases=[NAME], seed=1,
        )  # fmt: skip

    return make


def split(campaign, launch=LAUNCH, source=V0):
    placed = CaseTarget(2.0 * 1024**3, 12 * 1024**2, NAME, "compute", 32.0, 36.0)
    target = replace(target_of(campaign), cases={NAME: placed})
    found = splits_of(campaign, report(launch), source, target)
    (only,) = found.cases
    return only, found.units


def test_r4_it_counts_waves_on_the_cited_number_of_units(campaign):
    only, units = split(campaign())
    # 13 % of 2048 threads are two blocks of 128.
    assert only.waves == (
        "256 blocks on 132 SMs × 2 = 0.970 waves, 1 full: ×1.03 (2 on the busiest SM, 1.94 if even)"
    )
    assert units.citation.startswith("sm_count: 132 SM <- <gpu-wiki>/docs/hardware/h200-sxm.md:L")
    assert only.time == "32.0 µs × 1.03 = 33.0 µs"
    assert only.launch.startswith("grid 16 × 16 × 1, block 128 × 1 × 1, 64 registers a thread")


def test_r4_it_shows_the_intensity_of_a_tile_that_the_source_names(campaign):
    only, _ = split(campaign())
    assert only.tile == "64 × 64 outputs: 15.5 op/B in one tile"


def test_it_says_why_there_is_no_tile(campaign):
    made = campaign()
    few = replace(LAUNCH, grid=(100, 1, 1))
    assert split(made, few)[0].tile == (
        "N/A: 64 × 64 makes 256 tiles, and 100 blocks were launched"
    )
    plain = Source("v0.py", "def run_kernel(): pass")
    assert "names no tile (BLOCK_M/BLOCK_N or TILE)" in split(made, source=plain)[0].tile
    assert split(campaign("softmax"))[0].tile == NO_TILE


def test_it_says_that_no_launch_was_seen(campaign):
    only, _ = split(campaign(), None)
    assert (only.launch, only.waves, only.time) == (NO_LAUNCH, NO_LAUNCH, "")
    assert only.tile == "64 × 64 outputs: 15.5 op/B in one tile"


def test_it_says_once_why_no_case_has_anything_to_tell(campaign):
    made = campaign("softmax")
    timed = report(None)
    twice = replace(timed, cases=(timed.cases[0], replace(timed.cases[0], case="other")))
    found = splits_of(made, twice, V0, target_of(made))
    assert len(found.cases) == 2
    reasons = [words.removeprefix("N/A: ") for words in (NO_LAUNCH, NO_TILE)]
    assert list(found.nothing) == reasons
    assert splits_of(made, report(LAUNCH), V0, target_of(made)).nothing == ()


def test_it_says_what_the_platform_lacks(campaign):
    made = campaign(platform="b200")
    assert split(made)[0].waves == "256 blocks; number of units: UNKNOWN (gpu-wiki not found)"
    whole = campaign("softmax")
    unsaid = replace(LAUNCH, occupancy_percent=None)
    assert split(whole, unsaid)[0].waves.endswith(
        "how many run at once: UNKNOWN (gpu-wiki not found)"
    )


def test_it_counts_the_units_of_one_die(campaign):
    assert "256 blocks on 110 CUs" in split(campaign(platform="mi250x"))[0].waves


def test_it_has_nothing_to_say_of_what_was_not_timed(campaign):
    made = campaign()
    assert splits_of(made, None, V0, target_of(made)).cases == ()
