"""Import pages: upload, plan, confirm, drop, undo."""

import io
import re
import zipfile
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from knowledge.exchange import in_parts
from knowledge.exchange.batches import confirm
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Batch, Document, Spec
from tests.knowledge.conftest import BANDWIDTH, TDP, X1, person


@pytest.fixture
def people(db):
    return {
        "eve": person("eve", "engineer"),
        "cora": person("cora", "curator"),
        "vera": person("vera", "viewer"),
    }


@pytest.fixture
def as_(client, people):
    def log_in(name):
        client.force_login(people[name])
        return client

    return log_in


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def zipped(files, name="team.zip"):
    return SimpleUploadedFile(name, packed(files))


@pytest.fixture
def batch(wiki, people, page_text):
    files = {X1: page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP), "docs/n.md": "# N\n"}
    return plan_import(WikiFiles("wiki", files, whole=False), people["eve"])


def test_it_plans_an_uploaded_folder_and_shows_problems_first(as_, wiki, page_text):
    files = {"docs/a.md": "# A\n", X1: page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP)}
    answer = as_("eve").post("/w/imports/", {"files": zipped(files, "wiki.zip")})
    batch = Batch.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/w/imports/{batch.pk}/")
    assert (batch.origin, batch.author.username) == ("wiki", "eve")
    page = unescape(as_("eve").get(answer.url).content.decode())
    assert page.index(X1) < page.index("docs/a.md")
    assert 'data-cite-state="changed"' in page
    assert 'data-cite-state="lost"' in page
    assert 'data-cite-state="moved"' in page
    assert f"memory_bandwidth: 4.9 TB/s <- <gpu-wiki>/{X1}:L16" in page
    assert "in place of 4.8 TB/s" in page
    assert Document.objects.count() == 2


def test_it_takes_loose_files(as_, wiki):
    files = [SimpleUploadedFile(name, b"# A\n") for name in ("a.md", "b.md")]
    as_("eve").post("/w/imports/", {"files": files, "origin": "two notes"})
    batch = Batch.objects.get()
    assert (batch.origin, list(batch.files)) == ("two notes", ["a.md", "b.md"])
    assert batch.plan["whole"] is False


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no file; accepted"),
        ({"files": SimpleUploadedFile("a.txt", b"x")}, "a.txt: accepted are .md and .json"),
        ({"files": SimpleUploadedFile("a.zip", b"x")}, "a.zip: not a readable .zip"),
        ({"files": zipped({"../a.md": "# A\n"})}, "../a.md: points outside the folder"),
        ({"files": SimpleUploadedFile("a.md", b"\xff")}, "a.md: not UTF-8 at byte 0"),
        ({"files": zipped({"a.md": "# A\n"}, "shipped.zip")}, "'shipped' names documents of"),
    ],
)
def test_it_says_at_the_field_what_it_does_not_take(as_, wiki, data, message):
    if "files" in data:
        data["files"].seek(0)
    answer = as_("eve").post("/w/imports/", data | {"origin": ""})
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert message in page
    assert re.search(r'aria-describedby="[a-z-]+ [a-z]+-error"', page)
    assert not Batch.objects.exists()


def test_it_keeps_the_name_that_was_typed(as_, wiki):
    answer = as_("eve").post("/w/imports/", {"origin": "my name"})
    assert 'value="my name"' in answer.content.decode()


def test_it_lets_no_viewer_plan(as_, wiki):
    page = as_("vera").get("/w/imports/").content.decode()
    assert 'id="plan"' not in page
    answer = as_("vera").post("/w/imports/", {"files": zipped({"a.md": "# A\n"})})
    assert answer.status_code == 403
    assert not Batch.objects.exists()


def test_it_says_what_to_do_when_there_is_none(as_, wiki):
    page = as_("eve").get("/w/imports/").content.decode()
    assert "No import yet" in page
    assert "python manage.py wiki import FOLDER --plan" in page


def test_it_confirms_and_undoes(as_, batch):
    url = f"/w/imports/{batch.pk}/"
    page = unescape(as_("eve").get(url).content.decode())
    assert "documents of 'wiki' were brought in by a command" in page
    assert 'id="confirm"' not in page
    assert as_("eve").post(f"{url}confirm/").status_code == 403
    page = as_("cora").get(url).content.decode()
    assert page.count('class="primary"') == 1
    assert as_("cora").post(f"{url}confirm/").status_code == 302
    assert Spec.objects.filter(shown="4.9 TB/s", state="proposed").exists()
    assert 'id="undo"' not in as_("eve").get(url).content.decode()
    assert as_("eve").post(f"{url}undo/", {"why": "x"}).status_code == 403
    assert 'id="undo"' in as_("cora").get(url).content.decode()
    empty = as_("cora").post(f"{url}undo/", {"why": " "})
    assert empty.status_code == 422
    assert 'aria-describedby="why-error"' in empty.content.decode()
    assert as_("cora").post(f"{url}undo/", {"why": "wrong sheet"}).status_code == 302
    page = as_("cora").get(url).content.decode()
    assert "Undone by cora" in page
    assert "wrong sheet" in page
    assert 'data-state="undone"' in as_("vera").get("/w/imports/").content.decode()


def test_it_tells_who_was_first(as_, batch, people):
    url = f"/w/imports/{batch.pk}/"
    confirm(Batch.objects.get(pk=batch.pk), people["cora"])
    answer = as_("cora").post(f"{url}drop/")
    assert answer.status_code == 409
    assert "was confirmed by cora in the meantime" in answer.content.decode()


def test_it_drops_a_plan(as_, batch):
    assert as_("cora").post(f"/w/imports/{batch.pk}/drop/").status_code == 302
    page = as_("eve").get(f"/w/imports/{batch.pk}/").content.decode()
    assert "Dropped by cora" in page
    assert 'id="confirm"' not in page


def test_it_leaves_out_the_buttons_of_others(as_, batch, people):
    other = person("otto", "engineer")
    people["otto"] = other
    for name in ("vera", "otto"):
        page = as_(name).get(f"/w/imports/{batch.pk}/").content.decode()
        assert 'id="confirm"' not in page
        assert 'id="drop"' not in page
        assert as_(name).post(f"/w/imports/{batch.pk}/confirm/").status_code == 403


def test_it_shows_refused_files_with_their_line_and_no_button(as_, wiki, people, page_text):
    files = {"docs/a.md": page_text(TDP.replace("700 W", "700 Watts")), "docs/b.md": "# B\n"}
    batch = plan_import(WikiFiles("team", files), people["eve"])
    page = as_("eve").get(f"/w/imports/{batch.pk}/").content.decode()
    assert "docs/a.md:L15: unknown unit" in page
    assert 'id="confirm"' not in page
    assert 'id="no-confirm"' in page
    assert as_("eve").post(f"/w/imports/{batch.pk}/confirm/").status_code == 422


def test_it_shows_hostile_names_and_lines_as_text(as_, wiki, people):
    nasty = "<script>alert(1)</script>"
    files = {"v.md": f"# {nasty}\n\n- tdp: 1 W <- <gpu-wiki>/{nasty}.md:L1\n"}
    batch = plan_import(WikiFiles(nasty[:80], files, (nasty,)), people["eve"])
    page = as_("eve").get(f"/w/imports/{batch.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("verb", ["confirm", "drop", "undo"])
def test_it_decides_by_post_only(as_, batch, verb):
    assert as_("cora").get(f"/w/imports/{batch.pk}/{verb}/").status_code == 405
    assert as_("cora").post(f"/w/imports/{batch.pk + 1}/{verb}/").status_code == 404


def test_it_needs_the_same_queries_for_any_number_of_documents(
    as_, shipped, people, django_assert_num_queries
):
    files = {f"more/{d.path}": d.latest.text for d in Document.objects.all()}
    batch = plan_import(WikiFiles("team", files), people["cora"])
    client = as_("cora")
    with django_assert_num_queries(6):  # session, user, batch, its name, permissions of both kinds
        client.get(f"/w/imports/{batch.pk}/")
    with django_assert_num_queries(6):  # session, user, count, batches, permissions
        client.get("/w/imports/")


@pytest.fixture
def many(monkeypatch):
    """Three files are many here; the keys for which a task was asked."""
    keys = []
    monkeypatch.setattr("knowledge.views.imports.MANY", 2)
    monkeypatch.setattr(in_parts, "MANY", 2)
    monkeypatch.setattr(in_parts, "_ring", keys.append)
    return keys


def test_it_leaves_many_files_to_a_task_and_shows_how_far_it_is(as_, people, many):
    files = {f"docs/{n}.md": f"# {n}\n" for n in range(3)}
    engineer = as_("eve")
    url = engineer.post("/w/imports/", {"files": zipped(files)}).url
    batch = Batch.objects.get()
    assert (batch.state, many) == ("planning", [batch.pk])
    page = engineer.get(url).content.decode()
    assert "Being planned" in page
    assert "A worker is to begin." in page
    assert "Changes made" not in page
    Batch.objects.update(progress={"done": 1, "of": 3})
    asked = engineer.get(url, headers={"HX-Request": "true", "HX-Trigger": "progress"})
    assert "1 of 3 documents." in asked.content.decode()
    Batch.objects.update(progress={})
    in_parts.work_on(batch.pk)
    asked = engineer.get(url, headers={"HX-Request": "true", "HX-Trigger": "progress"})
    assert asked.headers["HX-Refresh"] == "true"
    assert engineer.post(f"{url}confirm/").status_code == 302
    assert not Document.objects.exists()
    assert "Being imported, confirmed by eve" in engineer.get(url).content.decode()
    in_parts.work_on(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, Document.objects.count()) == ("confirmed", 3)
    assert 'id="progress"' not in engineer.get(url).content.decode()
