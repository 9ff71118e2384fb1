"""`round submit`: what it hands in, how it refuses, and how it waits."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client

from campaigns.models import Campaign, CampaignState, Submission
from campaigns.steps.worker import WorkerContext
from knowledge.curation.tokens import new_token
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db(transaction=True)

SENT = {
    "source": "time 8",
    "evidence": ["one"],
    "searched": [{"source": "reference", "query": "in place", "found": "none"}],
}
SAID = (
    *("--title", "Work in place", "--change", "no copy", "--rationale", "it waits for memory"),
    *("--metric", "time per call", "--direction", "down", "--amount", "20%"),
)


@pytest.fixture
def bench() -> WorkerContext:
    return cast.make_bench(cast.Judge())


@pytest.fixture
def waiting(
    tmp_path: Path,
    bench: WorkerContext,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Campaign:
    """A campaign of people and agents whose baseline is judged. param: how its roof is known."""
    evidence = getattr(request, "param", cast.BANDWIDTH.evidence)
    monkeypatch.setattr(cast, "BANDWIDTH", replace(cast.BANDWIDTH, evidence=evidence))
    cast.set_the_scene(monkeypatch)
    campaign = cast.make_campaign(tmp_path, proposers="person,agent=1")
    while cast.fresh(campaign).state != CampaignState.AWAITING:
        cast.measure_all(campaign, bench)
    return cast.fresh(campaign)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cpp"
    path.write_text("time 50\n")
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    call_command("round", "submit", *map(str, arguments), "--json")
    return json.loads(capsys.readouterr().out)


def refusal(*arguments: object) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        call_command("round", "submit", *map(str, arguments))
    assert Submission.objects.count() == 0
    return caught.value.returncode, str(caught.value)


def test_it_hands_in_a_candidate(
    waiting: Campaign, kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, waiting.pk, kernel, *SAID)
    made = Submission.objects.get()
    assert found == {
        "campaign": waiting.pk,
        "submission": made.pk,
        "title": "Work in place",
        "proposer": {"kind": "person", "name": "command line"},
        "round": None,
        "waits": True,
        "words": "It is tried next.",
    }
    assert (made.text, made.file_name) == ("time 50\n", "v0.cpp")
    rests_on = [line.partition(":")[0] for line in made.hypothesis["evidence"]]
    assert rests_on == ["one", "two", "machine code"]


def test_r35_it_says_where_the_idea_was_looked_for(
    waiting: Campaign, kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ("--searched", "wiki | copies | none needed", "--searched", "web | fused kernels")
    status, told = refusal(waiting.pk, kernel, *SAID, "--searched", "web | HBM bandwidth")
    assert (status, "specs come from the wiki" in told) == (1, True)
    answer(capsys, waiting.pk, kernel, *SAID, *log)
    steps = Submission.objects.get().hypothesis["searched"]
    assert [(step["source"], step["found"]) for step in steps] == [
        ("wiki", "none needed"),
        ("web", "nothing"),
    ]


def test_it_says_whose_it_is(
    waiting: Campaign, kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bob = User.objects.create(username="bob")
    assert refusal(waiting.pk, kernel, *SAID, "--by", "carol") == (2, "user 'carol': no such user")
    assert refusal(waiting.pk, kernel, *SAID, "--by", "bob")[0] == 3
    bob.user_permissions.add(Permission.objects.get(codename="change_campaign"))
    found = answer(capsys, waiting.pk, kernel, *SAID, "--by", "bob", "--agent", "tuner")
    assert found["proposer"] == {"kind": "agent", "name": "tuner"}
    assert Submission.objects.get().by == bob


def test_it_names_what_is_missing_and_exits_with_the_code_for_it(
    waiting: Campaign, kernel: Path, tmp_path: Path
) -> None:
    code, said = refusal(waiting.pk, kernel, "--title", "Faster")
    assert (code, said) == (1, "change: is needed; a hypothesis comes before its code")
    assert refusal(999, kernel, *SAID) == (2, "campaign 999: no such campaign")
    nowhere = tmp_path / "none.cpp"
    assert refusal(waiting.pk, nowhere, *SAID) == (2, f"{nowhere}: no such file")
    kernel.write_bytes(b"\xff\xfe")
    assert refusal(waiting.pk, kernel, *SAID)[0] == 1
    assert refusal(waiting.pk, tmp_path, *SAID)[0] == 1
    kernel.write_text("x" * 300_000)
    assert refusal(waiting.pk, kernel, *SAID)[1].endswith("text of at most 262,144 bytes")
    kernel.write_text("time 100")
    code, said = refusal(waiting.pk, kernel, *SAID)
    assert (code, said) == (1, "source: is the incumbent's, of round 1")


def test_a_campaign_that_takes_none_exits_with_not_allowed(
    waiting: Campaign, bench: WorkerContext, kernel: Path
) -> None:
    call_command("campaign", "stop", str(waiting.pk))
    code, said = refusal(waiting.pk, kernel, *SAID)
    assert code == 3
    assert said.startswith("campaign: is done")


@pytest.mark.parametrize(("text", "code"), [("time 50", 0), ("wrong", 5), ("time 100 again", 5)])
def test_it_waits_for_the_verdict(
    waiting: Campaign,
    bench: WorkerContext,
    kernel: Path,
    text: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work(seconds: float) -> None:
        cast.measure_all(waiting, bench)

    monkeypatch.setattr("campaigns.management.commands.round.time.sleep", work)
    kernel.write_text(text)
    ended = 0
    try:
        call_command("round", "submit", str(waiting.pk), str(kernel), *SAID, "--wait", "--json")
    except CommandError as error:
        ended = error.returncode
    out, told = capsys.readouterr()
    found = json.loads(out)
    assert (ended, found["round"]) == (code, 2)
    assert found["proposed_by"] == {"kind": "person", "name": "command line"}
    assert "round 2, command line (person): Work in place" in told


@pytest.mark.parametrize(
    ("waiting", "door", "word"),
    [("documented", "API", "invalid"), ("measured", "command", "needs_review")],
    indirect=["waiting"],
)
def test_what_is_faster_than_its_cited_roof_is_not_accepted(
    waiting: Campaign, bench: WorkerContext, kernel: Path, client: Client, door: str, word: str
) -> None:
    """UX check 12: 8 µs, where 100,000 bytes at 10 GB/s take 10. A measured roof is doubted too."""
    bob = User.objects.create_superuser("bob")
    if door == "API":
        token = new_token(bob, "night agent", ["submit"], 7)[1]
        flags = {
            flag.removeprefix("--"): text for flag, text in zip(SAID[::2], SAID[1::2], strict=True)
        }
        answer = client.post(
            f"/api/v1/campaigns/{waiting.pk}/candidates/",
            json.dumps(flags | SENT), "application/json",
            headers={"Authorization": f"Bearer {token}"},
        )  # fmt: skip
        assert answer.status_code == 201
    else:
        kernel.write_text("time 8")
        call_command("round", "submit", str(waiting.pk), str(kernel), *SAID)
    cast.step_until(waiting, CampaignState.VALIDATE)
    while cast.fresh(waiting).state != CampaignState.AWAITING:
        cast.measure_all(waiting, bench)
    judged = waiting.rounds.get(number=2)
    assert judged.verdict.word == word
    assert cast.fresh(waiting).incumbent == waiting.incumbent
    client.force_login(bob)
    body = html.unescape(client.get(judged.get_absolute_url()).content.decode())
    for told in ("8.00 µs is below the", "100 kB ÷ ", cast.BANDWIDTH.citation):
        assert told in body


def test_it_says_that_the_campaign_ended_before_it_was_tried(
    waiting: Campaign, bench: WorkerContext, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(seconds: float) -> None:
        if not cast.fresh(waiting).stop_requested:
            call_command("campaign", "stop", str(waiting.pk))
        cast.measure_all(waiting, bench)

    monkeypatch.setattr("campaigns.management.commands.round.time.sleep", end)
    with pytest.raises(CommandError, match="It was not tried, as the campaign ended") as caught:
        call_command("round", "submit", str(waiting.pk), str(kernel), *SAID, "--wait")
    assert caught.value.returncode == 5
