"""`device passport` and `device passports`: take one here, ask a worker, read the history."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.discover import devices
from campaigns.devices.hold import hold
from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.models import Passport, Worker
from campaigns.steps.worker import card_of
from tests.campaigns.steps import cast
from tests.campaigns.views import test_workers

worker = test_workers.worker


@pytest.fixture
def judge(monkeypatch):
    """A fake judge in the place of the evaluator service of the command."""
    made = cast.Judge()

    class Service:
        def __enter__(self):
            return made

        def __exit__(self, *error):
            return None

    monkeypatch.setattr("campaigns.management.commands.device.EvaluatorService", Service)
    return made


def test_it_takes_a_passport_of_the_cpu_now(db, judge, capsys):
    call_command("device", "passport", "--device", "cpu", "--json")
    found = json.loads(capsys.readouterr().out)
    row = Passport.objects.get()
    assert (found["state"], found["passport"]["id"], row.why) == (
        "good",
        row.pk,
        "asked for by a command",
    )
    assert row.card == card_of(devices()[-1])
    assert Worker.objects.get().name == "local-passport"
    call_command("device", "passport", "--device", "cpu")
    said = capsys.readouterr().out
    assert "vector_add 16384" in said
    assert "noise floor 1 %" in said
    call_command("device", "passports", "--device", "cpu")
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == 2
    assert listed[0].endswith("asked for by a command: good")


def test_it_says_why_it_took_none(db, judge, capsys):
    judge.evaluate = lambda job, beat=None: Report(job.job_id, Outcome.CRASHED, Phase.LOAD, "no")
    with pytest.raises(CommandError, match="vector_add, cpp: crashed: no"):
        call_command("device", "passport", "--device", "cpu")
    with hold(devices()[-1]), pytest.raises(CommandError, match="is held by process"):
        call_command("device", "passport", "--device", "cpu")
    with pytest.raises(CommandError, match="accepted on this host") as error:
        call_command("device", "passport", "--device", "cuda:99")
    assert error.value.returncode == 2


def test_it_asks_a_worker_by_name(db, worker, capsys):
    call_command("device", "passport", "--worker", "measure@box")
    assert Worker.objects.get(asked_at__isnull=False) == worker
    assert "asked measure@box" in capsys.readouterr().out
    with pytest.raises(CommandError, match=r"worker 'x': accepted: measure@box"):
        call_command("device", "passport", "--worker", "x")
    with pytest.raises(CommandError, match="a worker has one device"):
        call_command("device", "passport", "--worker", "measure@box", "--device", "cpu")


def test_the_list_says_how_each_passport_stands(db, worker, capsys):
    call_command("device", "list")
    assert "heartbeat 0 s ago; no noise passport yet" in capsys.readouterr().out
    test_workers.passport(worker, host={"driver": "old"})
    call_command("device", "list", "--json")
    (row,) = json.loads(capsys.readouterr().out)["workers"]
    assert row["passport"]["doubts"] == ["driver was old and is 580.1"]
