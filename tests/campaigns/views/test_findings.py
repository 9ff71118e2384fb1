"""Static findings on the pages: beside the source, in the rounds, in the report, in the form."""

from __future__ import annotations

import re

import pytest
from django.core.management import load_command_class
from django.urls import reverse

from campaigns.models import Campaign
from campaigns.reports.report import render_report
from campaigns.rules.verdict.finding_kinds import FindingKind
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast
from tests.campaigns.views.conftest import whole_campaign, whole_round
from tests.kept_wiki import put_wiki

FORKS = "// time 50\n// second line\nvoid f() { fork(); } // <script>alert(1)</script>"
KEEPS = "// time 50\nstatic int kept = 0;\nvoid f() { std::thread t; }"
CHOICE = {
    "problem": "softmax",
    "platform": "h200-sxm",
    "backend": "cuda",
    "goal": "85",
    "rounds": "12",
}


@pytest.fixture
def campaign(db, monkeypatch, tmp_path) -> Campaign:
    """Round 2 is refused, round 3 is accepted with a flag and with what is allowed."""
    cast.set_the_scene(monkeypatch)
    return finished(tmp_path, [[FORKS, FORKS + " "], [KEEPS]])


def body_of(page, name: str, *args: object, **query: object) -> str:
    return page.get(reverse(name, args=args), query).content.decode()


def test_it_shows_what_was_refused_with_its_line_beside_the_source(page, campaign):
    body = whole_round(page, campaign, 2)
    assert 'data-finding="process" data-stance="refused"' in body
    link = f'href="{reverse("round_source", args=[campaign.pk, 2])}?candidate=1#L3">3</a>'
    assert link in body
    assert FindingKind.PROCESS.meaning in body
    assert "Rejected before it was built: kernel.cpp line 3, fork." in body
    assert "Nothing was built or run." in body
    assert body.count("screening: not run") == 2
    assert body.count("findings: 1 refused") == 2
    assert 'id="L3"' in body_of(page, "round_source", campaign.pk, 2)


@pytest.mark.parametrize("name", ["round_tab", "round_source"])
def test_it_shows_the_text_of_a_finding_as_text(page, campaign, name):
    tab = ("code",) if name == "round_tab" else ()
    body = body_of(page, name, campaign.pk, 2, *tab)
    assert "<script>alert" not in body
    assert "fork(); } // &lt;script&gt;alert(1)&lt;/script&gt;" in body


def test_it_tells_flags_of_an_accepted_round(page, campaign):
    body = body_of(page, "round_tab", campaign.pk, 3, "code")
    assert 'data-finding="cache" data-stance="flagged"' in body
    assert 'data-finding="thread" data-stance="allowed"' in body
    for address in (reverse("rounds", args=[campaign.pk]), reverse("campaign", args=[campaign.pk])):
        shown = page.get(address).content.decode()
        assert "findings: 1 flagged" in shown
        assert "findings: 1 refused" in shown
        assert shown.count("data-findings") == 2


def test_it_says_that_a_plain_source_shows_nothing(page, campaign):
    assert "worth a second look" in body_of(page, "round_tab", campaign.pk, 1, "code")


def test_it_says_that_an_older_source_was_not_examined(page, campaign, monkeypatch):
    monkeypatch.setattr("campaigns.views.round_tabs.found_lines", lambda *_: None)
    assert "Not examined" in body_of(page, "round_tab", campaign.pk, 1, "code")


def test_it_shows_the_policy_on_the_campaign(page, campaign):
    body = whole_campaign(page, campaign)
    (refused,) = re.findall(r'<dd data-stance="refused">(.*?)</dd>', body)
    assert re.sub(r"<[^>]+>", "", refused) == "process, patching, lazy output"
    assert ">thread</span>" in re.findall(r'<dd data-stance="allowed">(.*?)</dd>', body)[0]


def test_it_writes_findings_and_policy_into_the_report(page, campaign):
    html = render_report(campaign)
    assert 'data-finding="process" data-stance="refused"' in html
    assert 'data-finding="cache" data-stance="flagged"' in html
    assert 'id="findings-policy"' in html
    assert "<script>" not in html
    assert "/source?candidate" not in html
    assert "not run: line 3, fork (process)" in html


@pytest.fixture
def rung(monkeypatch):
    monkeypatch.setattr("campaigns.views.new_campaign.notify", lambda *a: None)


def test_it_offers_a_stance_for_every_kind(page, db):
    put_wiki()
    body = page.get("/c/new", CHOICE).content.decode()
    for kind in FindingKind:
        assert f'name="findings-{kind}"' in body
    assert body.count("as usual: refused") == 3
    assert "as usual: allowed" not in body
    assert "<details><summary>As usual for cuda</summary>" in body


def test_it_creates_with_the_policy_of_the_form_and_shows_the_command(page, db, rung):
    put_wiki()
    chosen = CHOICE | {
        "findings-cache": "refused",
        "findings-process": "",
        "findings-exit": "allowed",
    }
    answer = page.get("/c/new", chosen)
    command = answer.context["command"]
    assert command.endswith("--findings cache=refused --findings exit=allowed")
    parser = load_command_class("campaigns", "campaign").create_parser("manage.py", "campaign")
    found = vars(parser.parse_args(command.split()[3:]))
    assert found["findings"] == ["cache=refused", "exit=allowed"]
    body = answer.content.decode()
    assert '<option value="refused" selected>' in body
    assert "<details open><summary>Chosen for this campaign</summary>" in body
    page.post("/c/new", chosen)
    policy = Campaign.objects.get().findings_policy
    assert (policy["cache"], policy["process"], policy["exit"]) == ("refused", "refused", "allowed")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("findings-cache", "banned", "findings.cache: &#x27;banned&#x27;; accepted: allowed, "),
        ("findings-caches", "refused", "findings: &#x27;caches&#x27;; accepted: identity_key, "),
    ],
)
def test_it_names_the_field_that_it_does_not_take(page, db, rung, field, value, told):
    put_wiki()
    answer = page.post("/c/new", CHOICE | {field: value})
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not Campaign.objects.exists()
