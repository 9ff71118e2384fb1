"""An accepted kernel is measured against v0 again for real, and what it ran with is recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.environment import environment_of
from campaigns.devices.launch import EvaluatorService
from campaigns.models import Evaluation, SeriesEntry
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.series import queue_campaigns, sort_measured
from campaigns.steps.worker import WorkerContext, worker_beat
from tests.campaigns.steps import cast
from tests.evaluator import small

pytestmark = [pytest.mark.judged, pytest.mark.django_db]


def test_a_real_worker_measures_it_with_the_environment_that_is_looked_up_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: EvaluatorService
) -> None:
    """The campaign itself is judged by a fake, which reads a gain of 2× from a comment."""
    protocol = replace(small.QUICK, blocks=4)
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", protocol)
    device = this_device()
    script = cast.Script([[small.source(before="// time 50\n").text]])
    monkeypatch.setattr(
        "campaigns.steps.lifecycle.create_campaign.proposer_names", lambda: ("search",)
    )
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    worker = worker_beat("tester", device)
    wish = Wish(
        problem=small.write_problem(tmp_path),
        platform=worker.platform.slug,
        backend="cpp",
        policy=StopPolicy(max_rounds=2),
        seed=7,
        baselines=False,
    )
    made = create_campaign(wish)
    confirm(made)
    done = run_here(made.pk, WorkerContext(cast.Judge(), device, worker), lambda message: None)
    assert done.incumbent is not None, (done.state, [one.message for one in done.events.all()])
    assert done.incumbent.round.number == 2, done.stop_sentence
    (queued,) = queue_campaigns([done.pk], "asked for")
    assert evaluate(queued.pk, WorkerContext(service, device, worker)) == done
    found = Evaluation.objects.get(pk=queued.pk)
    # A busy host may be no clock.
    assert found.outcome in ("passed", "broken_host"), found.reason
    looked_up = environment_of(device, "cpp")
    assert found.report["environment"]["compiler"] == looked_up["compiler"] != ""
    assert found.report["environment"]["torch"] == looked_up["torch"] != ""
    if found.outcome == "passed" and not found.void:
        sort_measured(found)
        # It is the same kernel twice, and not as fast as the fake said.
        assert SeriesEntry.objects.get().sort == "real"
