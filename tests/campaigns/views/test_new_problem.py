"""The page on which a person brings a kernel."""

from django.core.files.uploadedfile import SimpleUploadedFile

from campaigns.models import Problem
from tests.campaigns.problems.import_.sources import CPP, RELU

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
    assert answer.headers["Location"] == "/p/relu/"
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
    answer = page.post("/p/new", {**GIVEN, "kept": "1", "name": "softmax"})
    assert (answer.status_code, Problem.objects.count()) == (422, 0)


def test_hostile_text_stays_text(page, db):
    evil = "<script>alert(1)</script>"
    body = page.post("/p/new", {**GIVEN, "title": evil, "name": evil}).content.decode()
    assert evil not in body
    body = page.post("/p/new", dict.fromkeys(GIVEN, evil)).content.decode()
    assert evil not in body
