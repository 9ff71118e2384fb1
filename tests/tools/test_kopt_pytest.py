"""A pull request's kernel is judged by a live server: what became slower fails, by its interval."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import Group, User

from campaigns.api.submissions import SubmissionSerializer
from knowledge.curation.tokens import new_token
from tests.browser import conftest as browser
from tests.campaigns.sample import build_sample
from tools.kopt_pytest import KernelResult, NotJudged, Server

ROOT = Path(__file__).parents[2]
# Rounds of the sample: what each shows against its incumbent.
FASTER, SAME, SLOWER = 2, 4, 5

static_root = browser.static_root
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def served(live_server, monkeypatch, tmp_path):
    """A server whose campaign answers with one of its verdicts; the environment that names it."""
    monkeypatch.setattr("campaigns.api.submissions.notify", lambda *asked: None)
    # The sample takes from people alone.
    monkeypatch.setattr("campaigns.steps.rounds.submit.closed_to", lambda *asked: "")
    campaign = build_sample(rounds=6, running=True)
    person = User.objects.create_user("ada")
    person.groups.add(Group.objects.get(name="engineer"))
    kernel = tmp_path / "softmax.cu"
    environment = {
        "PATH": os.environ["PATH"],
        "KOPT_URL": live_server.url,
        "KOPT_TOKEN": new_token(person, "ci", ["submit"])[1],
        "KOPT_CAMPAIGN": str(campaign.pk),
        "KOPT_KERNEL": str(kernel),
        "KOPT_TITLE": "From a pull request",
        "KOPT_MINUTES": "1",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_ACTION_PATH": str(ROOT),
    }

    def become(number):
        monkeypatch.setattr(SubmissionSerializer, "get_round", lambda self, row: number)
        kernel.write_text(f'extern "C" void solve(float* x, float* y, int N) {{}} // {number}\n')
        return environment | {"KOPT_TITLE": f"Idea {number}"}

    return become


def run(command, environment, **more):
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False, **more
    )


def test_the_action_fails_when_it_became_slower(served, tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    for number, code in ((FASTER, 0), (SAME, 0), (SLOWER, 5)):
        environment = served(number)
        assert {name for name in step["env"] if name.startswith("KOPT_")} <= environment.keys()
        (tmp_path / "summary.md").unlink(missing_ok=True)
        for _ in range(2):  # a job that is run again gets the same answer
            done = run(["bash", "-c", step["run"]], environment)
            assert done.returncode == code, done.stderr
        summary = (tmp_path / "summary.md").read_text()
        assert summary.startswith(f"## [Round {number}: ")
        assert f"{environment['KOPT_URL']}/c/" in summary
        assert "against the incumbent" in done.stderr


def test_a_test_of_the_plugin_fails_when_it_became_slower(served, tmp_path):
    for number, code in ((SAME, 0), (SLOWER, 1)):
        environment = served(number) | {"PYTHONPATH": str(ROOT / "tools")}
        (tmp_path / "test_kernels.py").write_text(
            "def test_softmax(kopt):\n"
            f"    kopt.not_slower('softmax.cu', campaign={environment['KOPT_CAMPAIGN']},\n"
            f"                    title='Idea {number}')\n"
        )
        options = ["-p", "kopt_pytest", "-p", "no:cacheprovider", "-q"]
        done = run([sys.executable, "-m", "pytest", *options], environment, cwd=tmp_path)
        assert done.returncode == code, done.stdout
        assert ("[-6.66%, -6.22%]" in done.stdout) is (number == SLOWER), done.stdout


def test_what_the_server_refuses_is_told_by_its_field(served, capsys, tmp_path):
    environment = served(SAME)
    server = Server(environment["KOPT_URL"], environment["KOPT_TOKEN"])
    campaign = int(environment["KOPT_CAMPAIGN"])
    kernel = Path(environment["KOPT_KERNEL"])
    with pytest.raises(NotJudged, match="409: amount: "):
        server.judge(kernel, campaign, {"amount": "much"})
    with pytest.raises(NotJudged, match="404: id: "):
        server.judge(kernel, 10**6, {})
    with pytest.raises(NotJudged, match="No such file"):
        server.judge(tmp_path / "other.cu", campaign, {})
    with pytest.raises(NotJudged, match="401: Authorization: "):
        Server(environment["KOPT_URL"], "wrong").judge(kernel, campaign, {})


def test_it_waits_no_longer_than_it_was_told(served):
    environment = served(None)
    waits = []
    server = Server(environment["KOPT_URL"], environment["KOPT_TOKEN"], pause=waits.append)
    kernel = Path(environment["KOPT_KERNEL"])
    with pytest.raises(NotJudged, match="waits for its round, and no time is left"):
        server.judge(kernel, int(environment["KOPT_CAMPAIGN"]), {}, minutes=0.005)
    assert waits


@pytest.mark.parametrize(
    ("verdict", "ends", "is_worse"),
    [
        ("accepted", (0.1, 0.2), False),
        ("no_change", (-0.01, 0.01), False),
        ("rejected", (-0.03, 0.001), False),
        ("rejected", (-0.03, -0.001), True),
        ("needs_review", (0.1, 0.2), False),
        ("invalid", (0.1, 0.2), True),
        ("not_judged", None, True),
        ("rejected", None, True),
    ],
)
def test_slower_is_an_interval_below_zero_never_a_point(verdict, ends, is_worse):
    gain = ends and {"gain": sum(ends) / 2, "low": ends[0], "high": ends[1], "pairs": 9}
    found = KernelResult(verdict, "why", gain, "")
    assert found.is_worse is is_worse
    assert found.sentence


def test_without_a_server_it_says_what_is_missing(tmp_path):
    command = [sys.executable, "tools/kopt_pytest.py", "x.cu", "--campaign", "1"]
    done = run(command, {"PATH": os.environ["PATH"]}, cwd=ROOT)
    assert done.returncode == 1
    assert "KOPT_URL, KOPT_TOKEN: not set" in done.stderr
