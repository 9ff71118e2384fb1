"""What was measured again: its table, its page, a person's answer, the same over REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client

from campaigns.models import Campaign, Evaluation, EvaluationKind, SeriesAnswer, SeriesEntry
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.series import queue_campaigns, sort_measured
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended(db: None, tmp_path: Path) -> Campaign:
    return finished(tmp_path, [["time 50"], ["time 40"]])


@pytest.fixture
def entry(ended: Campaign) -> SeriesEntry:
    """It became slower: 1.67 times as fast as v0, where it was 2.5 times."""
    judge = cast.Moody(moods={EvaluationKind.SERIES: "time 60"})
    (made,) = queue_campaigns([ended.pk], "g++ 12 → 13")
    evaluate(made.pk, cast.make_bench(judge))
    sort_measured(Evaluation.objects.get(pk=made.pk))
    return SeriesEntry.objects.get()


@pytest.fixture
def bob(db: None, client: Client) -> User:
    user = User.objects.create_user("bob")
    user.groups.add(Group.objects.get(name="engineer"))
    client.force_login(user)
    return user


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_activity_tab_lists_it_and_the_overview_says_it(
    client: Client, bob: User, ended: Campaign, entry: SeriesEntry
) -> None:
    activity = text(client.get(f"/c/{ended.pk}/activity/"))
    assert 'data-series="real"' in activity
    assert "the kernel changed against v0" in activity
    assert "g++ 12 → 13" in activity
    assert "waits for an answer" in activity
    assert f'href="/c/{ended.pk}/series/{entry.pk}/"' in activity
    overview = text(client.get(f"/c/{ended.pk}/"))
    assert 'id="alarm"' in overview
    assert "is 1.67× faster" in overview


def test_nothing_is_said_where_nothing_was_measured_again(
    client: Client, bob: User, ended: Campaign
) -> None:
    assert 'id="series"' not in text(client.get(f"/c/{ended.pk}/activity/"))
    assert 'id="alarm"' not in text(client.get(f"/c/{ended.pk}/"))


@pytest.mark.storage
def test_its_page_shows_both_sides_and_takes_an_answer(
    client: Client, bob: User, ended: Campaign, entry: SeriesEntry
) -> None:
    url = f"/c/{ended.pk}/series/{entry.pk}/"
    page = text(client.get(url))
    assert "Round 3 measured again: the kernel changed against v0" in page
    assert "measuring code" in page
    assert "Accept the new number" in page
    refused = client.post(url, {"answer": "known", "why": " "})
    assert refused.status_code == 422
    assert "why: is needed" in text(refused)
    assert client.post(url, {"answer": "\0", "why": "x"}).status_code == 422
    assert client.post(url, {"answer": "known", "why": "a\0b"}).status_code == 422
    said = client.post(url, {"answer": "known", "why": "<b>it stays</b>", "queue": "series"})
    assert (said.status_code, said["Location"]) == (302, "/review/next?kind=series")
    assert SeriesAnswer.objects.get().by == bob
    answered = text(client.get(url))
    assert "The new number is accepted</b>, says bob" in answered
    assert "&lt;b&gt;it stays&lt;/b&gt;" in answered
    again = client.post(url, {"answer": "reopened"})
    assert again.status_code == 409
    assert "bob has answered already" in text(again)


def test_a_new_campaign_opens_with_the_same_choices(
    client: Client, bob: User, ended: Campaign, entry: SeriesEntry
) -> None:
    said = client.post(f"/c/{ended.pk}/series/{entry.pk}/", {"answer": "reopened"})
    assert said["Location"].startswith("/c/new?problem=tiny&platform=test-cpu&backend=cpp&rounds=")


def test_it_waits_in_the_queue_and_is_opened_from_there(
    client: Client, bob: User, ended: Campaign, entry: SeriesEntry
) -> None:
    assert "Measured again: round 3 of" in text(client.get("/review/?kind=series"))
    following = client.get("/review/next?kind=series")
    assert following["Location"] == f"/c/{ended.pk}/series/{entry.pk}/?queue=series"
    (row,) = client.get("/api/v1/review/?kind=series").json()["results"]
    assert (row["kind"], row["mine"]) == ("series", True)


def test_who_may_not_decide_sees_why(client: Client, ended: Campaign, entry: SeriesEntry) -> None:
    viewer = User.objects.create_user("vera")
    client.force_login(viewer)
    url = f"/c/{ended.pk}/series/{entry.pk}/"
    assert "Deciding needs the role" in text(client.get(url))
    assert client.post(url, {"answer": "known", "why": "x"}).status_code == 403


@pytest.mark.parametrize("key", [0, 999, 10**30])
def test_an_unknown_one_is_not_found(client: Client, bob: User, ended: Campaign, key: int) -> None:
    assert client.get(f"/c/{ended.pk}/series/{key}/").status_code == 404


def test_the_same_over_rest(client: Client, bob: User, ended: Campaign, entry: SeriesEntry) -> None:
    url = f"/api/v1/campaigns/{ended.pk}/series/"
    (row,) = client.get(url).json()["results"]
    assert (row["id"], row["sort"], row["round"], row["waits"]) == (entry.pk, "real", 3, True)
    assert row["gain"]["low"] < row["gain"]["gain"] < row["gain"]["high"]
    assert row["environment"]["protocol"] == ended.protocol.digest
    said = {"answer": "known", "why": "it stays"}
    wrong = client.post(f"{url}{entry.pk}/answer/", {"answer": "no"}, "application/json")
    assert wrong.status_code == 422
    made = client.post(f"{url}{entry.pk}/answer/", said, "application/json")
    assert made.status_code == 201
    assert made.json()["answer"] == {"answer": "known", "by": "bob", "why": "it stays"}
    assert client.post(f"{url}{entry.pk}/answer/", said, "application/json").status_code == 409


def test_a_command_queues_it(ended: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("campaign", "remeasure", str(ended.pk), "--json")
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["campaign"], found["round"]) == (ended.pk, 3)
    call_command("campaign", "remeasure")
    assert f"evaluation {found['evaluation']}" in capsys.readouterr().out
    with pytest.raises(CommandError, match="campaign 99: accepted: a finished one") as refused:
        call_command("campaign", "remeasure", "99")
    assert refused.value.returncode == 2
    with pytest.raises(CommandError):
        call_command("campaign", "remeasure", str(10**30))


def test_the_bar_of_a_finished_campaigns_round_offers_a_rerun(
    client: Client, bob: User, ended: Campaign
) -> None:
    assert 'value="rerun"' in text(client.get(f"/c/{ended.pk}/r/2/"))
    assert 'value="rerun"' in text(client.get(f"/c/{ended.pk}/r/3/"))
