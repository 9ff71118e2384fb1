"""A module without a kernel: its campaign begins with what Inductor makes of it, on this CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.models import Campaign
from campaigns.problems.import_.draft import Given
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.proposers.search.ideas import FIRST
from campaigns.steps.problems import written_files
from tests.end_to_end.answer import Run
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.sentinel, pytest.mark.django_db]

# Eagerly six operators, each of which moves everything.
MODULE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, residual):
        return torch.nn.functional.gelu(x * 1.5 + 0.5, approximate="tanh") * 0.5 + residual


rows = 512


def get_inputs():
    return [torch.randn(rows, 1024), torch.randn(rows, 1024)]


def get_init_inputs():
    return []
"""


def test_it_accepts_a_first_kernel(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=4, limits=replace(small.QUICK.limits, call_s=20))
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    draft = propose(Given("", "", reference_file="model.py", reference=MODULE, name="gelu"))
    folder = written_files(written(draft), tmp_path)
    wish = ["--problem", str(folder), "--backend", "cpp", "--rounds", "2"]
    answer = run("campaign", "run", "--local", *wish, "--no-baselines", "--json")
    campaign = Campaign.objects.get()
    told = [event.message for event in campaign.events.all()]
    assert answer.code == 0, told
    first = campaign.rounds.get(number=2)
    assert first.hypothesis["strategy"] == FIRST
    assert campaign.incumbent == first.chosen, told
    assert "// Made by torch Inductor" in campaign.incumbent.text
