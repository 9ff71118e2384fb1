"""The page on which a person brings a kernel."""

import html
import re

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile

from campaigns.models import Problem
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope
from tests.campaigns.problems.import_.sources import CPP, RELU, TRITON

GIVEN = {
    "file_name": "relu.cpp",
    "kernel": CPP,
    "reference": RELU,
    "calls": "Relu()(torch.randn(8, 16))",
}


def test_it_shows_what_it_would_keep_and_keeps_nothing(page, db):
    body = page.post("/p/new", GIVEN).content.decode()
    assert 'id="keep"' in body
    assert "8 × 16" in body
    assert not Problem.objects.exists()


def test_what_is_kept_can_be_chosen_for_a_campaign(page, db):
    answer = page.post("/p/new", {**GIVEN, "kept": "1"})
    assert answer.headers["Location"] == Problem.objects.get().get_absolute_url()
    assert "New campaign" in page.get("/p/relu/").content.decode()
    assert 'value="relu" selected' in page.get("/c/new", {"problem": "relu"}).content.decode()
    again = page.post("/p/new", {**GIVEN, "kept": "1", "title": "Better words"})
    assert again.status_code == 302
    assert Problem.objects.filter(slug="relu").count() == 2
    assert "Better words" in page.get("/p/relu/").content.decode()


def test_a_file_takes_the_place_of_what_was_pasted(page, db):
    sent = {**GIVEN, "kernel": "", "kernel_upload": SimpleUploadedFile("mine.cpp", CPP.encode())}
    assert "mine.cpp" in page.post("/p/new", sent).content.decode()
    sent["kernel_upload"] = SimpleUploadedFile("mine.cpp", b"\xff\xfe")
    assert page.post("/p/new", sent).status_code == 422


def test_an_error_names_its_field_and_loses_nothing(page, db):
    answer = page.post("/p/new", {**GIVEN, "calls": "Relu()(1 +)"})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert 'href="#given-call"' in body
    assert "Relu()(1 +)" in body
    assert "solve(const float* x" in body
    answer = page.post("/p/new", {**GIVEN, "name": "softmax"})
    assert (answer.status_code, Problem.objects.count()) == (422, 0)
    assert "problem.toml, line 2: name: 'softmax'" in html.unescape(answer.content.decode())


SIZED = {**GIVEN, "calls": "Relu()(torch.randn(64, 128))", "keep": "N"}


def test_a_size_that_is_named_stays_as_it_is(page, db):
    body = page.post("/p/new", SIZED).content.decode()
    assert re.search('name="keep"[^>]*value="N"', body)
    assert 'free = ["D"]' in proposed(body)["problem_text"][0]


def test_a_size_that_is_not_there_is_told_at_its_field(page, db):
    answer = page.post("/p/new", {**SIZED, "keep": "N, K"})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert '<a href="#given-keep">Sizes that stay as they are</a>: K; accepted: N, D' in body
    assert '<details class="panel advanced" open>' in body


def test_sizes_stay_over_http_as_well(client, db):
    person = User.objects.create_user("grace")
    person.groups.add(Group.objects.get(name="engineer"))
    bearer = {"Authorization": f"Bearer {new_token(person, 'agent', [Scope.RUN])[1]}"}

    def post(keep):
        given = {**SIZED, "calls": [SIZED["calls"]], "keep": keep}
        return client.post("/api/v1/problems/", given, "application/json", headers=bearer)

    assert post(["N"]).status_code == 201
    assert 'free = ["D"]' in Problem.objects.get().files["problem.toml"]
    for wrong in (["K"], "N", [1]):
        refused = post(wrong)
        assert (refused.status_code, refused.json()["field"]) == (422, "keep")


def proposed(body):
    """What a browser sends of the files that a page shows: names, texts and what was checked."""
    texts = re.findall(r'name="problem_text"[^>]*>\n(.*?)</textarea>', body, re.S)
    return {
        "problem_file": re.findall(r'name="problem_file" value="([^"]+)"', body),
        "problem_text": [html.unescape(text).replace("\n", "\r\n") for text in texts],
        "checked": re.search(r'name="checked" value="(\w*)"', body)[1],
    }


ONCE = {}


@pytest.fixture
def shown(page, db):
    """What a browser was shown; looked at once for all tests, as torch is slow to start."""
    ONCE.update(ONCE or proposed(page.post("/p/new", GIVEN).content.decode()))
    return dict(ONCE)


def corrected(shown, old, new):
    assert any(old in text for text in shown["problem_text"])
    return {**shown, "problem_text": [text.replace(old, new) for text in shown["problem_text"]]}


def test_what_was_shown_is_kept_without_another_look(page, shown, monkeypatch):
    asked = []
    told = "campaigns.devices.problem_code._told"
    monkeypatch.setattr(told, lambda order, memory: asked.append(order))
    assert page.post("/p/new", {**GIVEN, **shown, "kept": "1"}).status_code == 302
    assert asked == []
    kept = Problem.objects.get().files
    sent = dict(zip(shown["problem_file"], shown["problem_text"], strict=True))
    assert kept == {name: text.replace("\r\n", "\n") for name, text in sent.items()}


def test_a_person_corrects_the_files_before_they_are_kept(page, shown):
    wrong = corrected(shown, "rtol = 0.0001", "rtol = -1")
    for more in ({}, {"kept": "1"}):
        answer = page.post("/p/new", {**GIVEN, **wrong, **more})
        body = html.unescape(answer.content.decode())
        assert answer.status_code == 422
        assert "problem.toml, line 13: [tolerance] rtol: a number of at least 0" in body
        assert 'id="given-problem" open' in body
        assert 'id="keep"' not in body
        assert proposed(answer.content.decode())["problem_text"] == wrong["problem_text"]
    assert not Problem.objects.exists()
    better = corrected(shown, "rtol = 0.0001", "rtol = 0.5")
    assert page.post("/p/new", {**GIVEN, **better, "kept": "1"}).status_code == 302
    assert Problem.objects.get().tolerance["rtol"] == 0.5


def test_what_does_not_work_as_proposed_names_its_line_and_can_be_corrected(page, shown):
    wrong = {**GIVEN, "reference": RELU.replace("torch.relu(x)", "torch.rely(x)")}
    answer = page.post("/p/new", wrong)
    body = html.unescape(answer.content.decode())
    assert re.search(r"ref\.py.* line \d+.*rely", body)
    assert 'id="keep"' not in body
    fixed = corrected(proposed(answer.content.decode()), "torch.rely(x)", "torch.relu(x)")
    assert fixed["problem_text"] == shown["problem_text"]


def test_what_is_pasted_is_called_after_its_reference_and_told_where_that_is_taken(page, shown):
    page.post("/p/new", {**GIVEN, **shown, "kept": "1"})
    body = page.post("/p/new", {**GIVEN, "file_name": ""}).content.decode()
    assert "data-revision" in body
    assert "named relu already" in body


def test_hostile_text_stays_text(page, db):
    evil = "<script>alert(1)</script>"
    body = page.post("/p/new", {**GIVEN, "title": evil, "name": evil}).content.decode()
    assert evil not in body
    body = page.post("/p/new", dict.fromkeys(GIVEN, evil)).content.decode()
    assert evil not in body


SHAPED = """
def relu_ref(x: "f32[N, D]"):
    return torch.relu(x)
"""


def test_a_call_is_proposed_and_stands_in_its_field(page, db):
    answer = page.post("/p/new", {"reference": f"import torch\n{SHAPED}"})
    body = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert re.search(
        r'name="calls"[^>]*>N, D = 1024, 512; relu_ref\(torch.randn\(N, D\)\)</textarea>', body
    )
    assert "is a proposal" in body


def test_a_triton_kernel_without_a_reference_is_asked_for_one_with_its_own_arguments(page, db):
    body = page.post("/p/new", {"kernel": TRITON.split("def scaled_ref")[0]}).content.decode()
    assert "such as 'def scaled_ref(x, weight, bias, factor): return torch.…'" in html.unescape(
        body
    )


def test_it_says_in_a_word_what_it_needs_and_what_takes_long(page, db):
    body = page.get("/p/new").content.decode()
    labels = re.findall(r"<label[^>]*>(.*?)</label>", body)
    marked = {re.sub(r" *<.*", "", each) for each in labels if ">required" in each}
    assert marked == {"Reference", "Example calls, one a line"}
    assert re.search(r'<form[^>]* data-busy="#reading"', body)
    assert re.search(r'id="reading" role="status" hidden>Reading the sources', body)
