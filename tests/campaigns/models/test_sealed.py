"""Recorded rows can not be rewritten: through the ORM, in bulk, in the admin or in SQL (R45)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.db import IntegrityError, connection, transaction
from django.test import Client

from campaigns.models import Campaign
from campaigns.steps.run_here import run_here
from knowledge.models import Immutable
from tests.campaigns.steps import cast

pytestmark = pytest.mark.storage

# Model → the column that somebody tries to change.
SEALED = {
    "Problem": "title",
    "Case": "name",
    "Protocol": "digest",
    "Candidate": "label",
    "Evaluation": "reason",
    "Event": "message",
    "Round": "kind",
    "Verdict": "sentence",
}


@pytest.fixture
def finished(db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Campaign:
    cast.set_the_scene(monkeypatch)
    monkeypatch.setattr("campaigns.steps.propose.proposer", lambda name: cast.Script([["time 50"]]))
    campaign = cast.make_campaign(tmp_path)
    return run_here(campaign.pk, cast.make_bench(cast.Judge()), lambda message: None)


@pytest.fixture(params=SEALED)
def sealed(request: pytest.FixtureRequest, finished: Campaign) -> Any:
    import campaigns.models

    return getattr(campaigns.models, request.param).objects.first()


def column(row: Any) -> str:
    return SEALED[type(row).__name__]


def save(row: Any) -> None:
    setattr(row, column(row), "forged")
    row.save()


def update(row: Any) -> None:
    type(row).objects.filter(pk=row.pk).update(**{column(row): "forged"})


def bulk_update(row: Any) -> None:
    setattr(row, column(row), "forged")
    type(row).objects.bulk_update([row], [column(row)])


def upsert(row: Any) -> None:
    type(row).objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["id"], update_fields=[column(row)]
    )


WAYS: list[Callable[[Any], Any]] = [
    save,
    update,
    bulk_update,
    upsert,
    lambda row: row.delete(),
    lambda row: type(row).objects.filter(pk=row.pk).delete(),
]


@pytest.mark.parametrize("way", WAYS, ids=["save", "update", "bulk", "upsert", "delete", "deletes"])
def test_it_refuses_to_change_a_sealed_row_through_the_orm(
    sealed: Any, way: Callable[[Any], Any]
) -> None:
    with pytest.raises(Immutable):
        way(sealed)


def test_it_refuses_to_change_a_sealed_row_in_sql(sealed: Any) -> None:
    table = type(sealed)._meta.db_table
    with (
        pytest.raises(IntegrityError, match="never changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE {table} SET {column(sealed)} = %s WHERE id = %s", ["x", sealed.pk])


def test_it_shows_records_in_the_admin_without_a_way_to_change_them(
    sealed: Any, admin_client: Client
) -> None:
    model = type(sealed)
    address = f"/admin/campaigns/{model._meta.model_name}/{sealed.pk}/"
    assert admin_client.get(f"{address}change/").status_code == 200
    assert admin_client.post(f"{address}change/", {column(sealed): "x"}).status_code == 403
    assert admin_client.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    assert model in admin.site._registry


def test_it_lets_an_open_round_and_a_waiting_evaluation_change(db: None, tmp_path: Path) -> None:
    from campaigns.models import Candidate, Evaluation, EvaluationKind, Round

    cast.make_platform()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("campaigns.steps.create_campaign.proposer_names", lambda: ("search",))
        campaign = cast.make_campaign(tmp_path)
    round_ = Round.objects.create(campaign=campaign, number=1)
    candidate = Candidate.objects.create(
        round=round_, ordinal=1, label="a", file_name="a.cpp", text="", digest="d"
    )
    evaluation = Evaluation.objects.create(candidate=candidate, kind=EvaluationKind.DECIDE)
    round_.chosen = candidate
    round_.save()
    evaluation.reason = "waiting"
    evaluation.save()
    evaluation.refresh_from_db()
    assert evaluation.reason == "waiting"
