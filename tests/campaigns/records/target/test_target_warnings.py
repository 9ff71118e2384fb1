"""Gaps that block a target, and cautions that do not (R3, R5; law 1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from campaigns.models import Campaign, CampaignState
from campaigns.records.target.ceilings import missing_spec_of, pitfalls_of
from campaigns.steps.lifecycle.control import TargetUnknown, confirm, resume
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from knowledge.exchange.importer import write_measured_document
from knowledge.models import Document, Flag, Spec
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

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
def wiki(wiki_of_module: None, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(TargetUnknown) as caught:
        confirm(campaign)
    assert str(caught.value) == (f"platform: {gap.message} How to obtain it: {gap.how_to_obtain}.")
    assert cast.fresh(campaign).state == CampaignState.DRAFT


def test_law_1_nothing_is_measured_for_a_target_that_is_unknown(draft) -> None:
    campaign = draft("h20")
    with pytest.raises(TargetUnknown, match=r"no approved memory_bandwidth of h20.* peak_fp32"):
        confirm(campaign)
    assert not campaign.rounds.exists()


def test_law_1_it_asks_for_the_unknown_unit_and_for_no_slower_one(draft) -> None:
    block = "- platform: x-1\n- name: X\n- vendor: NVIDIA\n- arch: A\n- kind: gpu\n- target: sm_99"
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


@pytest.fixture
def timed_on_amd(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if workers could measure there: the values are the question here."""
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.TIMED_VENDOR", "AMD")


@pytest.mark.usefixtures("timed_on_amd")
def test_it_targets_one_die_where_a_program_sees_one_die(draft) -> None:
    campaign = targeted(draft("mi250x", "bfloat16"))
    assert [c["display"] for c in campaign.target["bandwidth"]] == ["1.6 TB/s"]
    assert [c["display"] for c in campaign.target["compute"]] == ["191.5 TFLOPS"]
    assert not pitfalls_of(campaign)


@pytest.mark.usefixtures("timed_on_amd")
def test_it_says_where_only_the_whole_module_is_known(draft) -> None:
    campaign = targeted(draft("mi250x", "float32"))
    (pitfall,) = pitfalls_of(campaign)
    assert pitfall.kind == "whole_module"
    assert "peak_fp32_matrix 95.7 TFLOPS of mi250x is that of the whole module" in pitfall.message
    assert "per=GCD" in pitfall.how_to_obtain


def test_it_says_that_ceilings_come_from_another_card(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s")
    Document.objects.filter(path="docs/measured/h200-sxm.md").update(origin="shipped")
    campaign = targeted(draft("h200-sxm"))
    (pitfall,) = pitfalls_of(campaign)
    assert pitfall.kind == "measured_elsewhere"
    assert pitfall.message == (
        "copy_bandwidth: measured on another card of this model "
        "(measured on host a on 2026-11-01), not on this."
    )
    assert "wiki ceilings" in pitfall.how_to_obtain


def test_it_says_nothing_of_ceilings_that_were_measured_here(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s", "host_busy_share: 0.1 ratio")
    assert not pitfalls_of(targeted(draft("h200-sxm")))


def test_r5_it_says_that_the_host_was_busy(draft) -> None:
    measure("h200-sxm", "copy_bandwidth: 4.1 TB/s", "host_busy_share: 0.27 ratio")
    (pitfall,) = pitfalls_of(targeted(draft("h200-sxm")))
    assert pitfall.kind == "busy_host"
    assert "Others took 27 % of the host's CPU time" in pitfall.message
    assert "host_busy_share: 0.27 ratio <- <gpu-wiki>/docs/measured/h200-sxm.md" in pitfall.message


def test_law_6_a_slow_library_is_no_ceiling_of_the_device(draft) -> None:
    campaign = targeted(draft("h200-sxm", "int8"))
    (case,) = campaign.target["cases"].values()
    assert case["compute"]["metric"] == "peak_int8_tensor_dense"
    assert campaign.target["compute"][0]["display"] == "948.2 TFLOPS"
    (pitfall,) = (one for one in pitfalls_of(campaign) if one.kind == "below_peak")
    assert pitfall.message.startswith(
        "matmul_throughput 948.2 TFLOPS is 47.9 % of the documented peak_int8_tensor_dense"
    )


def test_law_6_a_normal_measured_rate_stays_the_ceiling(draft) -> None:
    campaign = targeted(draft("h200-sxm", "bfloat16"))
    (case,) = campaign.target["cases"].values()
    assert case["compute"]["display"] == "783.7 TFLOPS"
    assert case["bandwidth"]["display"] == "4.274 TB/s"
    assert "below_peak" not in {one.kind for one in pitfalls_of(campaign)}


def flag(platform: str, metric: str, kind: str = "changed") -> Flag:
    spec = Spec.objects.preferred().get(platform__slug=platform, metric=metric)
    return Flag.objects.create(spec=spec, kind=kind, note="it reads otherwise")


@pytest.mark.parametrize("kind", ["changed", "lost", "source_missing"])
def test_law_1_a_stale_ceiling_blocks(draft, kind: str) -> None:
    flag("h200-sxm", "memory_bandwidth", kind)
    campaign = draft("h200-sxm")
    with pytest.raises(TargetUnknown) as caught:
        confirm(campaign)
    assert str(caught.value).startswith(
        "platform: bandwidth: UNKNOWN: the citation of memory_bandwidth of h200-sxm no longer "
        "holds; there is no target. How to obtain it: memory_bandwidth of h200-sxm was 4.8 TB/s, "
    )
    assert "<gpu-wiki>/docs/hardware/h200-sxm.md:L23; a curator answers" in str(caught.value)


def test_a_changed_value_under_a_kept_citation_is_for_review_and_blocks_nothing(draft) -> None:
    flag("h100-pcie", "memory_bandwidth", "same_citation")
    assert targeted(draft("h100-pcie")).target["state"] == "known"


def test_law_1_what_goes_stale_before_the_target_is_set_pauses_the_campaign(draft) -> None:
    campaign = draft("h100-pcie")
    confirm(campaign)
    gone = flag("h100-pcie", "memory_bandwidth")
    cast.step_until(campaign, CampaignState.PAUSED)
    assert (cast.fresh(campaign).target, campaign.rounds.count()) == ({}, 0)
    told = campaign.events.get(kind="target_unknown").message
    assert told.startswith("the target is UNKNOWN, so nothing is measured; platform: bandwidth: ")
    gone.answer, gone.answered_at = "typo_fix", timezone.now()
    gone.save()
    resume(cast.fresh(campaign))
    cast.step_until(campaign, CampaignState.BASELINE)
    assert cast.fresh(campaign).target["state"] == "known"
