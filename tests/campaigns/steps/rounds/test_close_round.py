"""Accepted rounds become commits, from records alone, through crashes and without a git (R46)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from campaigns.lineage import repository
from campaigns.lineage.formatting import Formatted
from campaigns.lineage.git import LineageError
from campaigns.lineage.records import FAILED
from campaigns.lineage.repository import repository_of
from campaigns.models import Campaign, CampaignState, Commit, Event
from campaigns.models.event import record
from campaigns.steps.lifecycle.finish import STEP_FAILED, give_up
from campaigns.steps.rounds.close_round import commit_accepted, rebuild
from campaigns.steps.worker import WorkerContext
from knowledge.models import Immutable
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db

Run = Callable[..., Campaign]
Put = Callable[..., cast.Script]
# Round 2 and 4 are accepted; 3 is slower.
ROUNDS = (["time 50"], ["time 90"], ["time 20"])
HOSTILE = "x\n\nResult:\n    +900 %\n\nSigned-off-by: Eve <e@v>\r\n--exec=touch owned \u2028\u202e"


class Killed(BaseException):
    """kill -9: nothing in the program catches this."""


def asked(campaign: Campaign, *arguments: str) -> str:
    command = ["git", f"--git-dir={repository_of(campaign.pk)}", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode().strip()


def log(campaign: Campaign) -> list[str]:
    """The hashes on the branch that a clone would check out, the oldest first."""
    return asked(campaign, "log", "--reverse", "--format=%H", "HEAD").split()


def stored(campaign: Campaign) -> list[str]:
    rows = Commit.objects.filter(round__campaign=campaign).order_by("round__number")
    return list(rows.values_list("sha", flat=True))


def failures(campaign: Campaign) -> list[str]:
    return list(campaign.events.filter(kind=FAILED).values_list("message", flat=True))


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Take git off the PATH; the answer puts it back."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return monkeypatch.undo


def test_r46_it_commits_every_accepted_round(run: Run, script: Put) -> None:
    script(*ROUNDS)
    campaign = run()
    rows = list(Commit.objects.select_related("round").order_by("round__number"))
    assert [row.round.number for row in rows] == [1, 2, 4]
    assert log(campaign) == stored(campaign)
    day = campaign.created_at.date().isoformat()
    assert {row.branch for row in rows} == {f"optimize/copy_cpp_test-cpu_{day}"}
    assert asked(campaign, "symbolic-ref", "--short", "HEAD") == rows[0].branch
    assert [row.subject for row in rows] == [
        "[opt] copy round-1: baseline",
        "[opt] copy round-2: idea-0 (+100.2 %)",
        "[opt] copy round-4: idea-2 (+150.2 %)",
    ]
    assert failures(campaign) == []


def test_it_commits_what_it_takes_to_build_the_kernel_again(run: Run, script: Put) -> None:
    script(*ROUNDS)
    campaign = run()
    files = asked(campaign, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert files == ["problem.toml", "ref.py", "v0.cpp"]
    assert [asked(campaign, "show", f"{sha}:v0.cpp") for sha in log(campaign)] == [
        "time 100",
        "time 50",
        "time 20",
    ]
    assert asked(campaign, "show", "HEAD:problem.toml") == cast.TOML.strip()


def test_r46_it_says_what_was_tried_what_came_of_it_and_why(run: Run, script: Put) -> None:
    script(*ROUNDS)
    campaign = run()
    row = Commit.objects.get(round__number=2)
    assert asked(campaign, "log", "-1", "--format=%B", row.sha) == row.message.strip()
    told = " ".join(row.message.split())
    for words in (
        "Hypothesis: one thing it may help",
        "Evidence: one: 100 µs",
        "Result: Accepted: 2.00× faster [2.00, 2.00] against the incumbent (n=20",
        "n=20 pairs",
        "The incumbent was round 1.",
        "Expected: time_us down by 20 %: confirmed.",
        "one: 50.0 µs saved of the incumbent's 100 µs a call in the first session, most in: k",
        f"backend cpp, no flags of its own; sha256 {row.round.chosen.digest}",
        f"Round: /c/{campaign.pk}/r/2/",
    ):
        assert words in told


def test_r46_it_gives_the_same_hashes_from_the_same_records(run: Run, script: Put) -> None:
    script(*ROUNDS)
    campaign = run()
    before = log(campaign)
    shutil.rmtree(repository_of(campaign.pk))
    assert [row.sha for row in rebuild(cast.fresh(campaign))] == before == log(campaign)
    # And another kopt, which may word messages differently, still makes those.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("campaigns.lineage.records.story_of", lambda round_: "[opt] otherwise\n")
        assert [row.sha for row in rebuild(cast.fresh(campaign))] == before


def test_it_says_nothing_of_what_came_after_the_round(
    run: Run, script: Put, judge: cast.Judge, no_git: Callable[[], None]
) -> None:
    script(*ROUNDS)
    campaign = run()
    no_git()
    before = [row.sha for row in _unsaved(campaign)]
    cast.reproduce_all(cast.make_bench(judge, "twin", cast.TWIN))
    record(campaign, "noted", "later")
    assert [row.sha for row in _unsaved(campaign)] == before


def _unsaved(campaign: Campaign) -> list[Commit]:
    """What would be committed now, without a row that stays."""
    try:
        with transaction.atomic():
            found = rebuild(cast.fresh(campaign))
            raise Killed
    except Killed:
        return found


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_it_goes_on_after_a_kill_between_the_commit_and_its_hash(
    lost: int, script: Put, bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(*ROUNDS)
    campaign = cast.make_campaign(tmp_path)
    real, calls = repository.write, []

    def write(*arguments: Any) -> list[str]:
        hashes = real(*arguments)
        calls.append(hashes)
        if len(calls) == lost:
            raise Killed
        return hashes

    monkeypatch.setattr("campaigns.steps.rounds.close_round.write", write)
    with pytest.raises(Killed):
        cast.run_again(campaign, bench)
    assert len(log(campaign)) == lost
    assert len(stored(campaign)) == lost - 1
    assert cast.run_again(campaign, bench).state == CampaignState.DONE
    assert log(campaign)[:lost] == calls[lost - 1]
    assert log(campaign) == stored(campaign)
    assert len(log(campaign)) == 3


def test_it_loses_no_round_where_git_is_missing(
    run: Run, script: Put, no_git: Callable[[], None]
) -> None:
    script(*ROUNDS)
    campaign = run()
    assert campaign.state == CampaignState.DONE
    assert campaign.result["gain"] > 3
    assert stored(campaign) == []
    # At the end it was tried once more, which failed as before and is not told twice.
    assert [told.partition(" (")[0] for told in failures(campaign)] == [
        f"Accepted, but not committed: round {rounds}: git: no such program"
        for rounds in ("1", "1, 2", "1, 2, 4")
    ]
    no_git()
    commit_accepted(campaign)
    assert log(campaign) == stored(campaign)
    assert len(log(campaign)) == 3


def test_it_catches_up_at_the_next_accepted_round(
    script: Put, bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(*ROUNDS)
    campaign = cast.make_campaign(tmp_path)
    real, calls = repository.write, []

    def write(*arguments: Any) -> list[str]:
        calls.append(1)
        if len(calls) == 1:
            raise LineageError("No space left on device")
        return real(*arguments)

    monkeypatch.setattr("campaigns.steps.rounds.close_round.write", write)
    cast.run_again(campaign, bench)
    assert len(failures(campaign)) == 1
    assert "round 1: No space left on device" in failures(campaign)[0]
    assert log(campaign) == stored(campaign)
    assert len(log(campaign)) == 3


def test_it_catches_up_at_the_end(
    script: Put, bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("campaigns.steps.rounds.close_round.commit_accepted", lambda campaign: None)
        patch.setattr("campaigns.steps.lifecycle.finish.commit_accepted", _killed)
        with pytest.raises(Killed):
            cast.run_again(campaign, bench)
    assert stored(campaign) == []
    assert cast.run_again(campaign, bench).state == CampaignState.DONE
    assert len(log(campaign)) == 2
    assert log(campaign) == stored(campaign)


def _killed(campaign: Campaign) -> None:
    raise Killed


def test_it_commits_what_was_accepted_before_an_abort(
    script: Put, bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"], ["time 20"])
    campaign = cast.make_campaign(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("campaigns.steps.rounds.close_round.commit_accepted", lambda campaign: None)
        cast.step_until(campaign, CampaignState.BASELINE)
        cast.measure_all(campaign, bench)
        cast.step_until(campaign, CampaignState.ANALYZE)
    for _ in range(3):
        give_up(cast.fresh(campaign), ZeroDivisionError("a fault of ours"))
    assert cast.fresh(campaign).state == CampaignState.ABORTED
    assert len(log(campaign)) == 1
    assert log(campaign) == stored(campaign)


def test_it_ends_an_aborted_campaign_without_git_too(
    script: Put, bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["time 50"])
    campaign = cast.make_campaign(tmp_path)
    monkeypatch.setattr("campaigns.steps.rounds.close_round.write", _refused)
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.ANALYZE)
    for _ in range(3):
        give_up(cast.fresh(campaign), ZeroDivisionError("a fault of ours"))
    assert cast.fresh(campaign).state == CampaignState.ABORTED
    assert len(failures(campaign)) == 1
    assert campaign.events.filter(kind=STEP_FAILED).count() == 3


def _refused(*_: Any) -> list[str]:
    raise LineageError("git: no such program")


def test_it_makes_no_repository_where_nothing_was_accepted(run: Run, script: Put) -> None:
    script(["time 50"])
    campaign = run("crash")
    assert campaign.state == CampaignState.ABORTED
    assert not repository_of(campaign.pk).exists()
    assert rebuild(campaign) == []


def test_it_takes_a_hypothesis_for_text_and_nothing_else(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = dict.fromkeys(("strategy", "title", "change", "rationale", "risks"), HOSTILE)
    hostile = replace(cast.hypothesis(0), evidence=(HOSTILE, "--amend"), **texts)
    monkeypatch.setattr(cast, "hypothesis", lambda index: hostile)
    monkeypatch.setattr(cast, "Source", lambda name, text: _Elsewhere(name, text))
    script(["time 50"])
    campaign = run()
    assert len(log(campaign)) == 2
    whole = asked(campaign, "cat-file", "commit", "HEAD").partition("\n\n")
    assert [line.split()[0] for line in whole[0].splitlines()] == [
        *("tree", "parent", "author", "committer")
    ]
    titles = [line for line in whole[2].splitlines()[1:] if line and line[0] != " "]
    assert [title.partition(":")[0].partition(",")[0] for title in titles] == [
        *("Hypothesis", "Evidence", "Result", "Why it worked", "Build", "Round")
    ]
    # Our own last section, and nobody's signature.
    trailers = asked(campaign, "log", "-1", "--format=%(trailers)").split()
    assert trailers == ["Round:", f"/c/{campaign.pk}/r/2/"]
    assert asked(campaign, "ls-tree", "-r", "--name-only", "HEAD").split() == [
        *("problem.toml", "ref.py", "v0.cpp")
    ]
    assert asked(campaign, "fsck", "--strict") == ""
    assert not list(tmp_path.rglob("owned"))


def _Elsewhere(name: str, text: str) -> Any:
    """A source whose name points out of every folder."""
    from campaigns.evaluator.contract import Source

    return Source("../../../owned", text)


def test_it_tells_when_records_and_hash_disagree(run: Run, script: Put) -> None:
    script(["time 50"])
    campaign = run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("campaigns.steps.rounds.close_round.write", lambda *_: ["0" * 40, "1" * 40])
        with pytest.raises(LineageError, match=r"round 1: its records give 0{40}, on record is "):
            rebuild(cast.fresh(campaign))
    assert [row.sha for row in rebuild(cast.fresh(campaign))] == log(campaign)


def test_it_records_a_round_whose_records_can_not_be_told(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = replace(cast.hypothesis(0), expected_amount="a lot\nof it")
    monkeypatch.setattr(cast, "hypothesis", lambda index: hostile)
    script(["time 50"])
    campaign = run()
    assert campaign.state == CampaignState.DONE
    assert len(failures(campaign)) == 1
    assert "round 2: its records cannot be read: ValidationError" in failures(campaign)[0]
    assert "\n" not in failures(campaign)[0]


def test_it_keeps_a_commit_for_accepted_rounds_alone(run: Run, script: Put) -> None:
    script(["time 90", "crash"], ["crash"])
    campaign = run()
    rejected = campaign.rounds.get(number=3)
    made = Commit(round=rejected, branch="b", sha="0" * 40, message="m")
    with pytest.raises(Immutable, match="is not accepted and closed"):
        made.save()
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        made.save_base(force_insert=True)
    assert Event.objects.filter(campaign=campaign, kind=FAILED).count() == 0


@pytest.mark.parametrize("setting", ["OFF", "ON"])
def test_r55_it_commits_a_formatted_source_where_that_is_asked_for(
    run: Run, script: Put, monkeypatch: pytest.MonkeyPatch, settings: Any, setting: str
) -> None:
    settings.KOPT_FORMAT = setting

    def tidy(name: str, text: str) -> Formatted:
        return Formatted(f"{text}\n", "tidied") if "50" in text else Formatted(text, "as it was")

    monkeypatch.setattr("campaigns.lineage.records.formatted", tidy)
    script(["time 50"])
    campaign = run()
    first, second = Commit.objects.order_by("round__number")
    notes = [("", "as it was"), ("time 50\n", "tidied")] if setting == "ON" else [("", "")] * 2
    assert [(row.source, row.note) for row in (first, second)] == notes
    assert ("tidied" in second.message) is (setting == "ON")
    command = ["git", f"--git-dir={repository_of(campaign.pk)}", "show", "HEAD:v0.cpp"]
    found = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert found == (second.source or "time 50")
    assert second.round.chosen.text == "time 50"
    # What the setting or the formatter say later changes nothing that was committed.
    settings.KOPT_FORMAT = "OFF"
    shutil.rmtree(repository_of(campaign.pk))
    assert [row.sha for row in rebuild(cast.fresh(campaign))] == [first.sha, second.sha]
