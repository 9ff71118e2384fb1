"""The queue, the decision bar and the discussion, as forms that work without scripts."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from campaigns.models import ReviewDecision
from knowledge.models import Comment, Notification

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(sample):
    """A curator, who started nothing."""
    user = User.objects.create(username="carl")
    user.groups.add(Group.objects.get(name="curator"))
    client = Client()
    client.force_login(user)
    return client


def decide(client, campaign, number, **said):
    return client.post(f"/c/{campaign.pk}/r/{number}/decide", {"seen": "0", **said})


def test_the_queue_lists_the_oldest_first_with_what_it_affects(reviewer, sample):
    rows = reviewer.get("/review/").context["rows"]
    assert [row.waiting.since for row in rows] == sorted(row.waiting.since for row in rows)
    found = {(row.waiting.kind.value, row.title[:8]): row for row in rows}
    assert found["round", "Round 2:"].asks == "approval by 2"
    assert "the judge could not accept it" in found["round", "Round 9:"].asks
    assert "1.17× faster" in found["round", "Round 6:"].affects
    assert "n=20 pairs" in found["round", "Round 6:"].affects
    # Below the limit nobody has to look, and a rejection stands by itself.
    assert {row.title[:7] for row in rows if row.waiting.kind == "round"} == {
        "Round 2",
        "Round 6",
        "Round 9",
    }


def test_it_keeps_one_kind_and_counts_all(reviewer, sample):
    context = reviewer.get("/review/?kind=lesson&page=999999999999").context
    counts = {kind.value: n for kind, n in context["counts"]}
    assert {row.waiting.kind.value for row in context["rows"]} == {"lesson"}
    # Of the campaign that runs one round waits as well.
    assert (counts["round"], counts["result"], counts["lesson"]) == (4, 1, len(context["rows"]))
    assert reviewer.get("/review/?kind=%00&mine=x").status_code == 200


def test_what_a_person_may_not_decide_does_not_wait_for_them(viewer, page, sample):
    assert viewer.get("/review/?mine=1").context["rows"] == []
    # The engineer of these tests may run campaigns, and has no role that decides.
    assert page.get("/review/").context["for_me"] == 0


def test_it_asks_a_fixed_number_of_queries(reviewer, sample, django_assert_max_num_queries):
    with django_assert_max_num_queries(18):
        reviewer.get("/review/")


def test_the_navigation_counts_what_waits_for_me(reviewer, viewer, sample):
    headers = {"HX-Request": "true"}
    assert b'data-count="' in reviewer.get("/review/count", headers=headers).content
    assert viewer.get("/review/count", headers=headers).content.strip() == b""
    assert reviewer.get("/review/count").url == "/review/"


def test_a_browser_that_knows_the_count_is_told_in_one_query_that_it_holds(
    reviewer, sample, django_assert_num_queries
):
    headers = {"HX-Request": "true"}
    known = reviewer.get("/review/count", headers=headers).headers["ETag"]
    headers["If-None-Match"] = known
    with django_assert_num_queries(4):  # the session, the person and their projects besides
        assert reviewer.get("/review/count", headers=headers).status_code == 304
    decide(reviewer, sample, 2, word="approved", reason="")
    fresh = reviewer.get("/review/count", headers=headers)
    assert fresh.status_code == 200
    assert fresh.headers["ETag"] != known


def test_after_a_decision_the_next_one_opens_with_an_offer_to_undo(reviewer, sample):
    first = reviewer.get("/review/next?kind=round")
    assert first.url == f"/c/{sample.pk}/r/2/?queue=round"
    assert b'name="queue" value="round"' in reviewer.get(first.url).content
    done = decide(reviewer, sample, 2, word="approved", reason="", queue="round")
    assert done.url == "/review/next?kind=round"
    shown = reviewer.get(done.url, follow=True)
    assert shown.redirect_chain == [(f"/c/{sample.pk}/r/6/?queue=round", 302)]
    body = shown.content.decode()
    assert 'id="toast"' in body
    assert "Round 2 of campaign" in body
    made = ReviewDecision.objects.get()
    answer = reviewer.post(f"/c/{sample.pk}/decisions/{made.pk}/undo", follow=True)
    body = answer.content.decode()
    assert "Taken back: approved." in body
    assert "(taken back)" in body
    assert 'id="toast"' not in body


def test_the_offer_ends_and_the_server_says_that_it_is_late(reviewer, sample):
    decide(reviewer, sample, 2, word="approved", reason="")
    made = ReviewDecision.objects.get()
    late = timezone.now() + timedelta(seconds=30)
    with patch("django.utils.timezone.now", lambda: late):
        answer = reviewer.post(f"/c/{sample.pk}/decisions/{made.pk}/undo")
    assert answer.status_code == 409
    assert "too late" in answer.content.decode()
    assert reviewer.get("/review/next?kind=drift", follow=True).status_code == 200


def test_the_bar_says_who_decided_and_how_many_are_missing(reviewer, sample):
    decide(reviewer, sample, 2, word="approved", reason="read twice")
    body = reviewer.get(f"/c/{sample.pk}/r/2/").content.decode()
    assert "1 of 2 approvals" in body
    assert "read twice" in body
    assert 'value="approved"' not in body


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ({"word": "returned", "reason": " "}, 422, "reason: is needed"),
        ({"word": "blessed", "reason": "kept as typed"}, 422, "kept as typed"),
        ({"word": "approved", "seen": "7"}, 409, "look again"),
        ({"word": "rerun"}, 403, "needs the role engineer or lead"),
        ({}, 422, "word"),
    ],
)
def test_a_refusal_keeps_what_was_typed_and_says_why(reviewer, sample, said, status, words):
    answer = decide(reviewer, sample, 2, **said)
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not ReviewDecision.objects.exists()


def test_a_round_that_needs_review_is_never_made_an_acceptance(reviewer, sample):
    assert decide(reviewer, sample, 9, word="approved").status_code == 422
    assert decide(reviewer, sample, 9, word="returned", reason="why?").status_code == 302
    sample.refresh_from_db()
    assert sample.rounds.get(number=9).verdict.word == "needs_review"


@pytest.mark.parametrize("client", ["page", "viewer"])
def test_who_may_not_decide_sees_why_and_a_raw_post_is_refused(client, sample, request):
    found = request.getfixturevalue(client)
    body = found.get(f"/c/{sample.pk}/r/2/").content.decode()
    assert "needs the role engineer, curator or lead" in body
    assert 'id="decide-form"' not in body
    assert decide(found, sample, 2, word="approved").status_code == 403


def test_nobody_decides_on_their_own(page, engineer, sample):
    engineer.user_permissions.add(Permission.objects.get(codename="review_round"))
    with patch("campaigns.records.decisions.author_of", lambda *_: frozenset({engineer.pk})):
        assert "You proposed it" in page.get(f"/c/{sample.pk}/r/2/").content.decode()
        assert decide(page, sample, 2, word="approved").status_code == 403


def test_the_result_is_decided_on_its_campaign(reviewer, sample):
    assert (
        "Waits for a decision, 0 of 2 approvals"
        in reviewer.get(f"/c/{sample.pk}/").content.decode()
    )
    answer = reviewer.post(f"/c/{sample.pk}/decide", {"word": "approved", "seen": "0"})
    assert answer.url == f"/c/{sample.pk}/"
    body = reviewer.get(f"/c/{sample.pk}/").content.decode()
    assert "1 of 2 approvals" in body
    body = reviewer.get(f"/c/{sample.pk}/activity/").content.decode()
    assert "the result approved by carl" in body


def test_there_is_nothing_to_decide_about_a_baseline_or_what_runs(reviewer, running):
    for path in (f"/c/{running.pk}/r/1/decide", f"/c/{running.pk}/decide"):
        assert "There is nothing to decide" in reviewer.get(path).content.decode()
        assert reviewer.post(path, {"word": "approved"}).status_code == 409


def say(client, campaign, **said):
    usual = {"kind": "round", "key": f"{campaign.pk}/6", "next": f"/c/{campaign.pk}/r/6/"}
    return client.post("/comments/", usual | said)


HOSTILE = "<script>alert(1)</script>\n@alice look"


def test_a_comment_is_plain_text_and_tells_whom_it_mentions(reviewer, page, sample):
    answer = say(reviewer, sample, text=HOSTILE)
    made = Comment.objects.get()
    assert answer.url == f"/c/{sample.pk}/r/6/#comment-{made.pk}"
    body = page.get(f"/c/{sample.pk}/r/6/").content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br><b data-mention>@alice</b> look" in body
    told = Notification.objects.get()
    assert (told.person.username, told.kind, told.url) == ("alice", "mention", answer.url)
    assert "carl comments on round 6" in page.get(f"/c/{sample.pk}/activity/").content.decode()


def test_a_line_of_the_diff_and_a_case_have_their_own(reviewer, sample):
    diff = f"/c/{sample.pk}/r/6/diff"
    assert b'id="say-L31"' in reviewer.get(f"{diff}?comment=31").content
    say(reviewer, sample, kind="diff", anchor="L31", text="why divide?", next=diff)
    say(reviewer, sample, kind="case", anchor="1024x1024", text="small here")
    for view in ("unified", "split"):
        assert b"why divide?" in reviewer.get(f"{diff}?view={view}").content
    cases = f"/c/{sample.pk}/r/6/cases/"
    body = reviewer.get(f"{cases}?comment=4096x4096").content.decode()
    assert "small here" in body
    assert 'id="say-4096x4096"' in body
    body = reviewer.get(f"/c/{sample.pk}/r/6/").content.decode()
    assert "?ctx=10000#comment-" in body
    assert f'href="{cases}#comment-' in body


def test_an_answer_and_a_retraction_keep_who_and_when(reviewer, page, sample):
    say(reviewer, sample, text="first")
    first = Comment.objects.get()
    say(page, sample, text="an answer", parent=str(first.pk))
    assert [said.kind for said in Notification.objects.all()] == ["comment"]
    assert page.post(f"/comments/{first.pk}/retract").status_code == 403
    assert reviewer.post(f"/comments/{first.pk}/retract").status_code == 302
    assert reviewer.post(f"/comments/{first.pk}/retract").status_code == 409
    body = reviewer.get(f"/c/{sample.pk}/r/6/").content.decode()
    assert "Taken back" in body
    assert "first</p>" not in body
    assert "an answer" in body


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"text": " "}, "text"),
        ({"text": "x" * 4001}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "x", "kind": "mood"}, "kind"),
        ({"text": "x", "key": "9" * 400}, "key"),
        ({"text": "x", "key": "1/999999"}, "key"),
        ({"text": "x", "kind": "case", "anchor": "no such case"}, "key"),
        ({"text": "x", "kind": "diff", "anchor": "L0"}, "key"),
        ({"text": "x", "kind": "spec", "key": "²"}, "key"),
        ({"text": "x", "kind": "lesson", "key": "nil"}, "key"),
        ({"text": "x", "parent": "99999999999999999999"}, "parent"),
    ],
)
def test_it_names_the_field_that_is_wrong(viewer, sample, said, field):
    answer = say(viewer, sample, **said)
    assert answer.status_code == 422
    assert answer.context["refused"].field == field
    assert not Comment.objects.exists()


def test_it_goes_to_no_foreign_address(viewer, sample):
    answer = say(viewer, sample, text="x", next="//evil.example/")
    assert answer.url.startswith(f"/c/{sample.pk}/r/6/#comment-")
