"""The target panel: the goal in words, the ridges with their sources, and what weakens both."""

import json
from dataclasses import asdict, replace
from unittest import mock

import pytest
from django.urls import reverse
from django.utils.html import escape

from campaigns.evaluator.contract.files import load_report
from campaigns.models import Campaign
from campaigns.models.transitions import claim
from campaigns.records.campaigns import target_of
from campaigns.templatetags.campaign_parts import gate_citation
from knowledge.specs.cited import Cited
from tests.campaigns.sample import build_sample
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign


def body(page, campaign, name="campaign"):
    if name == "campaign":
        return whole_campaign(page, campaign)
    return page.get(reverse(name, args=[campaign.pk])).content.decode()


@pytest.mark.parametrize("name", ["campaign", "report_file"])
def test_r6_it_states_the_goal_and_that_of_each_case(page, sample, name):
    found = body(page, sample, name)
    assert "90 % of what the ceilings allow, as geometric mean over 2 cases" in found
    assert "time_us ≤ 31.1 µs, 90 % of the documented peak: 134 MB ÷ 4.8 TB/s" in found


@pytest.mark.parametrize("name", ["campaign", "report_file"])
def test_r4_it_shows_every_ridge_with_its_arithmetic_and_both_sources(page, sample, name):
    found = body(page, sample, name)
    dram = found.split('data-ridge="float32 dram"')[1].split("</tr>")[0]
    assert "67 TFLOPS ÷ 4.8 TB/s = 14.0 op/B" in dram
    assert "peak_fp32: 67 TFLOPS &lt;- &lt;gpu-wiki&gt;/docs/hardware/h200-sxm.md:L" in dram
    assert "memory_bandwidth: 4.8 TB/s &lt;- &lt;gpu-wiki&gt;/docs/hardware/h200-sxm.md:L" in dram
    assert ("href" in dram) == (name != "report_file")
    cache = found.split('data-ridge="float32 cache"')[1].split("</tr>")[0]
    assert "UNKNOWN (gpu-wiki not found)" in cache
    assert "cache bandwidth: UNKNOWN" in cache


def test_its_noise_floor_is_that_of_the_newest_round_that_was_timed(page, sample):
    words = "measured in round 1, v0 beside itself, because the worker has no noise passport"
    assert f'>1 %</data> <span class="sub">in round 10: {words}</span>' in body(page, sample)
    # Round 7 was wrong, so no floor was found for it.
    assert f'<span class="sub">in round 6: {words}</span>' in body(page, build_sample(rounds=7))


def test_it_shows_ridges_of_before_their_sources_were_kept(page, running):
    ridges = [{k: r[k] for k in ("dtype", "level", "text")} for r in running.target["ridges"]]
    claim(Campaign.objects.filter(pk=running.pk), target={**running.target, "ridges": ridges})
    assert "67 TFLOPS ÷ 4.8 TB/s = 14.0 op/B" in body(page, running)


def test_r5_it_says_beside_the_ceilings_that_the_host_was_busy(page, running):
    busy = Cited("host_busy_share", 0.27, "ratio", "measured", "cited", "/w/", "0.27 ratio")
    for value, said in ((busy, True), (replace(busy, value=0.05), False)):
        target = {**running.target, "busy_share": asdict(value)}
        claim(Campaign.objects.filter(pk=running.pk), target=target)
        assert ("Others took 27 % of the host" in body(page, running)) == said
        assert ("data-busy" in body(page, running)) == said


def test_it_asks_for_a_new_measurement_of_a_ceiling_that_a_kernel_went_beyond(page, running):
    def with_floor(evidence, factor):
        case = running.target["cases"]["4096x4096"]
        limit = {**asdict(cast.BANDWIDTH), "evidence": evidence}
        cases = {"4096x4096": {**case, "floor_us": case["floor_us"] * factor, "bandwidth": limit}}
        claim(Campaign.objects.filter(pk=running.pk), target={**running.target, "cases": cases})
        return body(page, running)

    assert "data-low-ceiling" not in with_floor("measured", 1)
    assert "data-low-ceiling" not in with_floor("documented", 10)
    found = with_floor("measured", 10)
    assert 'data-low-ceiling="copy_bandwidth"' in found
    assert "of the measured copy bandwidth 10 GB/s on 4096x4096 with proven results" in found


@pytest.mark.parametrize("name", ["round_tab", "report", "report_file"])
def test_r4_it_shows_how_the_work_is_split_and_that_it_decides_nothing(page, sample, name):
    best = sample.incumbent.round
    evaluation = best.verdict.evaluation
    facts = evaluation.report
    for case in facts["cases"]:
        case["candidate"]["launch"] = {
            "kernels": 1, "grid": [512, 1, 1], "block": [256, 1, 1], "registers": 32,
            "shared_bytes": 0, "occupancy_percent": 25,
        }  # fmt: skip
    # The row is sealed, so the page is given the facts as they would have been stored.
    with mock.patch("campaigns.models.Evaluation.facts", load_report(json.dumps(facts))):
        args = [sample.pk, best.number, "profile"] if name == "round_tab" else [sample.pk]
        found = page.get(reverse(name, args=args)).content.decode()
    row = found.split('data-split="4096x4096"')[1].split("</tr>")[0]
    assert "512 blocks on 132 SMs × 2 = 1.94 waves, 2 full: ×1.03" in row
    assert "28.0 µs × 1.03 = 28.8 µs" in row
    assert "N/A: the bytes of a block are known only for a matrix product" in row
    assert "never the physical floor and no ground of a verdict" in found


def test_law_6_it_links_both_floors_of_a_changed_precision(sample):
    ceilings = (*sample.target["compute"], *sample.target["lesser"])
    cited = [
        next(c for c in ceilings if c["citation"].startswith(metric))
        for metric in ("peak_fp32: 67 TFLOPS <- ", "peak_fp16_tensor_dense: 989 TFLOPS <- ")
    ]
    both = "\n".join(c["citation"] for c in cited)
    target = target_of(sample)
    written = gate_citation({}, both, target)
    for c in cited:
        assert f'href="{c["href"]}"' in written
        assert f"{escape(c['citation'])}</a>" in written
    assert gate_citation({}, both, target, is_file=True) == escape(both).replace("\n", "<br>")
