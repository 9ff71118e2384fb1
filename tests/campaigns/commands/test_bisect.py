"""`campaign bisect`: the first accepted round that is slower on this host (R58)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.hold import DeviceBusy
from campaigns.evaluator.contract import Job, Report
from campaigns.models import Campaign, Evaluation, Event
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

COMMAND = "campaigns.management.commands.campaign"
# Rounds 1 to 6, all accepted in their time.
TIMES = ("time 100", "time 90", "time 80", "time 70", "time 60", "time 50")

Turn = Callable[[dict[str, str]], list[Job]]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(f"{COMMAND}.this_device", lambda: cast.DEVICE)
    # A share of the floor beyond what these reach, so that every round is tried.
    done = finished(tmp_path, [[text] for text in TIMES[1:]], target_fraction=1.0)
    assert done.rounds.filter(verdict__word="accepted").count() == 6
    return done


@pytest.fixture
def turn(monkeypatch: pytest.MonkeyPatch) -> Turn:
    """Let kernels behave otherwise on this host now: text → the text that it behaves as."""

    def put(moods: dict[str, str]) -> list[Job]:
        jobs: list[Job] = []

        class Service(cast.Judge):
            def __enter__(self) -> Service:
                return self

            def __exit__(self, *_: object) -> None:
                return None

            def evaluate(self, job: Job, beat: Any = None) -> Report:
                jobs.append(job)
                text = moods.get(job.candidate.text, job.candidate.text)
                return super().evaluate(replace(job, candidate=replace(job.candidate, text=text)))

        monkeypatch.setattr(f"{COMMAND}.EvaluatorService", Service)
        return jobs

    return put


def answer(capsys: pytest.CaptureFixture[str], campaign: Campaign, *more: str) -> Any:
    call_command("campaign", "bisect", str(campaign.pk), *more, "--json")
    return json.loads(capsys.readouterr().out)


def refusal(campaign: Campaign, *more: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        call_command("campaign", "bisect", str(campaign.pk), *more)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.returncode, str(caught.value)


def test_r58_it_finds_the_first_slower_round(
    campaign: Campaign, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = turn(dict.fromkeys(TIMES[3:], "time 110"))
    before = (Event.objects.count(), Evaluation.objects.count())
    found = answer(capsys, campaign)
    assert (found["suspects"], found["last_good"]) == ([4], 3)
    assert [look["round"] for look in found["looks"]] == [6, 3, 4]
    assert found["sentence"] == (
        "Round 4 is the first that is slower than round 1 by more than 3 %; 3 is not."
    )
    assert {job.incumbent.text for job in jobs if job.incumbent} == {"time 100"}
    assert found["looks"][0]["gain_high"] < -0.03
    # It is a question: the records are as they were.
    assert (Event.objects.count(), Evaluation.objects.count()) == before


def test_it_skips_what_does_not_run_here(
    campaign: Campaign, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    turn(dict.fromkeys(TIMES[3:], "time 110") | {"time 70": "crash", "time 80": "build"})
    found = answer(capsys, campaign)
    assert found["suspects"] == [3, 4, 5]
    assert "One of the rounds 3, 4, 5 is the first" in found["sentence"]
    unclear = {look["round"]: look["why"] for look in found["looks"] if look["why"]}
    assert unclear == {3: "build_failed: it says build", 4: "crashed: it says crash"}


def test_it_measures_between_the_given_rounds_on_the_given_cases(
    campaign: Campaign, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = turn({"time 60": "time 95", "time 70": "time 92"})
    more = ("--good", "2", "--bad", "5", "--slower-than", "5 %", "--case", "one")
    found = answer(capsys, campaign, *more)
    assert (found["good"], found["suspects"], found["slower_than"]) == (2, [5], 0.05)
    assert {case.name for job in jobs for case in job.cases} == {"one"}


def test_it_says_that_nothing_is_slower(
    campaign: Campaign, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = turn({})
    call_command("campaign", "bisect", str(campaign.pk))
    told = capsys.readouterr()
    assert told.out == (
        "Round 6 is not slower than round 1 by more than 3 %, so there is nothing to find.\n"
    )
    assert told.err.startswith("round 6: better: 2.00× faster [")
    assert "against round 1 (" in told.err
    assert "n=10 pairs" in told.err
    assert len(jobs) == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--good", "9"), "good: 9; accepted: an accepted round (1, 2, 3, 4, 5, 6)"),
        (("--bad", "9"), "bad: 9; accepted: an accepted round (1, 2, 3, 4, 5, 6)"),
        (("--good", "6"), "bad: 6; accepted: a round after the good one, 6"),
        (("--case", "three"), "case: 'three'; accepted: one, two"),
        (("--slower-than=-3%",), "slower-than: '-3%'; accepted: 0% to 99%"),
    ],
)
def test_it_refuses_in_one_line(
    campaign: Campaign, turn: Turn, more: tuple[str, ...], words: str
) -> None:
    turn({})
    assert refusal(campaign, *more) == (1, words)


def test_it_refuses_another_device_and_one_that_is_held(
    campaign: Campaign, turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn({})

    def hold(*_: object, **__: object) -> None:
        raise DeviceBusy("cpu (Test CPU) is held by process 1")

    with monkeypatch.context() as patch:
        patch.setattr("campaigns.steps.rounds.bisect.hold", hold)
        assert refusal(campaign) == (1, "cpu (Test CPU) is held by process 1")
    other = replace(cast.DEVICE, name="Other CPU", platform_slug="other-cpu")
    monkeypatch.setattr(f"{COMMAND}.this_device", lambda: other)
    assert refusal(campaign) == (1, "device: Other CPU; accepted: a Test CPU")
