"""Pitfalls and placeholders are written once, by the ORM's rule and by the database's."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from campaigns.models import Campaign, CampaignState, Pitfall, PitfallKind, Placeholder
from campaigns.models.transitions import claim
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from knowledge.models import Immutable
from tests.campaigns.steps import cast

pytestmark = [pytest.mark.storage, pytest.mark.django_db]


@pytest.fixture
def draft(tmp_path: Path) -> Campaign:
    return create_campaign(Wish(cast.write_problem(tmp_path), cast.make_platform().slug, "cpp"))


def pitfall(campaign: Campaign) -> Pitfall:
    return Pitfall(campaign=campaign, kind=PitfallKind.UNKNOWN_SPEC, message="no bandwidth")


def placeholder(campaign: Campaign) -> Placeholder:
    person, _ = User.objects.get_or_create(username="cora")
    return Placeholder(
        campaign=campaign,
        question="bandwidth",
        value=1e12,
        unit="B/s",
        shown="1 TB/s",
        reason="the sheet comes next week",
        allowed_by=person,
    )


@pytest.mark.parametrize("make", [pitfall, placeholder])
def test_it_changes_and_deletes_none(draft: Campaign, make) -> None:
    row = make(draft)
    row.save()
    column = "message" if isinstance(row, Pitfall) else "reason"
    setattr(row, column, "forged")
    with pytest.raises(Immutable):
        row.save()
    with pytest.raises(Immutable):
        row.delete()
    table = row._meta.db_table
    refused(f"UPDATE {table} SET {column} = 'x' WHERE id = {row.pk}", "never changed")
    refused(f"DELETE FROM {table} WHERE id = {row.pk}", "never deleted")


def test_it_adds_no_pitfall_to_a_finished_campaign(draft: Campaign) -> None:
    claim(Campaign.objects.filter(pk=draft.pk), state=CampaignState.ABORTED)
    with pytest.raises(Immutable, match="is finished"):
        pitfall(draft).save()
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        super(Pitfall, pitfall(draft)).save_base(force_insert=True)


def test_r1_it_adds_no_placeholder_to_a_confirmed_campaign(draft: Campaign) -> None:
    claim(Campaign.objects.filter(pk=draft.pk), state=CampaignState.CONFIRMED)
    with pytest.raises(Immutable, match="is confirmed"):
        placeholder(draft).save()
    with pytest.raises(IntegrityError, match="never added to"), transaction.atomic():
        super(Placeholder, placeholder(draft)).save_base(force_insert=True)


def test_it_holds_one_placeholder_for_a_question(draft: Campaign) -> None:
    placeholder(draft).save()
    with pytest.raises(IntegrityError), transaction.atomic():
        placeholder(draft).save()


def refused(sql: str, words: str) -> None:
    with (
        pytest.raises(IntegrityError, match=words),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)
