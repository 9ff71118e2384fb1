"""The banner of a campaign whose sources were revised, and the page of a value that it uses."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign
from tests.campaigns import lab
from tests.campaigns.views.conftest import whole_campaign

BANNER = 'id="drift"'


@pytest.fixture
def done(db, tmp_path, monkeypatch) -> Campaign:
    lab.set_the_lab(monkeypatch)
    return lab.finished(tmp_path)


def body_of(page, campaign, name="campaign"):
    if name == "campaign":
        return whole_campaign(page, campaign)
    return page.get(reverse(name, args=[campaign.pk])).content.decode()


def test_it_shows_no_banner_while_the_wiki_stands(page, done):
    body = body_of(page, done)
    assert BANNER not in body
    assert 'data-cite-state="ok">10 GB/s' in body


@pytest.mark.parametrize("name", ["campaign", "report", "report_file"])
def test_it_says_where_the_target_would_go(page, done, name):
    lab.write(lab.revised("20 GB/s"), vouched=True)
    body = body_of(page, done, name)
    assert 'data-drift="moves" data-target="11.1 µs (' in body
    assert 'data-would-be="5.56 µs (' in body
    assert 'data-pin="copy_bandwidth" data-pin-state="replaced" data-cite-state="ok"' in body
    assert "copy_bandwidth was revised from 10 GB/s to 20 GB/s." in body
    assert 'data-case="one"' in body
    # The target itself is what it was; on the page of the report it is another tab's.
    assert name == "report" or "100 kB ÷ 10 GB/s = 10.0 µs" in body


def test_it_names_the_state_of_a_changed_citation(page, done):
    lab.write(lab.revised("20 GB/s"))
    body = body_of(page, done)
    assert 'data-pin-state="changed" data-cite-state="changed"' in body
    assert 'data-cite-state="changed">10 GB/s</a> <span class="unknown">changed</span>' in body


def test_it_names_it_beside_the_gate_that_rests_on_it(page, done):
    lab.write(lab.revised("20 GB/s"))
    body = page.get(reverse("round", args=[done.pk, 2])).content.decode()
    assert 'data-cite-state="changed">copy_bandwidth: 10 GB/s &lt;- &lt;gpu-wiki&gt;' in body


def test_it_links_a_value_to_the_campaigns_that_rest_on_it(page, done):
    spec = lab.bandwidth()
    body = page.get(spec.get_absolute_url()).content.decode()
    assert f'href="/c/{done.pk}/"' in body
    assert "bandwidth of the roof" in body
