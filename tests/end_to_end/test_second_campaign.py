"""Two campaigns in a row on this CPU, judged for real: the second begins where the first ended."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from campaigns.models import Campaign
from knowledge.models import Adoption, Experience
from tests.end_to_end.answer import Run
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.django_db]

# What a busy machine may hide of the same kernel's gain.
NEARLY = 0.8


def accepted(campaign: Campaign) -> dict[int, float]:
    """Round → its gain over its incumbent as a ratio, of the accepted ones after the baseline."""
    rounds = campaign.rounds.filter(verdict__word="accepted").exclude(number=1)
    return {row.number: 1 + row.verdict.gain for row in rounds.order_by("number")}


def rounds_until(gains: dict[int, float], total: float) -> int:
    """The first round by which so much is gained; more than any campaign has where it never is."""
    gained = 1.0
    for number, gain in gains.items():
        gained *= gain
        if gained >= total:
            return number
    return 1000


def test_r38_the_second_reaches_the_best_of_the_first_in_half_of_its_rounds(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=4, burst_ms=2.0)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    wish = ["--problem", "softmax", "--backend", "cpp", "--rounds", "8"]
    for _ in range(2):
        answer = run("campaign", "run", "--local", *wish, "--no-baselines", "--json")
        assert answer.code == 0, answer.lines
    first, second = Campaign.objects.order_by("pk")
    total = math.prod(accepted(first).values())
    assert rounds_until(accepted(second), NEARLY * total) <= first.rounds.count() / 2
    adopted = Adoption.objects.filter(campaign=second.pk)
    assert set(adopted.values_list("entry__campaign", flat=True)) == {first.pk}
    assert Experience.objects.filter(campaign=first.pk).exclude(compiler="").exists()
