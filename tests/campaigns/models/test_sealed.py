"""Recorded rows can not be rewritten: through the ORM, in bulk, in the admin or in SQL (R45)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.db import IntegrityError, connection, transaction
from django.test import Client, override_settings

from campaigns.models import Campaign, IllegalTransition, Round
from campaigns.steps.lifecycle.run_here import run_here
from knowledge.models import Immutable
from tests.around import built_around
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
    "Evidence": "facts",
    "Phase": "state",
    "Round": "kind",
    "Verdict": "sentence",
    "Commit": "message",
    "Standing": "sentence",
    "Campaign": "title",
}


@pytest.fixture(scope="module")
def key(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """A campaign that was run to its end once: what is refused leaves it as it is."""

    def run() -> int:
        folder = tmp_path_factory.mktemp("sealed")
        with override_settings(DATA_DIR=folder / "data"), pytest.MonkeyPatch.context() as patch:
            cast.set_the_scene(patch)
            script = cast.Script([["time 50"]])
            patch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)
            campaign = cast.make_campaign(folder)
            bench = cast.make_bench(cast.Judge())
            return run_here(campaign.pk, bench, lambda message: None).pk

    with built_around(django_db_blocker, run) as made:
        yield made


@pytest.fixture
def finished(key: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=key)


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
def test_r45_it_refuses_to_change_a_sealed_row_through_the_orm(
    sealed: Any, way: Callable[[Any], Any]
) -> None:
    with pytest.raises(Immutable):
        way(sealed)


def test_r45_it_refuses_to_change_a_sealed_row_in_sql(sealed: Any) -> None:
    table = type(sealed)._meta.db_table
    assert_refused(
        f"UPDATE {table} SET {column(sealed)} = '7' WHERE id = {sealed.pk}", "never changed"
    )


def test_r45_it_refuses_to_delete_a_sealed_row_in_sql(sealed: Any) -> None:
    table = type(sealed)._meta.db_table
    assert_refused(f"DELETE FROM {table} WHERE id = {sealed.pk}", "never deleted")
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        type(sealed).objects.filter(pk=sealed.pk)._raw_delete("default")


def assert_refused(sql: str, words: str) -> None:
    """This statement fails with these words, and leaves nothing behind."""
    with (
        pytest.raises(IntegrityError, match=words),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def copied(row: Any, **changed: Any) -> Any:
    """A new row like this one, not stored yet."""
    fields = {f.attname: getattr(row, f.attname) for f in row._meta.fields if not f.primary_key}
    return type(row)(**(fields | changed))


def save_new(row: Any) -> None:
    row.save()


def create_many(row: Any) -> None:
    type(row).objects.bulk_create([row])


def insert(row: Any) -> None:
    """By Django's own writer, which is below every guard of the models."""
    with transaction.atomic():
        row.save_base(force_insert=True)


# Way → what refuses it: the models, or the database alone.
REFUSED_BY = {
    save_new: (Immutable, IllegalTransition),
    create_many: (Immutable, IllegalTransition),
    insert: (IntegrityError,),
}
Refused = tuple[type[Exception], ...]


@pytest.mark.parametrize(("way", "refused"), REFUSED_BY.items())
def test_r45_it_adds_nothing_to_a_closed_round(
    finished: Campaign, way: Callable[[Any], None], refused: Refused
) -> None:
    candidate = finished.rounds.get(number=2).candidates.get()
    decided = candidate.evaluations.get(kind="decide")
    with pytest.raises(refused):
        way(copied(candidate, ordinal=9))
    with pytest.raises(refused):
        way(copied(decided, attempt=9, state="queued"))
    with pytest.raises(refused):
        way(copied(decided, kind="remeasure", attempt=9, state="queued"))
    way(copied(decided, kind="report", attempt=9, state="queued"))
    way(copied(decided, kind="reproduce", attempt=9, state="queued"))
    way(copied(decided, kind="compile-max-autotune", attempt=1, state="queued"))


@pytest.mark.parametrize(("way", "refused"), REFUSED_BY.items())
def test_it_opens_no_round_of_a_finished_campaign(
    finished: Campaign, way: Callable[[Any], None], refused: Refused
) -> None:
    with pytest.raises(refused):
        way(copied(finished.rounds.get(number=2), number=9, state="open"))


@pytest.mark.parametrize(("way", "refused"), REFUSED_BY.items())
def test_it_makes_no_row_in_a_later_state(
    finished: Campaign, way: Callable[[Any], None], refused: Refused
) -> None:
    candidate = finished.incumbent
    done = candidate.evaluations.get(kind="report")
    for row in (copied(finished), copied(done, attempt=9)):
        with pytest.raises(refused):
            way(row)
    draft = copied(finished, state="draft")
    draft.save()
    with pytest.raises(refused):
        way(Round(campaign=draft, number=1, state="closed"))


def test_it_shows_records_in_the_admin_without_a_way_to_change_them(
    sealed: Any, admin_client: Client
) -> None:
    model = type(sealed)
    address = f"/admin/campaigns/{model._meta.model_name}/{sealed.pk}/"
    assert admin_client.get(f"{address}change/").status_code == 200
    assert admin_client.post(f"{address}change/", {column(sealed): "x"}).status_code == 403
    assert admin_client.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    assert model in admin.site._registry


@pytest.fixture
def begun(db: None, tmp_path: Path) -> Campaign:
    """One that has no round yet."""
    with pytest.MonkeyPatch.context() as patch:
        cast.set_the_scene(patch)
        return cast.make_campaign(tmp_path)


def test_r51_no_second_round_opens_beside_an_open_one(begun: Campaign) -> None:
    Round.objects.create(campaign=begun, number=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.create(campaign=begun, number=2)
    assert begun.rounds.count() == 1


def test_it_lets_an_open_round_and_a_waiting_evaluation_change(begun: Campaign) -> None:
    from campaigns.models import Candidate, Evaluation, EvaluationKind

    round_ = Round.objects.create(campaign=begun, number=1)
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
