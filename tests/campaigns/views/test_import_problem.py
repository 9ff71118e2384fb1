"""The page on which a person imports a problem of another collection."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile

from campaigns.models import Problem
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope
from tests.campaigns.problems.import_ import test_definitions as fi
from tests.campaigns.problems.import_ import test_tuning_file as t1
from tests.campaigns.sample import HOSTILE

EXAMPLES = Path(__file__).parents[1] / "problems" / "import_" / "examples"


def uploads(files):
    return [SimpleUploadedFile(name, text.encode()) for name, text in files.items()]


def texts(*paths):
    return {path.name: path.read_text() for path in paths}


def definition(name="mse_loss"):
    folder = EXAMPLES / "definitions"
    return texts(folder / f"{name}.json", folder / f"{name}.jsonl")


def task(name="histogram"):
    return texts(*(EXAMPLES / "gpu_mode" / name).iterdir())


TUNING = {"sum.json": json.dumps(t1.FILE), "sum.cu": t1.KERNEL, "ref.py": t1.REFERENCE[1]}


def test_it_shows_a_definition_and_keeps_it_at_a_second_word(page, db):
    shown = page.post("/p/import", {"files": uploads(definition())}).content.decode()
    assert 'id="keep"' in shown
    assert 'name="file_name" value="mse_loss.json"' in shown
    assert not Problem.objects.exists()
    given = definition()
    sent = {"file_name": list(given), "file_text": list(given.values()), "kept": "1"}
    answer = page.post("/p/import", sent)
    assert answer.headers["Location"] == Problem.objects.get().get_absolute_url()
    assert Problem.objects.get().slug == "mse_loss"


@pytest.mark.parametrize(("files", "name"), [(task(), "my-histogram"), (TUNING, "")])
def test_it_reads_tasks_and_tuning_files(page, db, files, name):
    answer = page.post("/p/import", {"files": uploads(files), "name": name})
    assert answer.status_code == 200, answer.content.decode()
    assert 'id="keep"' in answer.content.decode()


def test_a_solution_beside_a_definition_is_its_kernel(page, db):
    files = {
        "scaled.json": json.dumps(fi.DEFINITION),
        "workloads.jsonl": fi.WORKLOADS,
        "solution.json": json.dumps(fi.SOLUTION),
    }
    body = page.post("/p/import", {"files": uploads(files)}).content.decode()
    assert 'id="keep"' in body
    assert "There is no kernel yet" not in body


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "choose 1 to 8 files"),
        ({"a.py": "x = 1"}, "none of these; accepted: one JSON of FlashInfer Trace"),
        ({"a.json": "{}", "b.json": "{}"}, "a.json, b.json; accepted: one JSON"),
        ({"task.yml": task()["task.yml"]}, "reference.py is missing, which belongs to task.yml"),
        ({"sum.json": TUNING["sum.json"]}, "sum.cu is missing, which sum.json names"),
        ({**definition(), "other.jsonl": ""}, "accepted: one .jsonl"),
        ({"a.json": HOSTILE}, "definition"),
    ],
)
def test_it_says_what_is_missing_and_keeps_nothing(page, db, files, words):
    answer = page.post("/p/import", {"files": uploads(files)})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert words in body
    assert "<script>document.title" not in body
    assert not Problem.objects.exists()


def test_it_lets_no_viewer_import(viewer):
    assert viewer.get("/p/import").status_code == 403


def test_the_same_over_http(client, db):
    person = User.objects.create_user("grace")
    person.groups.add(Group.objects.get(name="engineer"))
    bearer = {"Authorization": f"Bearer {new_token(person, 'agent', [Scope.RUN])[1]}"}

    def post(body):
        return client.post("/api/v1/problems/", body, "application/json", headers=bearer)

    made = post({"files": definition()})
    assert (made.status_code, made.json()["slug"]) == (201, "mse_loss")
    refused = post({"files": {"task.yml": task()["task.yml"]}})
    assert (refused.status_code, refused.json()["field"]) == (422, "files")
    assert post({"files": ["a"]}).status_code == 422
    for name in ("cache.json", "task.yml"):
        refused = post({"files": {name: '{"cache": {}}', "reference.py": ""}})
        assert refused.status_code == 422
        assert f"{name}: not recognised; accepted: one JSON of" in refused.json()["detail"]
    call = "f(torch.randint(low=0, high=9))"
    refused = post({"reference": "def f(x):\n    return x\n", "calls": [call]})
    assert (refused.status_code, refused.json()["field"]) == (422, "call")
    assert post({"files": definition(), "kernel": "x"}).status_code == 422
