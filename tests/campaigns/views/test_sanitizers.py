"""The round's page says who looked at an accepted candidate, and loudest where nobody did."""

import pytest

from campaigns.evaluator.contract import Fault, Sanitized
from campaigns.steps.lifecycle.run_here import run_here
from tests.campaigns.steps import cast

CLEAN = Sanitized("AddressSanitizer", True)
LOST = Sanitized("ThreadSanitizer", False, note="no runtime <b>here</b>")
GUILTY = Sanitized("AddressSanitizer", True, (Fault("overflow", "read", "kernel.cpp", 8),))


@pytest.fixture
def told(page, db, monkeypatch, tmp_path):
    """What the page of round 2 says in its first panel, given what sanitizers said."""

    def read(*said, text="time 50"):
        cast.set_the_scene(monkeypatch)
        script = cast.Script([[text]])
        monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
        campaign = cast.make_campaign(tmp_path, max_rounds=2)
        run_here(campaign.pk, cast.make_bench(cast.Judge(said=said)), lambda message: None)
        html = page.get(f"/c/{campaign.pk}/r/2/").content.decode()
        return html[html.index('id="result"') : html.index('id="hypothesis"')]

    return read


def test_it_warns_where_none_ran_and_says_why(told):
    html = told(LOST)
    assert 'data-looked="none"' in html
    assert "<dd>ThreadSanitizer not run" in html
    assert "no runtime &lt;b&gt;here&lt;/b&gt;" in html


def test_it_tells_what_ran_beside_what_did_not(told):
    html = told(CLEAN, LOST)
    assert "data-looked" not in html
    assert "<dd>AddressSanitizer clean; ThreadSanitizer not run: no runtime" in html


def test_it_tells_a_finding(told):
    assert 'sanitizers<span class="sr"> failed' in told(GUILTY)


@pytest.mark.parametrize("text", ["time 100", "crash"])
def test_it_says_nothing_of_what_was_not_to_be_accepted(told, text):
    assert "data-looked" not in told(LOST, text=text)
