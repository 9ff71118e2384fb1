"""`campaign` and `round`: what they print, and how they refuse."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.discover import Device
from campaigns.lineage.repository import repository_of
from campaigns.management.base_command import ExitCode
from campaigns.models import Campaign, CampaignState
from knowledge.curation.projects import new_project
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings
from knowledge.models import WorkKind, project_of
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast
from tests.kept_wiki import put_wiki

pytestmark = pytest.mark.django_db


class Service(cast.Judge):
    """The fake judge in the place of the evaluator service."""

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "campaigns.management.commands.campaign"
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(
        "campaigns.steps.rounds.propose.proposer", lambda name: cast.Script([["time 50"]])
    )
    monkeypatch.setattr(f"{command}.EvaluatorService", Service)
    monkeypatch.setattr(f"{command}.this_device", lambda: cast.DEVICE)
    monkeypatch.setattr(f"{command}.choose_device", lambda worker: cast.DEVICE)
    monkeypatch.setattr(f"{command}.prepare_database", lambda tell: None)
    monkeypatch.setattr(f"{command}.prepare_platform", prepared)


def prepared(device: Device, tell: Callable[[str], None], *, always_measured: bool) -> Any:
    return cast.make_platform()


@pytest.fixture
def tiny(tmp_path: Path) -> list[str]:
    cast.make_platform()
    return ["--problem", str(cast.write_problem(tmp_path)), "--backend", "cpp"]


@pytest.fixture
def done(tmp_path: Path) -> Campaign:
    return finished(tmp_path, [["time 50"]], proposers="search,person")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def refusal(*arguments: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        call_command(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.returncode, str(caught.value)


def test_it_runs_a_whole_campaign_here_and_prints_its_result(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "campaign", "run", "--local", *tiny, "--rounds", "3")
    assert found["gain"] == pytest.approx(1.0, rel=0.01)
    assert found["gain_low"] <= found["gain"] <= found["gain_high"]
    expected = {"state": "done", "stop_reason": "no_ideas_left", "rounds": 2, "incumbent_round": 2}
    assert {name: found[name] for name in expected} == expected
    assert found["campaign"] == Campaign.objects.get().pk


def test_it_creates_a_confirmed_campaign_or_a_draft(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, "campaign", "new", *tiny)["state"] == CampaignState.CONFIRMED
    draft = answer(capsys, "campaign", "new", *tiny, "--draft")
    assert draft["state"] == CampaignState.DRAFT
    assert answer(capsys, "campaign", "confirm", str(draft["campaign"]))["state"] == "confirmed"
    assert len(answer(capsys, "campaign", "list")) == 2
    assert answer(capsys, "campaign", "list", "--state", "done") == []


H20 = ("--problem", "softmax", "--platform", "h20", "--backend", "cuda")


def test_law_1_it_starts_nothing_whose_target_is_unknown(
    db: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_wiki()
    for ask in (bandwidth_ceilings, compute_ceilings):
        monkeypatch.setattr(f"campaigns.records.target.ceilings.{ask.__name__}", ask)
    code, message = refusal("campaign", "new", *H20)
    assert code == ExitCode.NO_APPROVED_VALUE
    assert message.startswith("platform: bandwidth: UNKNOWN (gpu-wiki not found): no approved ")
    assert not Campaign.objects.exists()
    assert refusal("campaign", "run", *H20)[0] == ExitCode.NO_APPROVED_VALUE
    assert not Campaign.objects.exists()
    draft = answer(capsys, "campaign", "new", *H20, "--draft")["campaign"]
    assert refusal("campaign", "confirm", str(draft))[0] == ExitCode.NO_APPROVED_VALUE
    assert Campaign.objects.get().state == CampaignState.DRAFT


def test_law_1_a_run_here_without_ceilings_measures_nothing_and_stays_a_draft(
    tiny: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "campaigns.records.target.ceilings.bandwidth_ceilings", lambda platform, **_: []
    )
    code, message = refusal("campaign", "run", "--local", *tiny)
    assert code == ExitCode.NO_APPROVED_VALUE
    key = Campaign.objects.get(state=CampaignState.DRAFT).pk
    assert message.startswith(f"{key} stays a draft: platform: bandwidth: UNKNOWN")


def test_it_says_that_no_worker_is_alive_and_where_one_is_started(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("campaign", "new", *tiny)
    told = "No worker of Test CPU is alive: this campaign waits. `.venv/bin/python manage.py up` on"
    assert capsys.readouterr().err.startswith(told)
    call_command("campaign", "show", str(Campaign.objects.get().pk))
    assert told in capsys.readouterr().out


def test_it_begins_one_that_only_the_members_of_a_project_see(tiny: list[str]) -> None:
    made = new_project("Aurora", [], None)
    call_command("campaign", "new", "--project", "Aurora", *tiny)
    assert project_of(WorkKind.CAMPAIGN, Campaign.objects.get().pk) == made


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (["--project", "Boreas"], 1, "project: 'Boreas'; accepted: none yet"),
        (["--backend", "fortran"], 1, "backend: 'fortran' has no v0"),
        (["--platform", "h900"], 2, "platform: unknown platform 'h900'; accepted: "),
        (["--problem", "nothing"], 2, "problem: 'nothing'; accepted: "),
        (["--rounds", "500"], 1, "--rounds: 500; accepted: 1 to 119"),
        (["--hours", "-1"], 1, "--hours: -1.0; accepted: hours up to"),
        (["--device-hours", "nan"], 1, "--device-hours: nan; accepted: hours up to"),
        (["--goal", "900"], 1, "--goal: 900; accepted: 1 to 100 percent"),
        (["--own-kernel", "a b"], 1, "--own-kernel: "),
        (["--case", "three"], 1, "case: 'three'; accepted"),
    ],
)
def test_it_refuses_a_bad_wish_in_one_line(
    tiny: list[str], change: list[str], code: int, words: str
) -> None:
    found, message = refusal("campaign", "new", *tiny, *change)
    assert (found, words in message) == (code, True)
    assert not Campaign.objects.exists()


def test_it_knows_what_is_not_there_and_what_is_not_allowed(done: Campaign) -> None:
    assert refusal("campaign", "show", "999")[0] == 2
    assert refusal("round", "show", str(done.pk), "9")[0] == 2
    assert refusal("campaign", "stop", str(done.pk)) == (3, "campaign: is already done")


def test_it_pauses_resumes_and_stops(tmp_path: Path) -> None:
    key = str(cast.make_campaign(tmp_path).pk)
    call_command("campaign", "pause", key)
    assert Campaign.objects.get().state == CampaignState.PAUSED
    call_command("campaign", "resume", key)
    assert Campaign.objects.get().state == CampaignState.CONFIRMED
    call_command("campaign", "stop", key)
    assert Campaign.objects.get().state == CampaignState.ABORTED


def test_it_shows_a_campaign_and_its_rounds(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("campaign", "show", str(done.pk))
    text = capsys.readouterr().out
    assert "µs, 2.00× faster [2.00, 2.00] against v0 (" in text
    assert "n=10 pairs)" in text
    found = answer(capsys, "round", "show", str(done.pk), "2")
    assert found["verdict"]["verdict"] == "accepted"
    assert found["candidates"][0]["outcomes"][0]["outcome"] == "passed"
    call_command("round", "show", str(done.pk), "2")
    assert "aggregate" in capsys.readouterr().out


def test_it_compares_two_rounds_and_says_on_what_basis(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "round", "compare", str(done.pk), "1", "2")
    assert found["basis"] == "measured side by side at the end of the campaign"
    assert found["gain"]["gain"] == pytest.approx(done.result["gain"])
    assert [r["round"] for r in found["rounds"]] == [1, 2]
    same = answer(capsys, "round", "compare", str(done.pk), "2", "2")
    assert (same["basis"], same["gain"]) == ("a round compared with itself", None)


def test_it_watches_a_campaign_to_its_end(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("campaign", "watch", str(done.pk), "--json")
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [events[0]["kind"], events[-1]["kind"]] == ["created", "finished"]


def test_it_writes_the_report_into_one_file(done: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    call_command("campaign", "report", str(done.pk), "--out", str(out))
    assert "<html" in out.read_text()
    nowhere = str(tmp_path / "missing" / "report.html")
    assert refusal("campaign", "report", str(done.pk), "--out", nowhere)[0] == 1


def test_it_writes_the_trail_into_one_archive(done: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "trail.zip"
    call_command("campaign", "export", str(done.pk), "--out", str(out))
    with zipfile.ZipFile(out) as packed:
        assert any(name.endswith("/logs/performance_trend.md") for name in packed.namelist())
    nowhere = str(tmp_path / "missing" / "trail.zip")
    assert refusal("campaign", "export", str(done.pk), "--out", nowhere)[0] == 1


def test_r6_it_keeps_another_target_and_says_what_is_accepted(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = answer(capsys, "campaign", "new", "--platform", "test-cpu", "--draft", *tiny,
                  "--target", "time_us<=30")  # fmt: skip
    assert Campaign.objects.get(pk=made["campaign"]).goal["value"] == 30.0
    for wrong, words in (
        (["--target", "quick"], "accepted: 90% or ceiling:0.9"),
        (["--target", "90%", "--goal", "80"], "target and goal are both given"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("campaign", "new", "--platform", "test-cpu", *tiny, *wrong)
    assert Campaign.objects.count() == 1


def test_it_keeps_who_may_propose_and_says_what_is_accepted(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    wish = ["campaign", "new", "--platform", "test-cpu", "--draft", *tiny]
    usual = answer(capsys, *wish)
    assert usual["proposers"] == {"search": None, "person": None}
    made = answer(capsys, *wish, "--proposers", "search=5,person,agent=2")
    assert made["proposers"] == {"search": 5, "person": None, "agent": 2}
    assert refusal(*wish, "--proposers", "robot") == (
        1,
        "--proposers: 'robot'; accepted: search, person, agent, each alone or with its most "
        "rounds, such as agent=5",
    )


def test_it_shows_what_each_proposer_has_had(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = answer(capsys, "campaign", "show", str(done.pk))
    search, person = shown["by_proposer"]
    assert (search["rounds"], search["accepted"], person["rounds"]) == (1, 1, 0)
    assert shown["waiting"] == []
    call_command("campaign", "show", str(done.pk))
    assert "built-in search: rounds 1, accepted 1, " in capsys.readouterr().out


def test_r46_it_writes_the_accepted_rounds_as_commits(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = answer(capsys, "campaign", "show", str(done.pk))["commits"]
    shutil.rmtree(repository_of(done.pk))
    found = answer(capsys, "campaign", "lineage", str(done.pk))
    assert found["commits"] == shown
    assert [one["round"] for one in shown] == [1, 2]
    assert shown[1] == answer(capsys, "round", "show", str(done.pk), "2")["commit"]
    assert found["repository"] == str(repository_of(done.pk))
    assert repository_of(done.pk).is_dir()
    call_command("campaign", "lineage", str(done.pk))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"branch: {found['branch']}"
    assert lines[2:] == [f"{one['sha'][:12]}  {one['subject']}" for one in shown]


def test_it_makes_no_commits_of_a_draft(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = answer(capsys, "campaign", "new", *tiny, "--draft")
    found = answer(capsys, "campaign", "lineage", str(made["campaign"]))
    assert (found["repository"], found["commits"]) == (None, [])
    assert found["branch"].startswith("optimize/copy_cpp_")


def test_it_says_in_one_line_why_there_are_no_commits(
    done: Campaign, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal("campaign", "lineage", str(done.pk)) == (1, "git: no such program")
    assert refusal("campaign", "lineage", "99999")[0] == 2
