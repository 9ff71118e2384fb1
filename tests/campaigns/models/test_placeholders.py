"""Placeholders are written once, by the ORM's rule and by the database's, as all events are."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from campaigns.models import Campaign, CampaignState, Event, Placeholder
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from knowledge.models import Immutable
from tests.campaigns.steps import cast

pytestmark = [pytest.mark.storage, pytest.mark.django_db]


@pytest.fixture
def draft(tmp_path: Path) -> Campaign:
    return create_campaign(Wish(cast.write_problem(tmp_path), cast.make_platform().slug, "cpp"))


def write(campaign: Campaign) -> Event:
    person, _ = User.objects.get_or_create(username="cora")
    assumed = {"value": 1e12, "unit": "B/s", "shown": "1 TB/s", "reason": "comes next week"}
    return record(campaign, Placeholder.KIND, "1 TB/s", by=person, question="bandwidth", **assumed)


def test_it_changes_and_deletes_none(draft: Campaign) -> None:
    write(draft)
    row = Placeholder.objects.get()
    assert (row.question, row.value, row.by.username) == ("bandwidth", 1e12, "cora")
    row.message = "forged"
    with pytest.raises(Immutable):
        row.save()
    with pytest.raises(Immutable):
        row.delete()
    refused(f"UPDATE campaigns_event SET message = 'x' WHERE id = {row.pk}", "never changed")
    refused(f"DELETE FROM campaigns_event WHERE id = {row.pk}", "never deleted")


def test_r1_it_adds_no_placeholder_to_a_confirmed_campaign(draft: Campaign) -> None:
    claim(Campaign.objects.filter(pk=draft.pk), state=CampaignState.CONFIRMED)
    with pytest.raises(Immutable, match="is confirmed"):
        write(draft)
    refuses_to_add(draft, "placeholder")


@pytest.mark.parametrize("kind", ["reviewed", "restart", "unmasked"])
def test_a_finished_campaign_takes_nothing_that_steers_it(draft: Campaign, kind: str) -> None:
    claim(Campaign.objects.filter(pk=draft.pk), state=CampaignState.ABORTED)
    with pytest.raises(Immutable, match="is finished"):
        record(draft, kind, "late")
    refuses_to_add(draft, kind)


def refuses_to_add(campaign: Campaign, kind: str) -> None:
    late = Event(campaign=campaign, kind=kind, message="late")
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        super(Event, late).save_base(force_insert=True)


def test_it_holds_one_placeholder_for_a_question(draft: Campaign) -> None:
    write(draft)
    with pytest.raises(IntegrityError), transaction.atomic():
        write(draft)


def refused(sql: str, words: str) -> None:
    with (
        pytest.raises(IntegrityError, match=words),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)
