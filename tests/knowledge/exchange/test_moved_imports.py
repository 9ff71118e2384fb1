"""Imports of experience that were stored before there was one table of imports."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from knowledge.exchange.batches import undo
from knowledge.experience.exchange.plan import plan_import
from knowledge.models import Batch, Experience, Lesson
from tests.knowledge.conftest import person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.storage]

BEFORE = [("knowledge", "0017_imports_in_parts")]
NAMES = ("Batch", "ExperienceImport", "TrackRecord", "Experience", "Lesson")


def migrate(targets):
    MigrationExecutor(connection).migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def moved():
    """An import of documents, and two of experience, of which the second was undone by cora."""
    cora = person("cora", "curator")
    leaves = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        old = migrate(BEFORE)
        table = {name: old.get_model("knowledge", name) for name in NAMES}
        table["Batch"].objects.create(pk=3, origin="team", author_id=cora.pk)
        now = timezone.now()
        for number, state in ((3, "confirmed"), (8, "undone")):
            by = {"undone_by": "cora", "undone_at": now.isoformat()} if state == "undone" else {}
            table["ExperienceImport"].objects.create(
                pk=number,
                origin=f"log {number}",
                format="experiences.json",
                state=state,
                answers={"op:x": "matmul"},
                plan={"counts": {"create": 1}, "decided_by": "cora", **by},
                author_id=cora.pk,
                decided_at=now,
            )
        track = table["TrackRecord"].objects.create(strategy="x", op="matmul")
        table["Experience"].objects.create(
            track=track, label="tie", origin="imported", happened_at=now, batch_id=3
        )
        table["Lesson"].objects.create(
            context="a", signal="b", takeaway="c", applicability="d", batch_id=8
        )
    finally:
        migrate(leaves)
    return cora


def test_they_keep_number_address_what_they_brought_and_its_seal(moved):
    third, eighth = Batch.objects.filter(kind="experience").order_by("pk")
    assert (third.number, eighth.number) == (3, 8)
    assert (third.origin, third.state, third.answers) == ("log 3", "confirmed", {"op:x": "matmul"})
    assert (eighth.undone_by, eighth.undone_by_name) == (moved, "cora")
    assert eighth.undone_at is not None
    assert Experience.objects.get().batch == third
    assert Lesson.objects.get().batch == eighth
    assert Batch.objects.numbered("wiki", 3).get().origin == "team"
    client = Client()
    client.force_login(moved)
    for address, said in (("/x/imports/3/", "log 3"), ("/w/imports/3/", "team")):
        assert said in client.get(address).content.decode()
    assert client.get("/w/imports/8/").status_code == 404
    later = plan_import({"a.json": "[]"}, None)
    assert later.number > 8
    undo(third, moved, "wrong file")
    assert Experience.objects.get().standing == "withdrawn"
    for statement in ("UPDATE {} SET gain = 9", "DELETE FROM {}"):
        with (
            pytest.raises(IntegrityError, match="a recorded row is never"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement.format(Experience._meta.db_table))
