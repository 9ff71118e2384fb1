"""A wiki that is put back is the one that the import left."""

import pytest
from django.apps import apps
from django.db import transaction

from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import import_wiki
from knowledge.models import Document, Platform, Spec
from knowledge.models.document import SHIPPED_ORIGIN
from tests import kept_rows, kept_wiki
from tests.kept_rows import read
from tests.kept_wiki import put_files, put_wiki

pytestmark = [pytest.mark.storage, pytest.mark.django_db]

TEXT = "# One\n\n## Platform\n\n- platform: one\n- name: One\n- vendor: V\n- arch: A\n"
TEXT += "- kind: gpu\n- target: one\n- aliases: One\n"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(kept_rows, "_kept", {})


@pytest.fixture
def kept():
    """Keep the shipped wiki and empty the database again; the rows that the import left."""
    with transaction.atomic():
        put_wiki()
        left = rows()
        transaction.set_rollback(True)
    assert not Document.objects.exists()
    return left


def rows():
    models = [*apps.get_app_config("knowledge").get_models()]
    return {model.__name__: read(model._meta.db_table) for model in models}


def no_import(*args):
    raise AssertionError("imported")


def test_it_puts_every_row_back_without_an_import(kept, monkeypatch):
    monkeypatch.setattr(kept_wiki, "take_files", no_import)
    summary = put_wiki()
    assert rows() == kept
    assert summary.specs_added == Spec.objects.count() > 1000
    assert check_wiki() == []


def test_it_leaves_a_wiki_that_takes_more(kept, folder_of_one):
    put_wiki()
    assert import_wiki().changed is False
    assert import_wiki(folder_of_one).new_revisions == 1
    assert Platform.objects.filter(slug="one").exists()


@pytest.fixture
def folder_of_one(tmp_path):
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "one.md").write_text(TEXT)
    return tmp_path / "few"


def test_it_imports_where_a_wiki_is_there(kept, folder_of_one):
    put_wiki(folder_of_one)
    assert put_wiki().specs_added > 1000
    assert {*Document.objects.values_list("origin", flat=True)} == {"few", SHIPPED_ORIGIN}


def test_it_tells_files_and_origins_apart():
    for path, origin in (("a.md", "few"), ("b.md", "few"), ("a.md", "many")):
        with transaction.atomic():
            put_files({path: "# A\n"}, origin)
            assert Document.objects.get().path == path
            assert Document.objects.get().origin == origin
            transaction.set_rollback(True)
