"""Who may open what, and with which method."""

import pytest
from django.urls import reverse

PAGES = {
    "home": (),
    "campaigns": (),
    "new_campaign": (),
    "repositories": (),
    "import_problem": (),
    "new_repository": (),
    "imported": (),
    "campaign": (1,),
    "hand_in": (1,),
    "rounds": (1,),
    "round": (1, 1),
    "round_diff": (1, 1),
    "round_source": (1, 1),
    "report": (1,),
    "report_file": (1,),
    "compare": (1, 1, 2),
}
VERBS = ("confirm", "pause", "resume", "stop")


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_it_sends_strangers_to_the_login(client, name):
    answer = client.get(reverse(name, args=PAGES[name]))
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login/?next=")


@pytest.mark.parametrize("name", PAGES)
def test_it_refuses_to_delete(page, name):
    assert page.delete(reverse(name, args=PAGES[name])).status_code == 405


@pytest.mark.parametrize("name", [name for name in PAGES if PAGES[name]])
def test_it_says_404_for_what_is_not_stored(page, name):
    arguments = [999, *PAGES[name][1:]]
    answer = page.get(reverse(name, args=arguments))
    assert answer.status_code == 404
    assert b"Nothing is stored at this address" in answer.content


@pytest.mark.parametrize("verb", VERBS)
def test_it_changes_nothing_by_get(page, verb):
    assert page.get(reverse(f"campaign_{verb}", args=[1])).status_code == 405


@pytest.mark.parametrize("verb", VERBS)
def test_it_lets_no_viewer_change_a_campaign(viewer, verb):
    assert viewer.post(reverse(f"campaign_{verb}", args=[1])).status_code == 403


def test_it_lets_no_viewer_start_a_campaign(viewer):
    assert viewer.get("/c/new").status_code == 403
    assert viewer.post("/c/new", {"problem": "softmax"}).status_code == 403


def test_it_shows_viewers_no_button_they_may_not_press(viewer, running):
    body = viewer.get(reverse("campaign", args=[running.pk])).content.decode()
    assert "do-stop" not in body
    assert "New campaign" not in viewer.get("/c/").content.decode()


@pytest.mark.django_db
def test_it_answers_health_without_a_login(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok"})


@pytest.mark.parametrize("name", PAGES)
def test_it_keeps_inline_code_and_style_out(page, sample, name):
    answer = page.get(reverse(name, args=[sample.pk, *PAGES[name][1:]] if PAGES[name] else ()))
    body = answer.content.decode()
    assert answer.status_code == 200
    assert " style=" not in body
    assert " onclick=" not in body
    assert "<script>" not in body
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert ("unsafe-inline" in policy) is (name == "report_file")
