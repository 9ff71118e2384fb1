"""Home: what needs me, what runs, what changed."""

from django.contrib.auth.models import Permission, User

from campaigns.records.review_queue import review_queue, rows_of_queue
from campaigns.views.home import FEW, REVIEWS
from knowledge.models import Spec, SpecState
from tests.campaigns.sample import build_sample

HTMX = {"HX-Request": "true"}


def test_it_teaches_when_there_is_nothing(page):
    body = page.get("/").content.decode()
    assert "Nothing has been measured yet" in body
    assert "manage.py campaign sample" in body
    assert "Nothing needs you" in body


def test_it_tells_what_finished_since_the_last_visit(page, sample):
    first = page.get("/")
    assert "Finished last" in first.content.decode()
    assert first.context["finished"][0].total.gain > 2
    assert 'class="spark"' in first.content.decode()
    page.cookies["visits"] = "~2026-11-20T00:00:00+00:00"
    for _ in range(2):
        assert "Finished since your last visit" in page.get("/").content.decode()


def test_it_lists_ones_own(page, engineer):
    assert not page.get("/").context["own"]
    made = build_sample(rounds=1, running=True, owner=engineer)
    assert [line.campaign for line in page.get("/").context["own"]] == [made]


def test_events_leave_out_the_steps_inside_a_round(page, sample):
    body = page.get("/events/").content.decode()
    assert "round 3: Accepted: 1.0" in body
    assert "rolled back to the incumbent" not in body


def test_it_polls_only_the_running_campaigns(page, running):
    answer = page.get("/", headers=HTMX)
    body = answer.content.decode()
    assert "<html" not in body
    assert "measuring round 4" in body
    assert answer.headers["Vary"].count("HX-Request") == 1
    since = answer.context["version"]
    assert page.get("/", {"since": since}, headers=HTMX).status_code == 204


def test_it_gives_the_whole_page_when_history_is_restored(page, running):
    headers = {**HTMX, "HX-History-Restore-Request": "true"}
    assert "<html" in page.get("/", headers=headers).content.decode()


def test_it_asks_a_fixed_number_of_queries(page, running, sample, django_assert_max_num_queries):
    page.get("/")  # notes the visit, and reads the closed rounds
    with django_assert_max_num_queries(25):
        page.get("/")


def test_what_needs_a_person_is_the_queue_as_they_find_it(page, sample, engineer):
    """Without the permission nothing; never one's own."""
    assert "Nothing needs you" in page.get("/").content.decode()
    may = Permission.objects.filter(codename__in=("review_spec", "review_round"))
    engineer.user_permissions.add(*may)
    spec = Spec.objects.approved().filter(platform__slug="h200-sxm").first()
    for author in (User.objects.create(username="carol"), engineer):
        values = {"metric": f"tdp_{author}", "state": SpecState.PROPOSED, "proposed_by": author}
        fields = {name: getattr(spec, name) for name in ("platform", "shown", "evidence")}
        Spec.objects.create(**fields, **values)
    answer = page.get("/")
    assert answer.context["waiting"] == len(review_queue(engineer).mine)
    assert answer.content.decode().count("data-review=") == REVIEWS
    assert 'href="/review/?mine=1"' in answer.content.decode()
    metrics = [row.title for row in rows_of_queue(review_queue(engineer).of("spec", mine=True))]
    assert len(metrics) == 1
    assert "tdp_carol" in metrics[0]


def test_it_offers_the_sample_beside_the_first_few(page, running):
    assert page.get("/").context["offers_sample"]
    assert "load-sample" in page.get("/").content.decode()
    for _ in range(FEW - 1):
        build_sample(rounds=1, running=True)
    assert "load-sample" not in page.get("/").content.decode()
