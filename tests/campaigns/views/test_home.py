"""Home: what needs me, what runs, what changed."""

from django.contrib.auth.models import Permission, User

from knowledge.models import Platform, Spec, SpecState
from tests.campaigns.sample import build_sample

HTMX = {"HX-Request": "true"}


def test_it_teaches_when_there_is_nothing(page):
    body = page.get("/").content.decode()
    assert "Nothing has been measured yet" in body
    assert "manage.py campaign new" in body
    assert "Nothing needs you" in body


def test_it_lists_what_waits_for_a_person(page, sample):
    body = page.get("/").content.decode()
    assert f"/c/{sample.pk}/r/9/" in body
    assert "device time disagrees" in body


def test_it_tells_what_finished_since_the_last_visit(page, sample):
    first = page.get("/")
    assert "Finished last" in first.content.decode()
    assert first.context["finished"][0].total.gain > 2
    assert 'class="spark"' in first.content.decode()
    session = page.session
    session["visits"] = None, "2026-11-20T00:00:00+00:00"
    session.save()
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
    with django_assert_max_num_queries(22):
        page.get("/")


def test_it_counts_the_values_that_this_person_may_decide_on(page, sample, engineer, viewer):
    platform = Platform.objects.get(slug="h200-sxm")
    spec = Spec.objects.approved().filter(platform=platform).first()
    other = User.objects.create(username="carol")
    for author in (other, other, engineer):
        values = {"metric": f"tdp_{author}_{Spec.objects.count()}", "state": SpecState.PROPOSED}
        Spec.objects.create(
            **{f: getattr(spec, f) for f in ("platform", "shown", "evidence")},
            **values,
            proposed_by=author,
        )
    assert "data-values" not in page.get("/").content.decode()
    engineer.user_permissions.add(Permission.objects.get(codename="review_spec"))
    body = page.get("/").content.decode()
    assert '<li data-values="2">' in body
    assert 'href="/w/review/"' in body
