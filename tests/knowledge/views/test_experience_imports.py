"""The pages of imports: upload, questions, confirm, drop, undo; and the exports."""

import io
import json
import zipfile
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from knowledge.experience.exchange.plan import plan_import
from knowledge.models import Batch, Experience, Lesson
from tests.knowledge.conftest import person

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[1] / "experience/golden"
LOG = (GOLDEN / "experiences.json").read_text()
TIPS = "historical/gfx950/grouped_gemm_fp8/triton/tips.md"


@pytest.fixture
def as_(client):
    people = {
        "eve": person("eve", "engineer"),
        "cora": person("cora", "curator"),
        "vera": person("vera", "viewer"),
    }

    def log_in(name):
        client.force_login(people[name])
        return client

    return log_in


def uploaded(name, text):
    return SimpleUploadedFile(name, text.encode())


def text_of(answer):
    return unescape(answer.content.decode())


def test_from_upload_to_undo(as_):
    eve = as_("eve")
    answer = eve.post("/x/imports/", {"files": uploaded("experiences.json", LOG)})
    batch = Batch.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/x/imports/{batch.pk}/")
    page = text_of(eve.get(answer.url))
    assert 'data-count="create">create: 3' in page
    assert "recorded twice: it says the same as L2" in page
    assert 'data-question="strategy:two-tiles-a-barrier"' in page
    assert 'id="confirm"' not in page
    refused = eve.post(f"{answer.url}confirm/")
    assert refused.status_code == 422
    assert "not answered" in text_of(refused)
    key = "strategy:two-tiles-a-barrier"
    eve.post(f"{answer.url}answer/", {"key": [key], "answer": ["="], "keep": "1"})
    assert 'id="confirm"' in text_of(eve.get(answer.url))
    eve.post(f"{answer.url}confirm/")
    assert Experience.objects.filter(standing="counts").count() == 3
    assert eve.post(f"{answer.url}confirm/").status_code == 409
    assert eve.post(f"{answer.url}undo/", {"why": ""}).status_code == 422
    eve.post(f"{answer.url}undo/", {"why": "the wrong file"})
    assert not Experience.objects.filter(standing="counts").exists()
    assert "Undone by eve" in text_of(eve.get(answer.url))
    assert "the wrong file" in text_of(eve.get("/x/imports/"))


def test_a_tree_of_tips_comes_as_an_archive_with_its_scope(as_):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(TIPS, (GOLDEN / TIPS).read_text())
    cora = as_("cora")
    answer = cora.post("/x/imports/", {"files": SimpleUploadedFile("t.zip", out.getvalue())})
    cora.post(f"{answer.url}answer/", {"keep": "1"})
    cora.post(f"{answer.url}confirm/")
    lesson = Lesson.objects.get(avoid=True)
    assert (lesson.arch, lesson.backend, lesson.state) == ("gfx950", "triton", "anti_pattern")


def test_rows_that_are_too_long_are_left_out_by_an_answer(as_):
    cora, text = as_("cora"), (GOLDEN / TIPS).read_text().replace("Ask for two", "x" * 601)
    answer = cora.post("/x/imports/", {"files": uploaded("tips.md", text)})
    page = text_of(cora.get(answer.url))
    assert "or leave those rows out below" in page
    assert "characters; accepted: at most 600" in page
    unread = "rows that cannot be read"
    sent = {"key": [unread], "answer": ["leave out"], "keep": "1"}
    cora.post(f"{answer.url}answer/", sent)
    assert 'id="confirm"' in text_of(cora.get(answer.url))
    cora.post(f"{answer.url}confirm/")
    assert Lesson.objects.count() == 2


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.exe", "x", "accepted are .json, .jsonl, .md and .csv files"),
        ("a.json", "\0", "NUL at byte 0"),
        ("../a.json", "[]", "experiences.json"),
        ("a.zip", "no archive", "not a readable .zip"),
    ],
)
def test_what_is_no_such_file_is_refused_on_the_form(as_, name, text, words):
    answer = as_("eve").post("/x/imports/", {"files": uploaded(name, text)})
    if answer.status_code == 302:  # the name was made harmless; the plan says the rest
        answer = as_("eve").get(answer.url)
    assert words in text_of(answer)
    assert not Experience.objects.exists()


def test_a_broken_row_is_shown_with_its_line_and_cannot_be_confirmed(as_):
    answer = as_("eve").post(
        "/x/imports/", {"files": uploaded("experiences.json", '[\n{"outcome": "great"}]')}
    )
    page = text_of(as_("eve").get(answer.url))
    assert "experiences.json:L2" in page
    assert "outcome: 'great'; accepted: success" in page
    assert 'id="confirm"' not in page
    assert as_("eve").post(f"{answer.url}confirm/").status_code == 422


def test_stored_text_is_text(as_):
    rows = json.loads(LOG)[:1]
    rows[0] |= {"kernel": "<script>alert(1)</script>", "hypothesis": "<img src=x onerror=alert(1)>"}
    batch = plan_import({"experiences.json": json.dumps(rows)}, None, origin="<b>o</b>")
    raw = as_("cora").get(batch.get_absolute_url()).content.decode()
    for tag in ("<script>alert", "<img src=x", "<b>o"):
        assert tag not in raw


def test_who_may(as_):
    batch = plan_import({"experiences.json": LOG}, None)
    vera = as_("vera")
    page = text_of(vera.get("/x/imports/"))
    assert "needs the role engineer" in page
    assert vera.post("/x/imports/", {"files": uploaded("a.json", LOG)}).status_code == 403
    assert vera.post(f"{batch.get_absolute_url()}drop/").status_code == 403
    assert 'id="drop"' not in text_of(vera.get(batch.get_absolute_url()))


def test_the_exports_hold_what_is_asked_for(as_):
    batch = plan_import({"experiences.json": LOG}, None)
    eve = as_("cora")
    eve.post(f"{batch.get_absolute_url()}answer/", {"keep": "1"})
    eve.post(f"{batch.get_absolute_url()}confirm/")
    found = eve.get("/x/export.json", {"op": "softmax"}).json()
    assert [entry["op"] for entry in found["experience"]] == ["softmax"]
    table = eve.get("/x/export.csv", {"backend": "triton"}).content.decode()
    assert len(table.splitlines()) == 2
    assert "3 attempts: 2 worked, 1 showed no gain." in eve.get("/x/export.md").content.decode()
    assert eve.get("/x/export.md", {"outcome": "good"}).status_code == 400
    assert eve.get("/x/export.md", {"op": "a\0b"}).status_code == 400
