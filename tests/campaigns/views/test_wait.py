"""Every wait stands on the campaign's page: since when, why, the next look, the pause (R8)."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.models import Cause, Evaluation, EvaluationState
from campaigns.models.transitions import move
from campaigns.records.device_waits import wait_of
from campaigns.rules.noise.device_gate import QUIET
from campaigns.steps.measuring.waits import wait_for_device
from tests.campaigns.steps import cast

HTMX = {"HX-Request": "true"}
WHY = "process 4711 computes on it"


@pytest.fixture
def scene(db, monkeypatch):
    cast.set_the_scene(monkeypatch)


@pytest.fixture
def waiting(scene, tmp_path):
    return cast.waiting_campaign(tmp_path)


def read(client, campaign):
    return client.get(f"/c/{campaign.pk}/").content.decode()


def iso(moment):
    return moment.isoformat().replace("+00:00", "")[:19]


def test_r8_it_tells_since_when_why_and_until_when(page, waiting):
    campaign, worker = waiting
    html = read(page, campaign)
    wait = wait_of(campaign)
    assert 'data-wait="busy"' in html
    assert f"cpu of {worker.name}: {WHY}." in html
    for moment in (wait.since, wait.look_at, wait.pause_at):
        assert f'<time datetime="{iso(moment)}' in html
    assert "waiting for a device" in html
    assert "waiting for a device" in page.get("/").content.decode()


def test_it_tells_of_a_host_that_is_waited_for_as_a_measurement_met_load(page, waiting):
    campaign, worker = waiting
    queued = Evaluation.objects.get(candidate__round__campaign=campaign)
    wait_for_device(queued, worker, Cause.BUSY, "load 4.1 on 2 cores, 97 % busy", QUIET)
    html = read(page, campaign)
    assert "Waiting for a quiet host" in html
    assert f"as a measurement on {worker.name} met load: load 4.1 on 2 cores, 97 % busy." in html
    assert "waiting for a quiet host" in html
    wait = wait_of(campaign)
    assert (wait.look_at - wait.looked_at).total_seconds() == 20


def test_it_promises_nothing_while_nobody_looks(page, waiting, monkeypatch):
    campaign, _ = waiting
    later = timezone.now() + timedelta(minutes=30)
    monkeypatch.setattr(timezone, "now", lambda: later)
    html = read(page, campaign)
    assert "is late; a worker will catch up" in html
    assert "the campaign pauses at" not in html


def test_it_tells_of_a_held_device_that_it_is_tried_all_the_time(page, scene, tmp_path):
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, "baseline")
    queued = Evaluation.objects.get(candidate__round__campaign=campaign)
    worker = cast.make_bench(cast.Judge()).worker
    wait_for_device(queued, worker, Cause.HELD, "cpu (Test CPU) is held by process <7>")
    html = read(page, campaign)
    assert 'data-wait="held"' in html
    assert "is held by process &lt;7&gt;" in html
    assert "Tried again within the minute" in html


def test_it_tells_why_it_was_paused_and_what_to_do(page, waiting, monkeypatch):
    campaign, worker = waiting
    queued = Evaluation.objects.get(candidate__round__campaign=campaign)
    now = timezone.now()
    for number in range(1, 7):
        later = now + timedelta(minutes=11 * number)
        monkeypatch.setattr(timezone, "now", lambda later=later: later)
        wait_for_device(queued, worker, Cause.BUSY, WHY)
    cast.step(campaign)
    assert cast.fresh(campaign).state == "paused"
    html = read(page, campaign)
    assert 'data-wait="over"' in html
    assert "Paused: no free device for 1 h 00." in html
    assert f"{WHY}." in html
    assert "Resume" in html
    page.post(f"/c/{campaign.pk}/resume")
    assert "data-wait=" not in read(page, campaign)


def test_it_swaps_the_wait_in_and_out_while_the_page_is_open(page, scene, tmp_path, monkeypatch):
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, "baseline")
    address = f"/c/{campaign.pk}/"
    version = page.get(address).context["version"]
    worker = cast.make_bench(cast.Judge()).worker
    queued = Evaluation.objects.get(candidate__round__campaign=campaign)
    wait_for_device(queued, worker, Cause.BUSY, WHY)
    answer = page.get(address, {"since": version}, headers=HTMX)
    html = answer.content.decode()
    assert '<div id="wait" hx-swap-oob="true"><section class="band" data-wait="busy"' in html
    assert answer.context["news"][-1].startswith(f"waits for cpu of {worker.name}: {WHY}")
    now = timezone.now() + timedelta(minutes=10)
    with monkeypatch.context() as later:
        later.setattr(timezone, "now", lambda: now)
        wait_for_device(queued, worker, Cause.BUSY, "process 4712 computes on it")
    answer = page.get(address, {"since": answer.context["version"]}, headers=HTMX)
    assert "process 4712 computes on it" in answer.content.decode()
    move(queued, EvaluationState.RUNNING, holder="x", heartbeat_at=now, started_at=now)
    version = answer.context["version"]
    html = page.get(address, {"since": version}, headers=HTMX).content.decode()
    assert '<div id="wait" hx-swap-oob="true"></div>' in html


@pytest.mark.parametrize(
    ("workers", "others", "why"),
    [
        (0, 0, "no worker of this platform shows life"),
        (1, 0, "no worker has come to it yet"),
        (1, 2, "2 measurements of other campaigns before it"),
    ],
)
def test_it_tells_what_is_before_it_in_the_queue(
    page, scene, tmp_path, monkeypatch, workers, others, why
):
    for number in range(others):
        other = cast.make_campaign(tmp_path / str(number))
        cast.step_until(other, "baseline")
    campaign = cast.make_campaign(tmp_path)
    cast.step_until(campaign, "baseline")
    html = read(page, campaign)
    assert "data-wait=" not in html
    assert "data-no-worker" in html
    later = timezone.now() + timedelta(minutes=5)
    monkeypatch.setattr(timezone, "now", lambda: later)
    if workers:
        cast.make_bench(cast.Judge())
    html = read(page, campaign)
    shown = page.get(f"/c/{campaign.pk}/r/1/").content.decode()
    assert ("data-no-worker" in shown) == (not workers)
    assert 'data-wait="queue"' in html
    assert f": {why}." in html
    assert ("How to start one" in html) == (not workers)


def test_it_tells_of_no_wait_where_nothing_waits(page, sample, running):
    assert "data-wait=" not in read(page, sample)
    assert "data-wait=" not in read(page, running)
