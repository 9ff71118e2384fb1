"""One campaign, live."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import claim
from tests.campaigns.views.conftest import whole_campaign

HTMX = {"HX-Request": "true"}


def address(campaign):
    return reverse("campaign", args=[campaign.pk])


def test_it_names_best_baseline_target_and_why_it_stopped(page, sample):
    body = page.get(address(sample)).content.decode()
    assert "v0 (round 1)" in body
    assert 'data-baseline="v0 (round 1)"' in body
    assert "All 10 rounds are done." in body
    assert "memory_bandwidth: 4.8 TB/s &lt;- &lt;gpu-wiki&gt;/docs/hardware/h200-sxm.md:L" in body
    assert "/w/docs/docs/hardware/h200-sxm.md?rev=" in body


def test_it_draws_both_charts_with_their_tables(page, sample):
    body = page.get(address(sample)).content.decode()
    for name in ("chart-progress", "chart-roofline"):
        assert f'id="{name}"' in body
    assert body.count("Show as table") == 2
    assert f'href="/c/{sample.pk}/r/5/"' in body


def test_it_draws_the_roofline_of_the_case_in_the_address(page, sample):
    body = page.get(address(sample), {"case": "4096x4096"}).content.decode()
    assert "Roofline, 4096x4096" in body


def test_it_says_unknown_and_goes_on_without_a_ceiling(page, running):
    target = {**running.target, "bandwidth": [], "missing": ["bandwidth"]}
    target["cases"] = {name: {"flops": 1.0, "bytes": 1.0} for name in target["cases"]}
    claim(Campaign.objects.filter(pk=running.pk), target=target)
    for name in ("campaign", "report", "report_file"):
        body = page.get(reverse(name, args=[running.pk])).content.decode()
        assert "UNKNOWN (gpu-wiki not found)" in body
    assert page.get(reverse("round", args=[running.pk, 2])).status_code == 200
    assert page.get("/c/").status_code == 200


def test_it_opens_a_campaign_that_has_not_begun(page, running):
    claim(Campaign.objects.filter(pk=running.pk), target={}, noise={}, incumbent=None)
    assert "Not set yet" in whole_campaign(page, running)


def test_it_says_nothing_new_with_204(page, running):
    version = str(page.get(address(running)).context["version"])
    answer = page.get(address(running), {"since": version}, headers=HTMX)
    assert (answer.status_code, answer.content) == (204, b"")


def test_it_swaps_the_strip_alone_while_only_the_heart_beats(page, running):
    version = str(page.get(address(running)).context["version"])
    rows = Evaluation.objects.filter(state=EvaluationState.RUNNING)
    claim(rows, heartbeat_at=timezone.now() - timedelta(minutes=4))
    body = page.get(address(running), {"since": version}, headers=HTMX).content.decode()
    assert "no heartbeat, the last one</span> <time datetime=" in body
    assert re.search(r'data-age="240\.\d" data-lost="[^"]+" title="[^"]+">4 min ago</time>', body)
    assert 'id="strip" hx-swap-oob' in body
    assert 'data-state="validate">waiting for a worker, as the one that measured is silent<' in body
    assert 'id="board"' not in body
    assert 'id="live"' not in body


def test_it_swaps_the_board_and_announces_each_event_once(page, running):
    version = str(page.get(address(running)).context["version"])
    record(running, "note", "round 4: first")
    record(running, "note", "round 4: <b>measured</b>")
    answer = page.get(address(running), {"since": version}, headers=HTMX)
    body = answer.content.decode()
    assert 'id="board" hx-swap-oob="true"' in body
    assert body.count('id="live"') == 1
    spoken = body.split('id="live"')[1]
    assert "<p>round 4: first</p><p>round 4: &lt;b&gt;measured&lt;/b&gt;</p></div>" in spoken
    assert "<html" not in body
    after = page.get(address(running), {"since": str(answer.context["version"])}, headers=HTMX)
    assert after.status_code == 204


def test_it_stops_polling_when_the_campaign_is_over(page, sample):
    answer = page.get(address(sample), {"since": "0.validate.00~00"}, headers=HTMX)
    assert answer.status_code == 286
    assert 'hx-trigger="every' not in answer.content.decode()
    assert 'hx-trigger="every' not in page.get(address(sample)).content.decode()


def test_it_gives_the_page_whole_on_back(page, sample):
    headers = {**HTMX, "HX-History-Restore-Request": "true"}
    answer = page.get(address(sample), headers=headers)
    assert answer.status_code == 200
    assert "<html" in answer.content.decode()


def test_it_gives_the_time_left_as_a_range_with_its_basis(page, running):
    body = page.get(address(running)).content.decode()
    assert "from the last 3 rounds; stops at 20 rounds" in body
    left = body.split("<dt>Time left</dt>")[1].split("<span")[0]
    assert left.startswith("<dd>about ")
    assert "left" not in left


def test_it_asks_a_fixed_number_of_queries(page, sample, django_assert_num_queries):
    page.get(address(sample))  # reads the closed rounds
    with django_assert_num_queries(25):
        page.get(address(sample))
    version = str(page.get(address(sample)).context["version"])
    with django_assert_num_queries(8):
        page.get(address(sample), {"since": version}, headers=HTMX)


def test_an_unknown_tab_is_404(page, sample):
    assert page.get(f"/c/{sample.pk}/nonsense/").status_code == 404


@pytest.mark.parametrize("event", ["9" * 5000, "9" * 19, "²", "-1"])
def test_it_draws_anew_for_a_version_that_never_was(page, running, event):
    answer = page.get(address(running), {"since": f"{event}.x~y"}, headers=HTMX)
    assert answer.status_code == 200
    assert answer.context["board_changed"]


def test_r49_it_shows_every_limit_and_how_far_it_is_used_up(page, running):
    body = whole_campaign(page, running)
    found = dict(re.findall(r'data-limit="(\w+)" data-used="[^"]*">([^<]*)<', body))
    assert found["max_rounds"] == "3 of 20"
    assert '<dt>Rounds judged</dt><dd>3 <span class="unit">of 20</span>' in body
    assert "round 4 is open" in body
    assert found["failure_budget"] == "0 of 8"
    assert found["device_time"].endswith(" h, no limit")
    assert {*found} == {
        *("max_rounds", "consecutive_regressions", "failure_budget", "wall_time", "device_time")
    }
