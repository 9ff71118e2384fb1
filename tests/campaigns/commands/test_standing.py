"""How far gains are confirmed, on the command line, and a person's answer where one is in doubt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from campaigns.models import Campaign, EvaluationKind
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def doubted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Round 2 was accepted, and another device did not show it."""
    cast.set_the_scene(monkeypatch)
    return finished(tmp_path, [["time 50"]], after=_not_reproduced)


def _not_reproduced(campaign: Campaign) -> None:
    judge = cast.Moody(moods={EvaluationKind.REPRODUCE: "time 100"})
    cast.reproduce_all(cast.make_bench(judge, "twin", cast.TWIN))


@pytest.fixture
def engineer(db: None) -> User:
    user = User.objects.create_user("eve")
    user.groups.add(Group.objects.get(name="engineer"))
    return user


def data(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    call_command(*map(str, arguments), "--json")
    return json.loads(capsys.readouterr().out)


def text(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    call_command(*map(str, arguments))
    return capsys.readouterr().out


def test_it_shows_every_step_of_a_standing(
    doubted: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "campaign", "show", doubted.pk)["standings"]
    assert [(step["round"], step["word"]) for step in found] == [
        (2, "claimed"),
        (2, "verified"),
        (2, "not reproduced"),
    ]
    assert [step["pairs"] for step in found] == [10, 10, 10]
    round_ = data(capsys, "round", "show", doubted.pk, 2)
    assert round_["standing"] == "not reproduced"
    assert round_["standings"][1]["gain"] == pytest.approx(1.0, rel=0.01)
    assert data(capsys, "round", "show", doubted.pk, 1)["standing"] == ""


def test_it_cautions_in_words(doubted: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    shown = text(capsys, "campaign", "show", doubted.pk)
    assert "caution: round 2 was not reproduced. On twin: No change shown" in shown
    assert f"`round answer {doubted.pk} 2` answers" in shown
    assert "accepted         Idea 0  [standing: not reproduced]" in shown
    told = text(capsys, "round", "show", doubted.pk, 2)
    assert "verified: A second session showed 2.00× faster" in told


def test_it_takes_a_persons_answer(
    doubted: Campaign, engineer: User, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ("not_relied_on", "--why", "the twin is the slower stepping", "--by", "eve")
    found = data(capsys, "round", "answer", doubted.pk, 2, *said)
    assert found["standings"][-1]["answer"] == {
        "answer": "not to be relied on",
        "why": "the twin is the slower stepping",
        "by": "eve",
        "at": found["standings"][-1]["answer"]["at"],
    }
    assert "(not to be relied on, says eve: the twin" in text(
        capsys, "campaign", "show", doubted.pk
    )
    with pytest.raises(CommandError, match="answered already"):
        text(capsys, "round", "answer", doubted.pk, 2, *said)


@pytest.mark.parametrize(
    ("said", "by", "code"), [("maybe", "eve", 1), ("relied_on", "bob", 3), ("relied_on", "who", 2)]
)
def test_it_says_why_it_does_not_take_it(
    doubted: Campaign, engineer: User, said: str, by: str, code: int
) -> None:
    User.objects.create_user("bob")
    with pytest.raises(CommandError) as refused:
        call_command("round", "answer", str(doubted.pk), "2", said, "--why", "x", "--by", by)
    assert refused.value.returncode == code
