"""Revisions and citations are written once, whoever asks."""

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction

from knowledge.models import Citation, Document, Immutable, Revision, Spec, Waiver

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


@pytest.fixture(params=[Revision, Citation])
def row(request, wiki):
    return request.param.objects.first()


def test_it_refuses_to_save_a_stored_row(row):
    with pytest.raises(Immutable, match="cannot be changed"):
        row.save()


def test_it_refuses_to_delete_a_stored_row(row):
    with pytest.raises(Immutable, match="cannot be deleted"):
        row.delete()


def test_it_refuses_bulk_changes(row):
    rows = type(row).objects.all()
    with pytest.raises(Immutable):
        rows.update(pk=row.pk)
    with pytest.raises(Immutable):
        rows.delete()
    with pytest.raises(Immutable):
        rows.bulk_update([row], ["pk"])
    with pytest.raises(Immutable):
        rows.bulk_create([row], update_conflicts=True, update_fields=["id"], unique_fields=["id"])


def test_it_refuses_a_copy_under_the_same_key(row):
    copy = type(row)(**{field.attname: getattr(row, field.attname) for field in row._meta.fields})
    with pytest.raises(DatabaseError), transaction.atomic():
        copy.save()


def test_it_refuses_cascades_from_documents_and_specs(wiki):
    for model in (Document, Spec):
        with pytest.raises(DatabaseError), transaction.atomic():
            model.objects.all().delete()


@pytest.mark.parametrize(
    ("table", "column"), [("knowledge_revision", "text"), ("knowledge_citation", "quote")]
)
def test_it_refuses_plain_sql(wiki, table, column):
    with (
        pytest.raises(DatabaseError, match="never changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE {table} SET {column} = 'forged'")


@pytest.mark.parametrize("table", ["knowledge_citation", "knowledge_revision"])
def test_it_refuses_a_deletion_in_plain_sql(wiki, table):
    with (
        pytest.raises(DatabaseError, match="never deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"DELETE FROM {table}")


@pytest.mark.parametrize("model", ["revision", "citation", "spec", "document", "platform"])
def test_it_refuses_the_admin(client, wiki, model):
    client.force_login(get_user_model().objects.create_superuser("root"))
    key = {"revision": Revision, "citation": Citation}.get(model, Document).objects.first().pk
    assert client.get(f"/admin/knowledge/{model}/").status_code == 200
    assert client.get(f"/admin/knowledge/{model}/add/").status_code == 403
    assert client.post(f"/admin/knowledge/{model}/{key}/change/", {}).status_code == 403
    assert client.post(f"/admin/knowledge/{model}/{key}/delete/", {}).status_code == 403


@pytest.mark.parametrize("statement", ["UPDATE {} SET reason = 'x'", "DELETE FROM {}"])
def test_the_database_refuses_changes_of_exceptions_too(wiki, statement):
    known = {"by": "alice", "reason": "known"}
    waiver = Waiver.objects.create(
        spec=Spec.objects.first(), constraint="range", reason="known", elsewhere=known
    )
    refused = pytest.raises(DatabaseError, match="never")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format("knowledge_waiver"))
    assert Waiver.objects.get().pk == waiver.pk
