"""One campaign from its start to its verdicts, judged for real on this CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.models import Campaign, Round, RoundState
from tests.end_to_end.answer import Run
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.sentinel, pytest.mark.django_db]

# Twice the work that is needed, which no compiler leaves out.
WASTEFUL = """
extern "C" void solve(const float* x, float* y, int N) {
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < N; ++i) ((volatile float*)y)[i] = 2 * ((const volatile float*)x)[i];
}
"""


def test_it_judges_every_round_of_a_campaign(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=4)  # two pairs a block, and a verdict needs five
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    problem = small.write_problem(tmp_path, small.TOML.replace("4096", "65536"))
    (problem / "v0.cpp").write_text(WASTEFUL)
    wish = ["--problem", str(problem), "--backend", "cpp", "--rounds", "2"]
    answer = run("campaign", "run", "--local", *wish, "--no-baselines", "--json")
    assert answer.code == 0, answer.lines
    assert answer.data["state"] == "done"
    campaign = Campaign.objects.get()
    rounds = Round.objects.filter(campaign=campaign)
    assert [round_.state for round_ in rounds.order_by("number")] == [RoundState.CLOSED] * 2
    assert all(round_.verdict.reason for round_ in rounds)
    assert campaign.incumbent is not None
