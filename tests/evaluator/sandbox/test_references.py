"""A hostile reference reads, writes, sends and kills nothing, through whichever door it comes."""

from __future__ import annotations

import html
import json
import signal

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from campaigns.devices import problem_code
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.files import dump
from campaigns.evaluator.problem_code import ask
from campaigns.evaluator.sandbox.layers import Layer
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.models import Problem
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope
from tests.campaigns.problems.import_.sources import CPP, RELU
from tests.campaigns.views.test_import_problem import TUNING
from tests.evaluator import small
from tests.evaluator.sandbox import hosts
from tests.evaluator.sandbox.reference_attack import SECRET, target

NOTHING = "it reached []"


@pytest.fixture
def attacked(tmp_path, monkeypatch):
    """A target that has to be unhurt afterwards; its secrets are in this process's environment."""
    for name in ("DATABASE_URL", "KOPT_BROKER_URL", "SECRET_KEY"):
        monkeypatch.setenv(name, SECRET)
    with target(tmp_path) as found:
        yield found
        found.assert_unhurt()


@pytest.fixture
def engineer(db, client):
    """One that the client is logged in as."""
    person = User.objects.create_user("grace")
    person.groups.add(Group.objects.get(name="engineer"))
    client.force_login(person)
    return person


@pytest.fixture
def hostile(attacked, tmp_path):
    """A problem folder whose `ref.py` attacks first."""
    return small.write_problem(tmp_path, ref=attacked.source + small.REF)


def test_the_attack_reaches_what_nothing_encloses(tmp_path):
    """Else the tests below could not fail."""
    with target(tmp_path) as found:
        with pytest.raises(RuntimeError, match="it reached") as caught:
            exec(compile(found.source, "ref.py", "exec"), {})
        for name in ("database", "send", "shell", "kill"):
            assert name in str(caught.value)
        assert found.heard
        assert found.victim.wait(5) == -signal.SIGKILL
        assert found.marks()
        for mark in found.marks():
            mark.unlink()


def test_in_an_evaluation(service, hostile, tmp_path):
    report = service.evaluate(small.job(hostile, tmp_path, small.source()))
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.problem_fault
    assert NOTHING in report.reason
    assert "socket" in report.environment["refused to ref.py"]


@pytest.mark.parametrize("function", ["setup", "reference", "work"])
def test_within_each_function_of_it(attacked, tmp_path, service, function):
    attack = attacked.source.replace("raise RuntimeError", "def attack(): raise RuntimeError")
    ref = attack + small.REF + f"\ndef {function}(*more, **given):\n    attack()\n"
    folder = small.write_problem(tmp_path, ref=ref)
    if function == "work":
        with pytest.raises(problem_code.ProblemError, match="it reached"):
            problem_code.work_model(folder, [small.job(folder, tmp_path, small.source()).cases[0]])
        return
    report = service.evaluate(small.job(folder, tmp_path, small.source()))
    assert NOTHING in report.reason


@pytest.mark.parametrize("verb", ["show", "check"])
def test_by_command(hostile, verb):
    with pytest.raises(CommandError) as caught:
        call_command("problem", verb, str(hostile))
    assert NOTHING in str(caught.value)


def test_by_page(attacked, client, engineer):
    given = {
        "file_name": "relu.cpp",
        "kernel": CPP,
        "reference": attacked.source + RELU,
        "calls": "Relu()(torch.randn(8, 16))",
    }
    answer = client.post("/p/new", given)
    assert answer.status_code == 422
    assert NOTHING in html.unescape(answer.content.decode())
    assert not Problem.objects.exists()


def test_by_imported_files(attacked, client, engineer):
    files = {**TUNING, "ref.py": attacked.source + TUNING["ref.py"]}
    sent = [SimpleUploadedFile(name, text.encode()) for name, text in files.items()]
    answer = client.post("/p/import", {"files": sent})
    assert answer.status_code == 422
    assert NOTHING in html.unescape(answer.content.decode())
    assert not Problem.objects.exists()


def test_over_http(attacked, client, engineer):
    client.logout()
    bearer = {"Authorization": f"Bearer {new_token(engineer, 'agent', [Scope.RUN])[1]}"}
    given = {
        "file_name": "relu.cpp",
        "kernel": CPP,
        "reference": attacked.source + RELU,
        "calls": ["Relu()(torch.randn(8, 16))"],
    }
    answer = client.post("/api/v1/problems/", given, "application/json", headers=bearer)
    assert answer.status_code == 422
    assert NOTHING in json.dumps(answer.json()).replace('\\"', '"')


@pytest.mark.parametrize("layer", [Layer.NETWORK, Layer.MOUNTS])
def test_a_host_without_namespaces_refuses_it(plan, with_layers, layer):
    lacking = hosts.without(plan, layer, Layer.PROC, Layer.UID)
    report = with_layers(lacking, shipped=False)
    assert report.outcome is Outcome.BROKEN_HOST
    assert f"this host lacks {layer}, without which the code of a problem" in report.reason
    policy = Policy()
    policy._plans["cpu"] = lacking
    order = ask.ProblemOrder("works", "double", {}, (), shipped=False, limit_s=5)
    assert str(layer) in ask.answered(order, policy)["lacked"]


def test_the_judge_has_no_network_and_no_secret(judge):
    report = judge(small.source())
    assert report.environment["judge"] == "network, mounts, seccomp"
    assert SECRET not in dump(report)
