"""The commits of accepted rounds on the pages of campaign and round, and in the report (R46)."""

import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from campaigns.lineage.git import LineageError
from campaigns.models import Commit
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.rounds import close_round as step
from tests.campaigns.sample import HOSTILE
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign


def body_of(page, name, *args):
    return page.get(reverse(name, args=args)).content.decode()


def panel(body, name):
    found = re.search(rf'<section class="panel" id="{name}".*?</section>', body, re.DOTALL)
    return found[0] if found else ""


@pytest.fixture
def commits(sample):
    return list(Commit.objects.filter(round__campaign=sample).order_by("round__number"))


@pytest.fixture
def uncommitted(db, tmp_path, monkeypatch):
    """A campaign on a host without git."""

    def write(*_):
        raise LineageError("git: no such <program>")

    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr(step, "write", write)
    monkeypatch.setattr(
        "campaigns.steps.rounds.propose.proposer", lambda name: cast.Script([["time 50"]])
    )
    made = cast.make_campaign(tmp_path)
    return run_here(made.pk, cast.make_bench(cast.Judge()), lambda message: None)


def test_it_shows_branch_hash_and_message_of_a_round(page, sample, commits):
    for commit in commits:
        shown = panel(
            body_of(page, "round_tab", sample.pk, commit.round.number, "reproduce"), "commit"
        )
        assert commit.branch in shown
        assert f'data-sha="{commit.sha}"' in shown
        assert f">{commit.short}</code>" in shown
        assert escape(commit.message) in shown
        assert HOSTILE not in shown


def test_it_shows_no_commit_of_a_round_that_was_not_accepted(page, sample, commits):
    accepted = {commit.round.number for commit in commits}
    others = [r.number for r in sample.rounds.all() if r.number not in accepted]
    assert others
    bodies = [body_of(page, "round_tab", sample.pk, n, "reproduce") for n in others]
    assert not any(panel(body, "commit") for body in bodies)


def test_it_lists_the_chain_of_a_campaign(page, sample, commits):
    shown = panel(whole_campaign(page, sample), "lineage")
    assert commits[0].branch in shown
    assert re.findall(r'data-sha="(\w+)"', shown) == [commit.sha for commit in commits]
    links = re.findall(r'href="([^"]+)">\[opt\]', shown)
    assert links == [reverse("round", args=[sample.pk, c.round.number]) for c in commits]


@pytest.mark.parametrize("name", ["report", "report_file"])
def test_it_lists_the_chain_in_the_report(page, sample, commits, name):
    shown = panel(body_of(page, name, sample.pk), "lineage")
    assert re.findall(r'data-sha="(\w+)"', shown) == [commit.sha for commit in commits]
    links = re.findall(r'href="([^"]+)">\[opt\]', shown)
    assert links == [f"#round-{commit.round.number}" for commit in commits]


@pytest.mark.parametrize("finished", [True, False])
def test_it_says_when_a_round_is_committed(page, db, tmp_path, monkeypatch, finished):
    monkeypatch.setattr("campaigns.steps.rounds.close_round.commit_accepted", lambda campaign: None)
    monkeypatch.setattr("campaigns.steps.lifecycle.finish.commit_accepted", lambda campaign: None)
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 50"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
    made, bench = cast.make_campaign(tmp_path), cast.make_bench(cast.Judge())
    if finished:
        cast.run_again(made, bench)
    else:
        cast.step_until(made, "baseline")
        cast.measure_all(made, bench)
        cast.step_until(made, "analyze")
    shown = panel(whole_campaign(page, made), "lineage")
    words = "commits what was accepted before" if finished else "after the next accepted round"
    assert words in shown


def test_it_says_why_a_round_is_not_committed(page, uncommitted):
    key = uncommitted.pk
    bodies = [whole_campaign(page, uncommitted), body_of(page, "report", key)]
    for shown in [*(panel(body, "lineage") for body in bodies)]:
        assert "Not committed: round 1, 2." in shown
        assert "git: no such &lt;program&gt;" in shown
    shown = panel(body_of(page, "round_tab", key, 2, "reproduce"), "commit")
    assert "Not committed." in shown
    assert "git: no such &lt;program&gt;" in shown
