"""/api/v1/specs/: what it answers, to whom, and how it refuses."""

import json

import pytest

from knowledge.curation.review import approve
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document, Spec
from tests.knowledge.conftest import BANDWIDTH

LIST, LOOKUP = "/api/v1/specs/", "/api/v1/specs/lookup"
PROPOSAL = {
    "platform": "x-1",
    "metric": "memory_bandwidth",
    "value": "4.9 TB/s",
    "cite": "<gpu-wiki>/docs/notes.md:L5",
    "source": "by hand",
    "source_kind": "measured",
    "evidence": "measured",
    "why": "measured again",
    "rank": "normal",
}


@pytest.fixture
def reader(as_, viewer, wiki):
    return as_(viewer)


def post(client, address, body):
    return client.post(address, json.dumps(body), content_type="application/json")


def decide(client, spec, verb, **body):
    return post(client, f"/api/v1/specs/{spec.pk}/{verb}/", body)


def test_it_tells_strangers_nothing(client, wiki):
    for address in (LIST, LOOKUP):
        assert client.get(address).status_code == 401
        assert "results" not in client.get(address).json()
    assert post(client, LIST, PROPOSAL).status_code == 401


def test_it_gives_a_value_with_its_line(reader):
    answer = reader.get(LOOKUP, {"platform": "x-1", "metric": "memory_bandwidth"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    found = answer.json()
    known = {"state": "approved", "value": 4.8e12, "unit": "B/s", "shown": "4.8 TB/s"}
    assert known.items() <= found.items()
    assert (found["qualifiers"], found["evidence"]) == ({}, "documented")
    citation = found["citation"]
    line = citation["lines"][0]
    assert citation["text"] == (
        f"memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/x-1.md:L{line}"
    )
    assert (citation["path"], citation["state"], citation["flag"]) == (
        "docs/hardware/x-1.md",
        "ok",
        None,
    )
    assert "4.8 TB/s" in citation["quote"]
    assert Document.objects.get(path=citation["path"]).latest.short == citation["revision"]


def test_it_says_unknown_with_the_way_to_obtain_it(reader):
    answer = reader.get(LOOKUP, {"platform": "x-1", "metric": "cuda_cores"})
    assert answer.status_code == 200
    found = answer.json()
    assert (found["state"], found["value"], found["citation"]) == ("unknown", None, None)
    assert found["how_to_obtain"] == "ask them"


def test_it_says_where_a_part_has_none(reader, page_text):
    absent = BANDWIDTH.replace("memory_bandwidth: 4.8 TB/s", "infinity_cache: NONE")
    absent += " | note=the cell is blank"
    sibling = (
        page_text(absent).replace("x-1", "x-2").replace("Maker X 1; X1", "X2").replace("X 1", "X 2")
    )
    take_files({"docs/x-2.md": sibling}, ImportOptions(origin="more"))
    found = reader.get(LOOKUP, {"platform": "x-2", "metric": "infinity_cache"}).json()
    assert (found["state"], found["value"]) == ("unknown", None)
    assert found["how_to_obtain"].startswith(
        "nothing to obtain, the part has none: infinity_cache: NONE <- <gpu-wiki>/docs/x-2.md:L"
    )


def test_it_never_answers_for_a_sibling_or_for_another_sparsity(reader, page_text):
    sparse = BANDWIDTH.replace("memory_bandwidth: 4.8 TB/s", "peak_fp16_tensor_sparse: 1979 TFLOPS")
    sibling = (
        page_text(sparse).replace("x-1", "x-2").replace("Maker X 1; X1", "X2").replace("X 1", "X 2")
    )
    take_files({"docs/x-2.md": sibling}, ImportOptions(origin="more"))

    def state(**asked):
        found = reader.get(LOOKUP, {"platform": "x-2", **asked}).json()
        return found["state"], found["value"]

    assert state(metric="peak_fp16_tensor_sparse") == ("approved", 1.979e15)
    assert state(metric="peak_fp16_tensor_dense") == ("unknown", None)
    assert state(metric="peak_fp16_tensor_sparse", sparsity="2:4") == ("unknown", None)
    assert state(metric="memory_bandwidth") == ("unknown", None)


@pytest.mark.parametrize(
    ("asked", "status", "field", "words"),
    [
        (
            {"platform": "h900", "metric": "tdp"},
            404,
            "platform",
            "unknown platform 'h900'; accepted: x-1",
        ),
        ({"platform": "x-1", "metric": "tpd"}, 404, "metric", "unknown metric 'tpd'; accepted: "),
        ({"platform": "x-1", "metric": "tdp", "dtpye": "x"}, 400, "dtpye", "accepted: platform"),
        ({"platform": "x-1", "metric": ["tdp", "tdp"]}, 400, "metric", "one value"),
        ({"platform": "x-1"}, 400, "metric", "is needed"),
    ],
)
def test_it_refuses_a_question_that_nobody_can_answer(reader, asked, status, field, words):
    answer = reader.get(LOOKUP, asked)
    assert answer.status_code == status
    assert answer.json()["field"] == field
    assert words in answer.json()["message"]


def test_law_1_it_gives_no_value_whose_cited_line_changed(reader, page_text, folder):
    text = (folder / "docs/hardware/x-1.md").read_text().replace("4.8 TB/s", "5.1 TB/s")
    take_files(
        {"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions(origin="wiki")
    )
    found = reader.get(LOOKUP, {"platform": "x-1", "metric": "memory_bandwidth"}).json()
    assert (found["state"], found["value"], found["shown"]) == ("stale", None, "UNKNOWN")
    assert "<gpu-wiki>/docs/hardware/x-1.md:L15; a curator answers at" in found["how_to_obtain"]
    assert found["citation"]["state"] == "changed"
    assert found["citation"]["flag"]["kind"] == "changed"


@pytest.mark.storage
def test_it_lists_by_every_filter(reader, proposal):
    def shown(**asked):
        return sorted(row["shown"] for row in reader.get(LIST, asked).json()["results"])

    assert shown() == ["4.8 TB/s", "4.9 TB/s", "700 W", "UNKNOWN"]
    assert shown(platform="x-1", metric="memory_bandwidth") == ["4.8 TB/s", "4.9 TB/s"]
    assert shown(state="proposed") == ["4.9 TB/s"]
    assert shown(q="700") == ["700 W"]
    assert shown(rank="preferred", state="approved") == ["4.8 TB/s", "700 W"]
    assert shown(evidence="measured") == []


def test_it_lists_page_by_page_with_the_same_few_queries(
    reader, proposal, django_assert_num_queries
):
    page = reader.get(LIST, {"page_size": 3}).json()
    rest = reader.get(page["next"]).json()
    assert (page["count"], len(page["results"]), len(rest["results"])) == (4, 3, 1)
    assert rest["next"] is None
    for size in (1, 4):
        with django_assert_num_queries(8):  # 2 who asks, count, 2 specs, 2 standings, flags
            reader.get(LIST, {"page_size": size})


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"state": "good"}, 400),
        ({"metric": "x"}, 404),
        ({"platform": "y"}, 404),
        ({"a": "b"}, 400),
        ({"q": "a\0b"}, 400),
        ({"page_size": "0"}, 400),
        ({"page_size": "many"}, 400),
        ({"page_size": "501"}, 400),
        ({"after": "x"}, 400),
    ],
)
def test_it_refuses_a_filter_that_nothing_has(reader, asked, status):
    assert reader.get(LIST, asked).status_code == status


def test_it_takes_a_proposal_and_two_pairs_of_eyes(as_, engineer, curator, note, reader):
    made = post(as_(engineer), LIST, PROPOSAL)
    assert made.status_code == 201
    spec = Spec.objects.get(pk=made.json()["id"])
    assert (spec.state, spec.proposed_by, spec.value) == ("proposed", engineer, 4.9e12)
    assert decide(as_(engineer), spec, "approve").status_code == 403
    done = decide(as_(curator), spec, "approve", why="read it")
    assert (done.status_code, done.json()["state"]) == (200, "approved")


def test_it_lets_no_curator_approve_an_own_proposal(as_, curator, note):
    spec = Spec.objects.get(pk=post(as_(curator), LIST, PROPOSAL).json()["id"])
    answer = decide(as_(curator), spec, "approve")
    assert answer.status_code == 403
    assert "you proposed this value" in answer.json()["message"]
    spec.refresh_from_db()
    assert spec.state == "proposed"


def test_it_returns_and_retires_with_a_reason(as_, curator, second_curator, proposal, x1, note):
    client = as_(curator)
    answer = decide(client, proposal, "return")
    assert (answer.status_code, answer.json()["field"]) == (422, "why")
    assert decide(client, proposal, "return", why="cite the table").json()["state"] == "returned"
    again = decide(client, proposal, "approve")
    assert (again.status_code, "returned" in again.json()["message"]) == (409, True)
    used = Spec.objects.get(metric="memory_bandwidth", state="approved")
    assert decide(client, used, "retire", why="wrong").json()["state"] == "retired"


def test_it_asks_for_a_successor_where_another_value_stands(as_, curator, proposal, second_curator):
    used = Spec.objects.get(metric="memory_bandwidth", state="approved")
    approve(proposal, second_curator)
    answer = decide(as_(curator), proposal, "retire", why="wrong")
    assert (answer.status_code, answer.json()["field"]) == (422, "successor")
    done = decide(as_(curator), proposal, "retire", why="wrong", successor=used.pk)
    assert done.status_code == 200
    used.refresh_from_db()
    assert used.rank == "preferred"


def test_it_tells_the_second_curator_who_was_first(as_, curator, second_curator, proposal):
    assert decide(as_(curator), proposal, "approve").status_code == 200
    assert decide(as_(second_curator), proposal, "approve").status_code == 409


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"value": "5.0 TB/s"}, "lines", "does not stand in the quoted lines"),
        ({"value": "4.9 TBps"}, "value", "unknown unit 'TBps'; accepted: "),
        ({"value": "4.9 W"}, "value", "memory_bandwidth is kept in B/s"),
        ({"value": "4.9 TB/s " + "x" * 90}, "value", ""),
        ({"metric": "speed"}, "metric", "unknown metric 'speed'; accepted: "),
        ({"platform": "h900"}, "platform", "unknown platform 'h900'; accepted: x-1"),
        ({"cite": "docs/notes.md:5"}, "cite", "does not read as"),
        ({"cite": "<gpu-wiki>/docs/none.md:L1"}, "cite", "no document 'docs/none.md'"),
        ({"cite": "<gpu-wiki>/docs/notes.md:L99"}, "lines", "accepted: L1 to L6"),
        ({"cite": ""}, "cite", "is needed"),
        ({"evidence": "felt"}, "evidence", "accepted: documented, derived, measured"),
        ({"source_kind": "blog"}, "source_kind", "accepted: vendor"),
        ({"rank": "best"}, "rank", "accepted: preferred, normal, deprecated"),
        ({"why": " "}, "why", "a reason is needed"),
        ({"source": "x" * 301}, "source", "301 characters; accepted: at most 300"),
        ({"metric": "memory_type", "value": "~HBM3e"}, "value", "'~' makes it a guess"),
        ({"cite": "<gpu-wiki>/docs/vague.md:L1"}, "lines", "'about' makes it a guess"),
        ({"source_url": "javascript:alert(1)"}, "source_url", "valid URL"),
        ({"qualifiers": {"colour": "red"}}, "qualifiers", "unknown key; accepted: dtype"),
        ({"qualifiers": ["dtype"]}, "qualifiers", "accepted: an object"),
        ({"replaces": 999}, "replaces", "accepted: the id of a spec"),
        ({"replaces": "4"}, "replaces", "accepted: the id of a spec"),
        ({"value": 4.9}, "value", "accepted: text"),
        ({"state": "approved"}, "state", "unknown field; accepted: platform"),
    ],
)
def test_it_refuses_a_bad_proposal_and_stores_nothing(as_, engineer, note, change, field, words):
    take_files({"docs/vague.md": "about 4.9 TB/s\n"}, ImportOptions(origin="vague"))
    before = Spec.objects.count()
    answer = post(as_(engineer), LIST, PROPOSAL | change)
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert words in answer.json()["message"]
    assert Spec.objects.count() == before


def test_it_refuses_to_replace_the_answer_to_another_question(as_, engineer, note):
    other = Spec.objects.get(metric="tdp")
    answer = post(as_(engineer), LIST, PROPOSAL | {"replaces": other.pk})
    assert (answer.status_code, answer.json()["field"]) == (422, "replaces")


def test_it_prefers_what_replaces_the_preferred_value(as_, engineer, note):
    old = Spec.objects.get(metric="memory_bandwidth")
    unranked = {name: text for name, text in PROPOSAL.items() if name != "rank"}
    made = post(as_(engineer), LIST, unranked | {"replaces": old.pk}).json()
    assert (made["rank"], made["replaces"]) == ("preferred", old.pk)
    assert post(as_(engineer), LIST, unranked).json()["rank"] == "normal"


def test_it_lets_no_viewer_propose(reader, note):
    assert post(reader, LIST, PROPOSAL).status_code == 403


def test_it_wants_the_csrf_token_and_json(as_, engineer, note):
    strict = as_(engineer, enforce_csrf_checks=True)
    answer = post(strict, LIST, PROPOSAL)
    assert (answer.status_code, "CSRF" in answer.json()["message"]) == (403, True)
    assert as_(engineer).post(LIST, PROPOSAL).status_code == 415
    broken = as_(engineer).post(LIST, "{", content_type="application/json")
    assert broken.status_code == 400
    listed = as_(engineer).post(LIST, "[]", content_type="application/json")
    assert (listed.status_code, listed.json()["field"]) == (422, "body")


def test_it_answers_in_json_whatever_a_browser_asks_for(reader):
    answer = reader.get(LIST, headers={"Accept": "text/html"})
    assert "text/html" not in answer.headers["Content-Type"]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("verb", ["approve", "return", "retire"])
def test_it_knows_no_other_spec_and_changes_nothing_by_get(as_, curator, proposal, verb):
    client = as_(curator)
    assert post(client, f"/api/v1/specs/999/{verb}/", {"why": "x"}).status_code == 404
    assert post(client, f"/api/v1/specs/{2**70}/{verb}/", {"why": "x"}).status_code == 404
    assert client.get(f"/api/v1/specs/{proposal.pk}/{verb}/").status_code == 405


def test_it_keeps_the_qualifiers_of_a_proposal(as_, curator, note):
    made = post(as_(curator), LIST, PROPOSAL | {"qualifiers": {"per": "GCD"}})
    assert made.json()["qualifiers"] == {"per": "GCD"}
