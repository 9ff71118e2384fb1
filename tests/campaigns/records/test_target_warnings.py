"""Gaps that block a target, and cautions that do not (R3, R5; law 1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.models import Campaign, CampaignState
from campaigns.records.missing_specs import missing_spec_of
from campaigns.steps.lifecycle.confirm import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from knowledge.exchange.importer import write_measured_document
from knowledge.models import Document, Flag, Spec
from tests.campaigns.steps import cast
from tests.kept_wiki import put_wiki

pytestmark = [pytest.mark.storage, pytest.mark.django_db]

TOML = """
schema = 1
name = "tiny"
title = "Tiny"
op = "copy"
dtype = "{dtype}"
accumulate = "{accumulate}"
[files]
triton = "v0.py"
[tolerance]
atol = 0
rtol = 0
[[case]]
name = "one"
params = {{ N = 1 }}
"""
MEASURED = (
    "evidence=measured | kind=measured | rank=preferred | source=measured on host a on 2026-11-01"
)


@pytest.fixture(autouse=True)
def wiki(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    put_wiki()
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.set_target.work_model", lambda folder, cases: {"one": cast.WORK}
    )


@pytest.fixture
def draft(tmp_path: Path):
    def make(platform: str, dtype: str = "float32", accumulate: str = "float32") -> Campaign:
        folder = tmp_path / "tiny"
        folder.mkdir()
        (folder / "problem.toml").write_text(TOML.format(dtype=dtype, accumulate=accumulate))
        (folder / "ref.py").write_text(cast.REF)
        (folder / "v0.py").write_text("")
        return create_campaign(Wish(folder, platform, "triton"))

    return make


def targeted(campaign: Campaign) -> Campaign:
    confirm(campaign)
    cast.step_until(campaign, CampaignState.BASELINE)
    return cast.fresh(campaign)


def measure(platform: str, *lines: str) -> None:
    specs = "\n".join(f"- {line} | {MEASURED}" for line in lines)
    text = f"# M\n\n## Platform\n\n- platform: {platform}\n\n## Specs\n\n{specs}\n"
    write_measured_document(f"docs/measured/{platform}.md", text)


@pytest.mark.parametrize(
    ("platform", "known"), [("gb200", "40 TFLOPS"), ("v100-sxm2", "7.8 TFLOPS")]
)
def test_law_1_it_blocks_float64_where_the_faster_unit_is_unknown(draft, platform, known) -> None:
    campaign = draft(platform, "float64")
    gap = missing_spec_of(campaign, "compute")
    assert gap.message == (
        "compute: UNKNOWN (gpu-wiki not found): no approved peak_fp64_tensor of "
        f"{platform}; there is no target. peak_fp64 {known} is known, but a faster unit may "
        "exceed it."
    )
    assert "FP64 rate of the matrix units" in gap.how_to_obtain
    target = targeted(campaign).target
    assert target["missing"] == ["compute"]
    assert "target_us" not in target["cases"]["one"]
    (pitfall,) = campaign.pitfalls.all()
    assert pitfall.message == gap.message


def test_law_1_it_asks_for_the_unknown_unit_and_for_no_slower_one(draft) -> None:
    block = "- platform: x-1\n- name: X\n- vendor: V\n- arch: A\n- kind: gpu\n- target: sm_99"
    unknown = "evidence=documented | kind=vendor | rank=normal | source=s | how=ask them"
    line = f"- peak_fp64_tensor: UNKNOWN | {unknown}"
    text = f"# X\n\n## Platform\n\n{block}\n\n## Specs\n\n{line}\n"
    write_measured_document("docs/measured/x-1.md", text)
    gap = missing_spec_of(draft("x-1", "float64"), "compute")
    assert "no approved peak_fp64_tensor of x-1; there is no target." in gap.message
    assert gap.how_to_obtain == "ask them"


def test_law_1_it_names_the_accumulation_that_nobody_has_stated(draft) -> None:
    gap = missing_spec_of(draft("rtx-5090", "float16", "float16"), "compute")
    assert "no approved peak_fp16_tensor_dense accumulate=float16 of rtx-5090" in gap.message


@pytest.mark.parametrize(
    ("accumulate", "peak"), [("float32", "165.2 TFLOPS"), ("float16", "330.3 TFLOPS")]
)
def test_r4_it_sets_the_target_by_the_accumulation_of_the_problem(draft, accumulate, peak) -> None:
    target = targeted(draft("rtx-4090", "float16", accumulate)).target
    assert [c["display"] for c in target["compute"]] == [peak]
    assert target["accumulate"] == accumulate
    assert target["ridges"][0]["text"].startswith(f"{peak} ÷ 1008 GB/s")


def test_it_targets_one_die_where_a_program_sees_one_die(draft) -> None:
    campaign = targeted(draft("mi250x", "bfloat16"))
    assert [c["display"] for c in campaign.target["bandwidth"]] == ["1.6 TB/s"]
    assert [c["display"] for c in campaign.target["compute"]] == ["191.5 TFLOPS"]
    assert not campaign.pitfalls.exists()


def test_it_says_where_only_the_whole_module_is_known(draft) -> None:
    campaign = targeted(draft("mi250x", "float32"))
    (pitfall,) = campaign.pitfalls.all()
    assert pitfall.kind == "whole_module"
    assert "peak_fp32_matrix 95.7 TFLOPS of mi250x is that of the whole module" in pitfall.message
    assert "per=GCD" in pitfall.how_to_obtain


def test_it_says_that_ceilings_come_from_another_card(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s")
    Document.objects.filter(path="docs/measured/h200-sxm.md").update(origin="shipped")
    campaign = targeted(draft("h200-sxm"))
    (pitfall,) = campaign.pitfalls.all()
    assert pitfall.kind == "measured_elsewhere"
    assert pitfall.message == (
        "copy_bandwidth: measured on another card of this model "
        "(measured on host a on 2026-11-01), not on this."
    )
    assert "wiki ceilings" in pitfall.how_to_obtain


def test_it_says_nothing_of_ceilings_that_were_measured_here(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s", "host_busy_share: 0.1 ratio")
    assert not targeted(draft("h200-sxm")).pitfalls.exists()


def test_r5_it_says_that_the_host_was_busy(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s", "host_busy_share: 0.27 ratio")
    (pitfall,) = targeted(draft("h200-sxm")).pitfalls.all()
    assert pitfall.kind == "busy_host"
    assert "Others took 27 % of the host's CPU time" in pitfall.message
    assert "host_busy_share: 0.27 ratio <- <gpu-wiki>/docs/measured/h200-sxm.md" in pitfall.message


def test_law_6_a_slow_library_is_no_ceiling_of_the_device(draft) -> None:
    campaign = targeted(draft("h200-sxm", "int8"))
    (case,) = campaign.target["cases"].values()
    assert case["compute"]["metric"] == "peak_int8_tensor_dense"
    assert campaign.target["compute"][0]["display"] == "909.3 TFLOPS"
    (pitfall,) = campaign.pitfalls.filter(kind="below_peak")
    assert pitfall.message.startswith(
        "matmul_throughput 909.3 TFLOPS is 45.9 % of the documented peak_int8_tensor_dense"
    )


def test_law_6_a_normal_measured_rate_stays_the_ceiling(draft) -> None:
    campaign = targeted(draft("h200-sxm", "bfloat16"))
    (case,) = campaign.target["cases"].values()
    assert case["compute"]["display"] == "783.1 TFLOPS"
    assert case["bandwidth"]["display"] == "4.276 TB/s"
    assert not campaign.pitfalls.filter(kind="below_peak").exists()


def test_law_1_it_says_that_a_citation_is_flagged(draft) -> None:
    spec = Spec.objects.preferred().get(platform__slug="h100-pcie", metric="memory_bandwidth")
    Flag.objects.create(spec=spec, kind="changed", note="it reads otherwise")
    Flag.objects.create(spec=spec, kind="same_citation")
    campaign = targeted(draft("h100-pcie"))
    assert campaign.target["state"] == "known"
    (pitfall,) = campaign.pitfalls.all()
    assert (pitfall.kind, pitfall.words) == ("flagged", "citation is flagged")
    assert "The citation of memory_bandwidth is flagged: changed." in pitfall.message
    assert "memory_bandwidth of h100-pcie" in pitfall.how_to_obtain
