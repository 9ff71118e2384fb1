"""What waits in the wiki: each thing once, for whom it waits, and what follows a decision."""

from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.curation.comment import CommentPlace, add_comment
from knowledge.lookup.waiting import WaitingKind, queue_behind, rows_in_wiki, waiting_in_wiki
from knowledge.models import Flag, Notification, Spec

pytestmark = pytest.mark.django_db


def test_a_proposal_waits_for_others_than_its_author(proposal, engineer):
    (found,) = waiting_in_wiki()
    assert (found.kind, found.key) == (WaitingKind.SPEC, proposal.pk)
    assert found.not_for == {engineer.pk}
    row = rows_in_wiki([found])[found.kind, found.key]
    assert (row.author, row.asks, row.affects) == ("enzo", "approval", "nothing yet")


def test_a_value_whose_citation_drifted_waits_once_since_the_first(proposal, curator):
    old = timezone.now() - timedelta(days=3)
    Flag.objects.create(spec=proposal, kind="lost", raised_by=curator)
    Flag.objects.update(raised_at=old)
    (found,) = waiting_in_wiki()
    assert (found.kind, found.since) == (WaitingKind.DRIFT, old)
    assert curator.pk in found.not_for
    assert "flag ‘" in rows_in_wiki([found])[found.kind, found.key].asks


@pytest.mark.parametrize(
    ("referer", "kind"),
    [
        ("", None),
        ("https://kopt.example/w/s/3/", None),
        ("https://kopt.example/w/s/3/?queue=spec", "spec"),
        ("https://kopt.example/w/s/3/?queue=all", ""),
        ("https://kopt.example/w/s/3/?queue=<script>", ""),
        ("https://[kopt/?queue=spec", None),
    ],
)
def test_the_queue_is_known_by_the_address_that_a_page_was_opened_at(referer, kind):
    assert queue_behind(referer) == kind


def test_after_a_value_from_the_queue_the_next_one_opens(client, proposal, curator):
    client.force_login(curator)
    page = f"http://testserver/w/s/{proposal.pk}/?queue=spec"
    shown = client.get(page)
    seen = shown.context["steps"][0][2]["seen"].value()
    body = {"seen": seen or "", "why": "read the line"}
    answer = client.post(f"/w/s/{proposal.pk}/approve/", body, headers={"Referer": page})
    assert (answer.status_code, answer.url) == (302, "/review/next?kind=spec")
    assert Spec.objects.get(pk=proposal.pk).state == "approved"
    assert client.get(answer.url).url == "/review/?kind=spec"


def test_the_author_of_a_value_reads_what_is_said_of_it(client, proposal, engineer, curator):
    made = add_comment(CommentPlace("spec", str(proposal.pk)), "which mode?", curator)
    told = Notification.objects.get()
    url = f"/w/s/{proposal.pk}/#comment-{made.pk}"
    assert (told.person, told.kind, told.url) == (engineer, "comment", url)
    client.force_login(engineer)
    assert "which mode?" in client.get(f"/w/s/{proposal.pk}/").content.decode()
