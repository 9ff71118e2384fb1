"""What counters, instructions and the search log say in the files of other systems."""

from __future__ import annotations

import json

import pytest

from campaigns.evaluator.contract import Function, MachineCode
from campaigns.trails.exporters.archive import trail_files
from campaigns.trails.importers import atrex, kernel_opt_skill, kernel_optimize
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db
CLASS = "memory cache: SMs at 6 %, memory at 83 %, DRAM at 10 %"
SPILLED = MachineCode(
    "nvdisasm", (Function("k", 9, {"local": 2, "global_load": 4}, widths={"global_load": {4: 4}}),)
)


def spilling() -> cast.Judge:
    return cast.Judge(code=SPILLED)


@pytest.fixture
def files(tmp_path):
    campaign = finished(
        tmp_path, [["time 50"], ["time 200"]], judge=spilling, kernel="transpose_naive",
        max_rounds=3,
    )  # fmt: skip
    return trail_files(campaign)


def test_r25_the_class_is_that_of_the_counters_and_not_of_the_roofline(files):
    told = json.loads(files["memory/v1.json"])["profile_evidence"]
    assert (told["tool_used"], told["bottleneck_type"]) == ("ncu", "memory_bound")
    assert told["bottleneck_class"] == "memory cache"
    assert CLASS in told["bottleneck_evidence"]
    assert told["findings"][0]["name"] == "uncoalesced_stores"
    assert told["metrics"]["dram_pct"] > 0
    # The round that was slower became no incumbent, so nothing was counted of its own kernel.
    for name, part in (
        ("plans/v1_plan.md", f"**Bottleneck:** {CLASS}"),
        ("v1/hypothesis.txt", f"Bottleneck: {CLASS}"),
        ("v1/ncu_summary.md", f"**Limited by:** {CLASS}"),
        ("v1/ncu_summary.md", "| uncoalesced_stores | sure | "),
        ("v1/ncu_details.md", "dram__bytes_read.sum"),
        ("v2/ncu_summary.md", "**Limited by:** not profiled"),
        ("rounds/round-2/summary.md", f"**Of the incumbent:** {CLASS}"),
        ("rounds/round-3/summary.md", "**Of this kernel:** not profiled"),
        ("baseline_report.md", f"Limited by: {CLASS}"),
    ):
        assert part.casefold() in files[name].casefold().replace("\\_", "_"), files[name]
    assert "v2/ncu_details.md" not in files


def test_where_nothing_was_counted_no_class_is_made_up(tmp_path):
    files = trail_files(finished(tmp_path, [["time 50"]], max_rounds=2))
    told = json.loads(files["memory/v1.json"])["profile_evidence"]
    assert (told["tool_used"], told["bottleneck_type"]) == ("", "not profiled")
    assert "findings" not in told
    assert "**Of this kernel:** not profiled" in files["rounds/round-2/summary.md"]
    assert "| N/A — not profiled | accepted |" in files["final_report.md"]


def test_r31_its_targets_stand_with_what_the_code_is(files):
    rows = json.loads(files["memory/v1.json"])["isa_metric_progress"]
    told = {row["metric"]: row for row in rows}
    spills, loads = told["spills"], told["wide_loads"]
    assert (spills["target"], spills["current"], spills["met"]) == (0, 2, False)
    assert (loads["target"], loads["current"], loads["wanted"]) == (0.8, 0.0, "at least")
    assert json.loads(files["memory/v2.json"])["isa_metric_progress"] == []
    assert "| spills | at most 0 | 2 | no | " in files["README.md"]


def test_r35_the_search_log_is_told(files):
    assert json.loads(files["memory/v1.json"])["search_log"] == [
        {"source": "gpu-wiki", "query": "copies", "finding": "none | needed", "actionability": ""}
    ]
    assert json.loads(files["memory/v0.json"])["search_log"] == []
    for name in ("plans/v1_plan.md", "rounds/round-2/summary.md"):
        assert "| gpu-wiki | copies | none \\| needed |" in files[name]


def test_those_who_read_the_files_back_read_these_too(files):
    found = atrex.read(files)
    assert [one.number for one in found.rounds] == [0, 1, 2]
    skill = kernel_opt_skill.read(files)
    (told,) = (claim for claim in skill.rounds[1].claims if claim.field == "bottleneck")
    assert CLASS in str(told.value)
    assert skill.rounds[1].rationale == "it may help"
    assert kernel_optimize.read(files).rounds[1].hypothesis == "it may help"
