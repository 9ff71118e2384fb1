"""A wiki document of the test platform, and a campaign whose target rests on its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.models import Campaign, CampaignState
from campaigns.steps.lifecycle.run_here import run_here
from knowledge.exchange.importer import ImportOptions, take_files, write_measured_document
from knowledge.models import Spec
from tests.campaigns.steps import cast

PATH = "docs/test-cpu.md"
MEASURED = "evidence=measured | kind=measured | rank=preferred | source=probe"
TEXT = f"""# Test CPU

Written by a test.

## Platform

- platform: test-cpu
- name: Test CPU
- vendor: Test
- arch: x86-64
- kind: cpu
- target: native
- aliases: Test CPU

## Specs

- copy_bandwidth: 10 GB/s | {MEASURED}
- fma_throughput: 100 GFLOPS | dtype=float32 | {MEASURED}
"""


def write(text: str = TEXT, *, vouched: bool = False) -> None:
    """Import the document; an empty text takes it away."""
    texts = {PATH: text} if text else {"docs/other.md": "# Other\n"}
    take_files(texts, ImportOptions(origin="lab", vouched=vouched))


def give_ceilings(slug: str) -> None:
    """Ceilings of a platform for float32, so high that a real kernel is far from them."""
    head = f"# M\n\n## Platform\n\n- platform: {slug}\n\n## Specs\n\n"
    lines = f"- copy_bandwidth: 900 TB/s | {MEASURED}\n"
    lines += f"- fma_throughput: 900 TFLOPS | dtype=float32 | {MEASURED}\n"
    write_measured_document(f"docs/measured/{slug}.md", head + lines)


def revised(new: str) -> str:
    """The document with another bandwidth in it."""
    return TEXT.replace("10 GB/s", new)


def bandwidth(**which: object) -> Spec:
    return Spec.objects.get(metric="copy_bandwidth", **which)


def set_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """The document is stored, the work of each case known, the rest as the flow has it."""
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.set_target.work_model",
        lambda folder, cases: {case.name: cast.WORK for case in cases},
    )
    monkeypatch.setattr(
        "campaigns.steps.rounds.propose.proposer", lambda name: cast.Script([["time 50"]])
    )
    write()


def targeted(parent: Path) -> Campaign:
    """A campaign whose target is set: every case 10 µs at best by the document."""
    campaign = cast.make_campaign(parent)
    cast.step_until(campaign, CampaignState.BASELINE)
    return cast.fresh(campaign)


def finished(parent: Path) -> Campaign:
    """The same, run to its end."""
    campaign = cast.make_campaign(parent)
    return run_here(campaign.pk, cast.make_bench(cast.Judge()), lambda message: None)
