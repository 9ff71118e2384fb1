"""An agent with a token brings a kernel, runs a campaign and is held to its rules, over HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from campaigns.devices.launch import EvaluatorService
from campaigns.models import Campaign, CampaignState
from campaigns.steps.worker import WorkerContext, choose_device, worker_beat
from knowledge.curation.tokens import new_token
from tests.end_to_end.answer import Run
from tests.end_to_end.test_hand_in import work
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.sentinel, pytest.mark.django_db]

# Some twenty times as slow, which no load hides.
SLOW = """
extern "C" void solve(const float* x, float* out, int N, int D) {
  for (int again = 0; again < 6; ++again)
    for (int d = 0; d < D; ++d)
      for (int n = 0; n < N; ++n) {
        volatile float value = x[n * D + d];
        out[n * D + d] = value < 0 ? 0.f : value;
      }
}
"""
FAST = """
extern "C" void solve(const float* x, float* out, int N, int D) {
  for (int i = 0; i < N * D; ++i) out[i] = x[i] < 0 ? 0.f : x[i];
}
"""
WRONG = FAST.replace("< 0 ?", "< 1 ?")
REFERENCE = "import torch\n\n\ndef relu(x):\n    return torch.relu(x)\n"
HYPOTHESIS = {
    "title": "Walk along the rows",
    "change": "the inner loop goes over columns",
    "rationale": "a row lies in one piece, so every byte of a cache line is used",
    "metric": "time_us",
    "direction": "down",
    "amount": "50%",
    "evidence": ["512x512"],
    "source": FAST,
}


@pytest.fixture
def agent(run: Run) -> Client:
    """A client with an agent's token. run: for the wiki and the ceilings of this host."""
    person = User.objects.create_user("ada")
    person.groups.add(Group.objects.get(name="engineer"))
    text = new_token(person, "night agent", ["run", "submit"], 7)[1]
    return Client(headers={"Authorization": f"Bearer {text}"}, enforce_csrf_checks=True)


def post(agent: Client, address: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    answer = agent.post(f"/api/v1/{address}", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_it_brings_a_kernel_and_improves_it_under_the_rules(
    agent: Client, service: EvaluatorService, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = replace(small.QUICK, blocks=6, burst_ms=4.0)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    given = {"file_name": "relu.cpp", "kernel": SLOW, "reference": REFERENCE}
    status, said = post(agent, "problems/", given)
    assert (status, said["field"]) == (422, "call")
    status, said = post(agent, "problems/", {**given, "calls": ["relu(torch.randn(512, 512))"]})
    assert (status, said["field"]) == (422, "call"), said  # N and D: which is which?
    call = "N, D = 512, 512; relu(torch.randn(N, D))"
    status, said = post(agent, "problems/", {**given, "calls": [call]})
    assert status == 201, said

    device = choose_device("tester")
    bench = WorkerContext(service, device, worker_beat("tester", device))
    wish = {"problem": "relu", "platform": bench.worker.platform.slug, "backend": "cpp"}
    wish |= {"proposers": "agent=2", "rounds": 6}
    status, said = post(agent, "campaigns/", {**wish, "no_baselines": True})
    assert status == 201, said
    campaign = Campaign.objects.get(pk=said["id"])
    own = f"campaigns/{campaign.pk}/candidates/"
    status, said = post(agent, own, HYPOTHESIS)
    assert status == 409, said  # nothing is measured yet, so there is no evidence
    work(campaign, bench, CampaignState.AWAITING)

    for name in ("rationale", "metric", "evidence", "source"):
        status, said = post(agent, own, {k: v for k, v in HYPOTHESIS.items() if k != name})
        assert (status, said["field"]) == (409, name)
    status, said = post(agent, own, {**HYPOTHESIS, "source": SLOW})
    assert (status, said["field"]) == (409, "source")
    status, said = post(agent, own, {**HYPOTHESIS, "verdict": "accepted"})
    assert (status, said["field"]) == (422, "verdict")

    status, said = post(agent, own, {**HYPOTHESIS, "source": WRONG})
    assert (status, said["kind"], said["name"]) == (201, "agent", "night agent")
    work(campaign, bench, CampaignState.REPAIR)
    found = agent.get(f"/api/v1/submissions/{said['id']}/").json()
    assert (found["round"], found["repair"]["outcome"]) == (2, "wrong_result")
    status, said = post(agent, f"campaigns/{campaign.pk}/repair/", {"source": None})
    assert status == 201, said
    work(campaign, bench, CampaignState.AWAITING)
    status, said = post(agent, own, HYPOTHESIS)
    assert (status, said["field"]) == (409, "change")
    assert "round 2" in said["message"]
    status, said = post(agent, own, {**HYPOTHESIS, "change": "rows outside, columns inside"})
    assert status == 201
    work(campaign, bench, CampaignState.IMPLEMENT)
    # Both of its rounds are used, and nobody else may propose.
    work(campaign, bench, CampaignState.DONE)
    assert [r.verdict.word for r in campaign.rounds.order_by("number")] == [
        "accepted",
        "rejected",
        "accepted",
    ]
    status, said = post(agent, own, {**HYPOTHESIS, "change": "once more"})
    assert (status, said["field"]) == (409, "campaign")
    status, _ = post(agent, f"campaigns/{campaign.pk}/stop/", {})
    assert status == 409
