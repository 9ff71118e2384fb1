"""What was learned over HTTP: the same rows as the pages and the command line give."""

import json

import pytest

from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models import Experience, ExperienceOrigin, Gap

pytestmark = pytest.mark.django_db

LIST = "/api/v1/experience/"
TOLD = {
    "kernel": "gemm", "backend": "cuda", "chip": "sm_86", "bottleneck": "memory-bound",
    "optimization": "tile{M=16}", "outcome": "success", "dims": "1024x1024x1024",
    "before": {"latency_ms": 0.7068}, "after": {"latency_ms": 0.7036},
}  # fmt: skip


def post(client, address, body):
    return client.post(address, json.dumps(body), content_type="application/json")


def stored(n=1, **more):
    fields = {
        "strategy": "tile", "label": AttemptLabel.SUCCESS, "origin": ExperienceOrigin.PERSON,
        "op": "matmul", "backend": "cuda", "arch": "sm_86", "gain": 0.1,
        "bottleneck": Bottleneck.MEMORY_DRAM,
    }  # fmt: skip
    return record_attempts(NewExperience(**(fields | more)) for _ in range(n))


def test_an_engineer_adds_an_attempt_and_its_label_is_computed(as_, engineer):
    """R12: what is 0.5 % faster is a tie, whatever was claimed."""
    answer = post(as_(engineer), LIST, TOLD)
    assert answer.status_code == 201
    said = answer.json()
    assert (said["label"], said["op"], said["arch"]) == ("tie", "matmul", "sm_86")
    assert said["params"] == {"M": 16}
    assert 'calls it "success"' in said["notes"]
    assert Experience.objects.get().author == engineer
    assert as_(engineer).get(f"{LIST}{said['uuid']}/").json() == said


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"kernel": "gemmx"}, "kernel", "perhaps matmul"),
        ({"backend": "tritan"}, "backend", "perhaps triton"),
        ({"outcome": "great"}, "outcome", "accepted: success"),
        ({"gain": 0.1}, "gain", "either a gain or both latencies"),
        ({"before": {"speed": 1}}, "before", "accepted: an object of memory_sol"),
        ({"before": {"latency_ms": -1}}, "before", "above 0"),
        ({"kernel": 3}, "kernel", "accepted: a text"),
        ({"params": [1]}, "params", "accepted: an object"),
        ({"colour": "red"}, "colour", "accepted: kernel"),
        ({"keep": ["colour"]}, "keep", "accepted: op"),
        ({"notes": "a" * 20_001}, "notes", "at most 20000"),
    ],
)
def test_what_it_refuses_names_the_field(as_, engineer, change, field, words):
    answer = post(as_(engineer), LIST, TOLD | change)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert words in answer.json()["message"]
    assert not Experience.objects.exists()


def test_a_viewer_reads_and_adds_nothing(as_, viewer):
    assert post(as_(viewer), LIST, TOLD).status_code == 403
    assert as_(viewer).get(LIST).json()["count"] == 0


def test_it_lists_by_filters_page_by_page(as_, viewer):
    stored(3)
    stored(2, label=AttemptLabel.REGRESSION, gain=-0.1)
    client = as_(viewer)
    assert client.get(LIST, {"outcome": "failed"}).json()["count"] == 2
    assert client.get(LIST, {"bottleneck": "memory"}).json()["count"] == 5
    seen, address, pages = [], f"{LIST}?page_size=2", 0
    while address:
        page = client.get(address).json()
        assert page["count"] == 5
        seen += [row["uuid"] for row in page["results"]]
        address, pages = page["next"], pages + 1
    assert (pages, len(set(seen))) == (3, 5)
    newest = Experience.objects.order_by("-pk").values_list("uuid", flat=True)
    assert seen == [str(uuid) for uuid in newest]
    refused = client.get(LIST, {"outcome": "good"})
    assert (refused.status_code, refused.json()["field"]) == (400, "outcome")
    assert client.get(f"{LIST}00000000-0000-0000-0000-000000000000/").status_code == 404


def test_it_recommends_with_reasons_and_takes_other_spellings(as_, viewer):
    stored(3)
    said = as_(viewer).get(
        "/api/v1/recommend/", {"op": "gemm", "backend": "cuda", "platform": "sm_86"}
    )
    (hit,) = said.json()["hits"]
    assert (hit["strategy"], hit["tried"], hit["worked"]) == ("tile", 3, 3)
    assert hit["reasons"]
    unknown = as_(viewer).get("/api/v1/recommend/", {"op": "gemmx"})
    assert unknown.status_code == 422
    assert "perhaps matmul" in unknown.json()["message"]


def test_questions_are_asked_and_listed(as_, engineer, viewer):
    body = {"question": "Does TMA help with <b>small</b> rows?", "op": "softmax"}
    assert post(as_(viewer), "/api/v1/gaps/", body).status_code == 403
    assert post(as_(engineer), "/api/v1/gaps/", body).status_code == 201
    (row,) = as_(viewer).get("/api/v1/gaps/", {"op": "softmax"}).json()["results"]
    assert row["question"] == body["question"]
    assert Gap.objects.get().asked_by == engineer
    assert as_(viewer).get("/api/v1/lessons/", {"state": "active"}).json()["count"] == 0
