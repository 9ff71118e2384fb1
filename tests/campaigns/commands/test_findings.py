"""`campaign` and `round`: the findings policy, and what was found, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from campaigns.models import Campaign
from campaigns.rules.verdict.finding_kinds import FindingKind
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

KEEPS = "// time 50\nstatic int kept = 0;\nvoid f() { std::thread t; }"
FORKS = "// time 50\nvoid f() { fork(); }"


@pytest.fixture(autouse=True)
def scene(monkeypatch: pytest.MonkeyPatch) -> None:
    cast.set_the_scene(monkeypatch)
    script = cast.Script([[KEEPS], [FORKS]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)


@pytest.fixture
def tiny(tmp_path: Path) -> list[str]:
    platform = cast.make_platform().slug
    folder = str(cast.write_problem(tmp_path))
    return ["--problem", folder, "--backend", "cpp", "--platform", platform, "--draft"]


@pytest.fixture
def done(tmp_path: Path) -> Campaign:
    return finished(tmp_path, [[KEEPS], [FORKS]])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command(*arguments)
    return capsys.readouterr().out


def test_it_takes_a_policy_and_shows_it(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--findings", "cache=refused", "--findings", "process=flagged"]
    key = str(answer(capsys, "campaign", "new", *tiny, *chosen)["campaign"])
    policy = answer(capsys, "campaign", "show", key)["findings_policy"]
    assert (policy["cache"], policy["process"]) == ("refused", "flagged")
    assert (policy["thread"], policy["patching"]) == ("allowed", "refused")
    assert set(policy) == set(FindingKind)
    text = printed(capsys, "campaign", "show", key)
    assert "findings refused: cache, patching, lazy output" in text
    assert "findings allowed: thread" in text


def test_torch_is_measured_beside_the_best_unless_it_is_left_out(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for options, wanted in (([], True), (["--no-baselines"], None)):
        key = answer(capsys, "campaign", "new", *tiny, *options)["campaign"]
        assert Campaign.objects.get(pk=key).intake.get("baselines") is wanted


def test_it_requires_sanitizers_where_it_is_asked_to(
    tiny: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    key = str(answer(capsys, "campaign", "new", *tiny, "--require-sanitizers")["campaign"])
    assert answer(capsys, "campaign", "show", key)["require_sanitizers"] is True
    assert "sanitizers: required" in printed(capsys, "campaign", "show", key)


def test_it_takes_no_own_kernels_where_none_are_traced(tiny: list[str]) -> None:
    with pytest.raises(CommandError, match="--own-kernel: kernels of backend cpp are not traced"):
        call_command("campaign", "new", *tiny, "--own-kernel", "rows")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("caches=refused", "findings: 'caches'; accepted: identity_key, cache, "),
        ("cache=banned", "findings.cache: 'banned'; accepted: allowed, flagged, review, refused"),
        ("cache", "findings: 'cache'; accepted: KIND=STANCE, such as cache=refused"),
    ],
)
def test_it_names_the_field_that_it_does_not_take(tiny: list[str], given: str, told: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("campaign", "new", *tiny, "--findings", given)
    assert str(refused.value).startswith(told)
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.returncode == 1
    assert not Campaign.objects.exists()


def test_it_tells_every_finding_of_a_round(
    done: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    (candidate,) = answer(capsys, "round", "show", str(done.pk), "2")["candidates"]
    assert [(f["kind"], f["line"], f["stance"]) for f in candidate["findings"]] == [
        ("cache", 2, "flagged"),
        ("thread", 3, "allowed"),
    ]
    assert candidate["findings"][0]["text"] == "static int kept = 0;"
    assert candidate["findings"][0]["meaning"] == FindingKind.CACHE.meaning
    text = printed(capsys, "round", "show", str(done.pk), "2")
    assert "accepted         Idea 0  [findings: 1 flagged]" in text
    flagged = "flagged: line 2, kept stays in the process between calls (cache)"
    assert f"{flagged}: {FindingKind.CACHE.meaning}" in text


def test_it_tells_what_was_refused(done: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "round", "show", str(done.pk), "3")
    assert (found["verdict"]["verdict"], found["verdict"]["reason"]) == (
        "rejected",
        "finding_refused",
    )
    (outcome,) = found["candidates"][0]["outcomes"]
    assert (outcome["outcome"], outcome["cases"]) == ("", [])
    assert outcome["reason"].startswith("Rejected before it was built: kernel.cpp line 2, fork.")
    assert "Idea 1  [findings: 1 refused]" in printed(capsys, "campaign", "show", str(done.pk))
