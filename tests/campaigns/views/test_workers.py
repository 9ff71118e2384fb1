"""The page of the workers: what each device shows against itself, and who may ask for more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.models import Passport, Worker
from campaigns.steps.lifecycle.control import pause
from knowledge.models import Platform
from tests.campaigns.steps import cast

LENGTH = {
    "kernel": "vector_add 16384",
    "time_us": 34.3,
    "spread": 0.01,
    "gain": 0.001,
    "low": -0.002,
    "high": 0.004,
    "sigma": 0.007,
    "covered": 4,
    "sessions": 4,
    "pairs": 40,
    "moved": 0,
}
CONDITIONS = {"clock_mhz": {"low": 1755.0, "high": 1980.0}, "throttled": ["power cap"]}


@pytest.fixture
def worker(db):
    now = timezone.now()
    return Worker.objects.create(
        name="measure@box",
        host="box",
        pid=7,
        device="cuda:0",
        card="GPU-1",
        platform=cast.make_platform(),
        versions={"driver": "580.1"},
        started_at=now,
        heartbeat_at=now,
    )


def passport(worker, **more):
    values = {
        "worker": worker,
        "card": worker.card,
        "device": worker.device,
        "backend": "triton",
        "why": "the worker is new",
        "host": {"driver": "580.1"},
        "lengths": [LENGTH, {**LENGTH, "time_us": 1200.0, "sigma": 0.002}],
        "conditions": CONDITIONS,
    }
    return Passport.objects.create(**{**values, **more})


def read(client):
    return client.get("/workers/").content.decode()


def test_it_says_that_there_is_no_worker(page):
    assert "No worker has reported yet" in read(page)


def test_it_shows_a_passport_with_its_chart_its_numbers_and_what_was_seen(page, worker):
    taken = passport(worker)
    html = read(page)
    assert 'data-passport="good"' in html
    assert f"Noise passport {taken.pk} of" in html
    assert html.count('<rect class="band"') == 2
    assert "±1.4 %" in html
    assert "1,755 to 1,980 MHz" in html
    assert "power cap" in html
    assert '<a href="/jobs/" aria-current="page">Jobs</a>' in html
    assert '<a href="/w/">Wiki</a>' in html


def test_its_chart_has_a_page_and_files(page, worker):
    passport(worker)
    there = f"/workers/{worker.pk}/figures/passport"
    assert f'href="{there}.svg"' in read(page)
    assert "<figcaption" in page.get(f"{there}/").content.decode()
    assert "</svg>" in page.get(f"{there}.svg").content.decode()
    assert page.get(f"{there}.csv").content.decode().startswith("Kernel,")


def test_it_says_why_a_passport_is_not_relied_on(page, worker):
    passport(worker, host={"driver": "570.9"}, failures=["the clock was throttled: heat"])
    html = read(page)
    assert 'data-passport="failing"' in html
    assert "driver was 570.9 and is 580.1" in html
    assert "the clock was throttled: heat" in html
    passport(worker, host={"driver": "570.9"})
    assert 'data-passport="stale"' in read(page)


def test_it_does_not_call_good_what_tells_next_to_nothing(page, worker):
    crowded = passport(worker, lengths=[{**LENGTH, "sigma": 0.3}])
    html = read(page)
    assert 'data-passport="noisy"' in html
    assert "for kernels of about 34.3 µs the noise floor is 60 %" in html
    assert "Verdicts do not rest on" not in html
    passport(worker)
    html = read(page)
    assert 'data-passport="good"' in html
    assert f'<th scope="row" class="num">{crowded.pk}</th>' in html
    assert html.count("the noise floor is 60 %") == 1


def test_it_shows_a_worker_without_a_passport_and_one_whose_try_failed(page, worker):
    html = read(page)
    assert 'data-passport="none"' in html
    assert "No kernel has been compared with itself here yet." in html
    passport(worker, lengths=[], conditions={}, error="vector_add, triton: crashed: <b>x</b>")
    assert "failed: vector_add, triton: crashed: &lt;b&gt;x&lt;/b&gt;" in read(page)


def test_it_keeps_the_history(page, worker):
    for _ in range(12):
        passport(worker)
    html = read(page)
    assert "10 latest passports" in html
    assert html.count("34.3 µs: 1.4 %, 1.20 ms: 1 %") == 10


def test_an_engineer_asks_for_one_and_the_worker_is_rung(
    page, worker, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr(
        "campaigns.steps.notify.current_app.send_task",
        lambda *task, **more: sent.append((task, more)),
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = page.post(f"/workers/{worker.pk}/passport", follow=True)
    assert Worker.objects.get(asked_at__isnull=False).asked_by.username == "alice"
    html = answer.content.decode()
    assert "Asked measure@box for a new noise passport" in html
    assert "was asked for by alice" in html
    assert "Take a new passport" not in html
    (((task,), more),) = sent
    assert (task, more["args"]) == ("campaigns.tasks.passport", ["measure@box"])
    assert more["queue"] == "platform.test-cpu"


def test_a_viewer_reads_but_does_not_ask(viewer, worker):
    assert "Take a new passport" not in read(viewer)
    assert viewer.post(f"/workers/{worker.pk}/passport").status_code == 403
    assert viewer.get(f"/workers/{worker.pk}/passport").status_code in (403, 405)
    assert not Worker.objects.filter(asked_at__isnull=False).exists()


def test_asking_is_a_post_for_a_worker_that_exists(page, worker):
    assert page.get(f"/workers/{worker.pk}/passport").status_code == 405
    assert page.post("/workers/999/passport").status_code == 404


def test_nobody_reads_it_without_logging_in(client, db):
    assert client.get("/workers/").status_code == 302


def test_it_lists_living_workers_first(page, worker):
    ago = timezone.now() - timedelta(hours=2)
    fields = {f.attname: getattr(worker, f.attname) for f in worker._meta.fields}
    silent = {**fields, "id": None, "name": "a silent one", "heartbeat_at": ago}
    Worker.objects.create(**silent)
    html = read(page)
    assert html.index("measure@box") < html.index("a silent one")
    assert "silent for 2" in html
    # A silent one can not be asked.
    assert html.count("Take a new passport") == 1


def test_it_tells_who_waits_for_a_device(page, tmp_path, monkeypatch):
    cast.set_the_scene(monkeypatch)
    campaign, _ = cast.waiting_campaign(tmp_path)
    html = read(page)
    assert 'data-waits="1"' in html
    assert f'<a href="/c/{campaign.pk}/">Tiny' in html
    assert ": process 4711 computes on it. Next look at" in html
    pause(cast.fresh(campaign))
    cast.step(campaign)
    assert "data-waits" not in read(page)


def test_it_says_how_a_worker_of_a_platform_is_started(page):
    Platform.objects.create(slug="h200-sxm", name="NVIDIA H200 SXM", kind="gpu")
    body = page.get("/workers/", {"platform": "h200-sxm"}).content.decode()
    assert "Start a worker for NVIDIA H200 SXM" in body
    assert ".venv/bin/python manage.py up --only measure --name second<" in body
    assert "Start a worker<" in page.get("/workers/", {"platform": "<b>"}).content.decode()
