"""How far a gain is confirmed: a badge in words, a table of sessions, and a question to people."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from campaigns.models import EvaluationKind, Round, StandingAnswer
from campaigns.models.transitions import claim
from campaigns.reports.report import render_report
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.standings import answer_standing
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge():
    return cast.Moody()


@pytest.fixture
def starter():
    """Who started the campaign; None is a command."""
    return None


@pytest.fixture
def ended(db, monkeypatch, tmp_path, judge, starter):
    """Round 2 was accepted; round 3 was fast in its first session only."""
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 50"], ["time 30"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)

    def change_mood(job):
        if job.candidate.text == "time 30":
            judge.moods = {EvaluationKind.REMEASURE: "time 50"}

    judge.during = change_mood
    campaign = cast.make_campaign(tmp_path, by=starter)
    return run_here(campaign.pk, cast.make_bench(judge), lambda message: None)


@pytest.fixture
def doubted(ended, judge):
    """Another device did not show round 2."""
    judge.moods = {EvaluationKind.REPRODUCE: "time 100"}
    cast.reproduce_all(cast.make_bench(judge, "twin", cast.TWIN))
    return ended


def text_of(page, name, *args):
    return html.unescape(page.get(reverse(name, args=args)).content.decode())


def badges(body):
    return re.findall(r'data-standing="(\w+)"[^>]*>.*?</svg>([a-z ]+)<', body, re.DOTALL)


def test_it_marks_every_claimed_round_in_a_word(page, ended):
    for name in ("rounds", "campaign", "report"):
        found = set(badges(text_of(page, name, ended.pk)))
        assert {("verified", "verified"), ("not_verified", "not verified")} <= found, name
    rows = text_of(page, "rounds", ended.pk).split("<tr ")
    assert "data-standing" not in next(row for row in rows if 'data-round="1"' in row)


def test_it_shows_each_session_with_its_own_numbers(page, ended):
    body = text_of(page, "round_tab", ended.pk, 3, "surroundings")
    panel = body[body.index('id="standing"') : body.index('id="surroundings"')]
    assert re.findall(r'data-session="(\w+)"', panel) == ["claimed", "not_verified"]
    assert "1.67× faster" in panel
    assert "the second session did not confirm the gain" in panel
    assert 'data-baseline="round 2"' in panel
    assert "tester" in panel
    assert 'data-gate="second session"' in text_of(page, "round", ended.pk, 3)


def test_it_explains_the_words_where_they_stand(page, ended):
    body = text_of(page, "round_tab", ended.pk, 2, "surroundings")
    assert "What these words mean" in body
    assert "another device of this model showed it as well" in body
    assert "A baseline claims no gain" in text_of(page, "round_tab", ended.pk, 1, "surroundings")


def test_it_has_no_caution_while_nothing_is_in_doubt(page, ended):
    assert "data-doubt" not in text_of(page, "campaign", ended.pk)


def test_it_cautions_everywhere_when_another_device_does_not_show_the_gain(page, doubted):
    bodies = [
        text_of(page, "campaign", doubted.pk),
        whole_round(page, doubted, 2),
        text_of(page, "report", doubted.pk),
        html.unescape(render_report(doubted)),
    ]
    for body in bodies:
        assert 'data-doubt="2" data-answer="open"' in body
        assert "was not reproduced, and its candidate is the incumbent" in body
        assert "On twin: No change shown" in body
    assert "+100." in "".join(bodies)
    assert "<form" not in bodies[-1]


def test_it_takes_an_answer_once_and_keeps_it_on_every_page(page, doubted):
    address = reverse("answer_standing", args=[doubted.pk, 2])
    said = {"answer": "not_relied_on", "why": "the twin runs <b>cooler</b>"}
    assert page.post(address, said, follow=True).status_code == 200
    stored = StandingAnswer.objects.get()
    assert (stored.answer, stored.by.username) == ("not_relied_on", "alice")
    for name, *args in (("campaign", doubted.pk), ("round", doubted.pk, 2), ("report", doubted.pk)):
        raw = page.get(reverse(name, args=args)).content.decode()
        assert "Not to be relied on" in raw
        assert "says alice" in raw
        assert "<b>cooler" not in raw
        assert address not in raw
    refused = page.post(address, said, follow=True).content.decode()
    assert "answered already" in refused
    assert doubted.events.filter(kind="standing_answered").count() == 1
    doubted.refresh_from_db()
    assert doubted.incumbent.round.number == 2


@pytest.mark.parametrize(
    ("number", "said", "message"),
    [
        (2, {"answer": "maybe", "why": "x"}, "accepted: relied_on, not_relied_on"),
        (2, {"answer": "relied_on", "why": " "}, "why: is needed"),
        (3, {"answer": "relied_on", "why": "x"}, "accepted: one that is not reproduced"),
    ],
)
def test_it_says_what_it_accepts(page, doubted, number, said, message):
    address = reverse("answer_standing", args=[doubted.pk, number])
    assert message in html.unescape(page.post(address, said, follow=True).content.decode())
    assert not StandingAnswer.objects.exists()


class TestOfOnesOwn:
    """As with values and lessons: nobody decides on their own (design, 6)."""

    @pytest.fixture
    def starter(self, engineer):
        return engineer

    def test_it_takes_nobodys_word_that_their_own_gain_is_relied_on(self, page, doubted):
        address = reverse("answer_standing", args=[doubted.pk, 2])
        shown = _panel(text_of(page, "round", doubted.pk, 2))
        assert 'value="not_relied_on"' in shown
        assert 'value="relied_on"' not in shown
        assert "must not be the person who started the campaign (alice)" in shown
        relied = {"answer": "relied_on", "why": "it is fine"}
        answer = page.post(address, relied, follow=True)
        assert "is yours: another person has to say" in html.unescape(answer.content.decode())
        assert not StandingAnswer.objects.exists()
        page.post(address, {"answer": "not_relied_on", "why": "the twin is right"})
        assert StandingAnswer.objects.get().by.username == "alice"

    def test_another_engineer_may_say_it(self, doubted):
        bert = User.objects.create(username="bert", is_superuser=True)
        made = answer_standing(doubted.rounds.get(number=2), "relied_on", "seen it twice", bert)
        assert made.by == bert


def test_it_takes_no_answer_from_a_viewer_and_none_by_a_link(viewer, page, doubted):
    address = reverse("answer_standing", args=[doubted.pk, 2])
    said = {"answer": "relied_on", "why": "x"}
    assert viewer.post(address, said).status_code == 403
    assert page.get(address).status_code == 405
    assert "<form" not in _panel(text_of(viewer, "round", doubted.pk, 2))


def _panel(body):
    return body[body.index("data-doubt") : body.index('id="hypothesis"')]


def test_it_says_that_a_round_is_measured_again(page, running):
    number = running.rounds.last().number
    claim(Round.objects.filter(campaign=running, number=number), state="claimed")
    assert f"measuring round {number} again" in text_of(page, "campaign", running.pk)


def test_it_tells_older_rounds_from_those_that_were_measured_twice(page, sample, monkeypatch):
    monkeypatch.setattr("campaigns.reports.rows.standing_of", lambda round_: "")
    monkeypatch.setattr("campaigns.views.round_tabs.sessions_of", lambda round_: [])
    assert text_of(page, "rounds", sample.pk).count("one session only") == 4
    assert "before a second was asked for" in text_of(
        page, "round_tab", sample.pk, 2, "surroundings"
    )
