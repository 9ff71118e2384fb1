"""A person with a kernel of their own: problem, campaign, candidate and verdict in one browser.

A C++ kernel is judged for real on this CPU. Triton and CUDA are timed on GPUs: a host without one
says so, and how a worker is started. For Triton the rest of the way is walked with a stand-in for
the GPU's worker, which reads a time from the source. For CUDA it is walked without scripts.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService
from campaigns.models import Campaign
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from tests.browser.own_kernels import BIAS_GELU, RMS_NORM, ROW_NORM
from tests.campaigns import lab
from tests.campaigns.steps import cast
from tests.evaluator import small
from tests.kept_wiki import put_wiki

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The reference is run in a process of its own that starts torch, on a machine that may be busy.
LOOK_LIMIT_MS = 60_000
H200 = Device(
    kind="gpu",
    device="cuda:0",
    name="NVIDIA H200",
    platform_slug="h200-sxm",
    target="sm_90a",
    memory_bytes=141 << 30,
    uuid="GPU-stand-in",
)


@pytest.fixture(scope="module")
def service():
    with EvaluatorService() as running:
        yield running


def bring(seen, own):
    """From the empty first page to the form of a campaign on the kernel."""
    page = seen.page
    seen.open("/")
    page.get_by_role("link", name="Bring a kernel").click()
    page.fill("#given-kernel", own.kernel)
    page.fill("#given-reference", own.reference)
    page.click("#look")
    page.locator("#problem-error").get_by_text("Example calls").wait_for()
    keep(page, own)


def keep(page, own):
    """With an example call the problem is shown as it would be kept, and kept."""
    page.fill("#given-call", own.call)
    page.click("#look", timeout=LOOK_LIMIT_MS)
    page.locator("#keep").wait_for()
    expect(page.locator("main")).to_contain_text(own.shape)
    page.click("#keep")
    page.wait_for_url(re.compile(r"/p/\d+/$"))
    page.get_by_role("link", name="New campaign").click()
    assert page.locator("#new-problem").input_value() == own.name


def begin(page):
    """A campaign of people alone, so that what they hand in waits for nothing else."""
    page.fill("#new-rounds_search", "0")
    page.click("#advanced summary")
    page.check("#new-no_baselines")
    page.click("#create")
    page.wait_for_url(re.compile(r"/c/\d+/$"))
    return Campaign.objects.get()


def measure(campaign, bench):
    """What a worker does until the campaign waits for a person."""
    while (now := cast.fresh(campaign)).state != "awaiting":
        assert not now.is_finished, now.stop_sentence
        cast.measure_all(campaign, bench)


def hand_in(page, campaign, own):
    """From the campaign's page, which has seen its baseline judged, to the round's."""
    page.locator("[data-awaiting]").wait_for()
    page.click("#to-hand-in")
    source = page.locator("#hand-source").input_value()
    assert own.old in source
    page.fill("#hand-source", source.replace(own.old, own.new))
    page.fill("#hand-title", "One sum a row")
    page.fill("#hand-change", "the sum is taken out of the loop over the row")
    page.fill("#hand-rationale", "it is the same for every element of the row")
    page.fill("#hand-amount", "40%")
    page.check("#hand-evidence_0")
    page.click("#do-hand-in")
    page.wait_for_url("**/submissions/*/")
    cast.step_until(campaign, "validate")
    page.wait_for_url(f"**/c/{campaign.pk}/r/2/")
    page.locator("#result[data-verdict=running]").wait_for()


def test_a_cpp_kernel_gets_its_verdict(enter, service, monkeypatch, settings):
    """Paste a kernel and its reference, be asked for a call, begin a campaign of people alone, hand
    in a better source, and read that it was measured to be faster.
    """
    protocol = replace(small.QUICK, blocks=4, burst_ms=2.0)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    # Other tests keep the host busy, and would have this one measure again until they end.
    settings.KOPT_GATE = "OFF"
    lab.write()
    bench = cast.make_bench(service)
    page = (seen := enter()).page
    bring(seen, ROW_NORM)
    campaign = begin(page)
    expect(page.locator("#controls")).to_contain_text("once round 1, the baseline, is judged")
    measure(campaign, bench)
    hand_in(page, campaign, ROW_NORM)
    measure(campaign, bench)
    page.locator("#result[data-verdict=accepted]").wait_for()
    expect(page.locator("#result")).to_contain_text("× faster")


def choose_a_gpu(page, update=lambda: None):
    """What a host without a GPU says, before and after a campaign is begun on one."""
    assert page.locator("#new-platform").input_value() == ""
    assert page.locator("#create").is_disabled()
    told = page.locator("[data-no-worker]").inner_text()
    assert "No worker here can time this kernel" in told
    page.select_option("#new-platform", "h200-sxm")
    update()
    page.get_by_text("No worker of NVIDIA H200 SXM is alive").first.wait_for()
    campaign = begin(page)
    expect(page.locator("[data-no-worker]")).to_be_visible()
    page.get_by_role("link", name="How to start one").click()
    expect(page.locator("#start")).to_contain_text("manage.py up --only measure")
    page.go_back()
    return campaign


def test_a_triton_kernel_waits_for_a_gpu_and_gets_its_verdict_there(enter):
    """The form and the campaign say that no worker can time it; once one does, the campaign's page
    asks for a candidate by itself, and the round's page shows its verdict.
    """
    put_wiki()
    page = (seen := enter()).page
    bring(seen, RMS_NORM)
    campaign = choose_a_gpu(page)
    bench = replace(
        cast.make_bench(cast.Judge(), device=H200),
        look=lambda device: DeviceCheck(DeviceState.IDLE, "a stand-in"),
    )
    measure(campaign, bench)
    hand_in(page, campaign, RMS_NORM)
    measure(campaign, bench)
    page.locator("#result[data-verdict=accepted]").wait_for()


def test_a_cuda_kernel_is_brought_as_files_without_scripts(enter, tmp_path):
    """Files take the place of pasted text, which the form then holds; the choices of a campaign are
    updated by a button. A host that cannot judge the kernel does not call it wrong: it says what a
    candidate waits for.
    """
    put_wiki()
    page = (seen := enter(java_script_enabled=False)).page
    kernel, reference = tmp_path / "bias_gelu.cu", tmp_path / "model.py"
    kernel.write_text(BIAS_GELU.kernel)
    reference.write_text(BIAS_GELU.reference)
    seen.open("/c/new")
    page.get_by_role("link", name="Bring your own kernel").click()
    page.set_input_files("#given-kernel-upload", kernel)
    page.set_input_files("#given-reference-upload", reference)
    page.click("#look")
    expect(page.locator("#problem-error")).to_contain_text("no call of bias_gelu")
    assert page.locator("#given-kernel").input_value().strip() == BIAS_GELU.kernel.strip()
    keep(page, BIAS_GELU)
    campaign = choose_a_gpu(page, lambda: page.click("#update"))
    seen.open(f"/c/{campaign.pk}/submit")
    told = page.locator("[data-closed]").inner_text()
    assert "accepted once its baseline, round 1, is judged" in told
    assert "No worker of NVIDIA H200 SXM is alive" in told
