"""Whatever is sent to /api/v1/: an answer below 500 that names the field, and nothing stored."""

import json

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.api.json_body import MOST_BYTES
from knowledge.api.specs import OTHERS, TEXTS, VERBS
from knowledge.models import Spec, SpecChange
from knowledge.specs.facts import QUALIFIERS
from tests.knowledge.api.test_specs import LIST, LOOKUP, PROPOSAL
from tests.products import thinned

FIELDS = (*TEXTS, *OTHERS)
# One value of each kind that no field takes, or that a database or a reader of JSON trips over.
NO_TEXT = {
    "truth": True,
    "number": 4.9,
    "negative": -1,
    "huge number": 10**400,
    "beyond a key": 2**63,
    "list": ["x"],
    "object": {"colour": "red"},
    "list of objects": [{"dtype": ["float16"]}],
}
NO_DATABASE = {"lone surrogate": "a\ud800b", "NUL": "a\0b", "40 kB": "x" * 40_000}
WRONG = {"null": None} | NO_TEXT | NO_DATABASE | {"digits": "9" * 40_000}
# Bodies that are wrong as a whole: (bytes, status, field).
BODIES = {
    "no JSON": (b"{", 400, "body"),
    "a list": (b"[]", 422, "body"),
    "a text": (b'"why"', 422, "body"),
    "null": (b"null", 422, "body"),
    "deep lists": (b'{"why": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", 400, "body"),
    "deep objects": (b'{"why":' * 20_000 + b"1" + b"}" * 20_000, 400, "body"),
    "invalid UTF-8": (b'{"why": "\xff\xfe"}', 400, "body"),
    "UTF-16": ('{"why": "x"}'.encode("utf-16"), 400, "body"),
    "a surrogate in UTF-8": (b'{"why": "\xed\xa0\x80"}', 400, "body"),
    "a key twice": (b'{"why": "x", "why": "y"}', 400, "why"),
    "a key twice, inside": (b'{"qualifiers": {"dtype": "a", "dtype": "b"}}', 400, "dtype"),
    "no number": (b'{"why": NaN}', 400, "body"),
    "infinite": (b'{"why": -Infinity}', 400, "body"),
    "a number of 5,000 digits": (b'{"why": ' + b"9" * 5_000 + b"}", 400, "body"),
    "a lone surrogate as a key": (b'{"\\ud800": 1}', 400, "body"),
    "a key of 40 kB": (b'{"' + b"k" * 40_000 + b'": 1}', 422, "k" * 80),
    "an unknown key": (b'{"why": "x", "by": "root"}', 422, "by"),
    "too large": (b'{"why": "' + b"x" * MOST_BYTES + b'"}', 413, "body"),
}
LONG = "x" * 5_000
# (address, parameters, field)
QUESTIONS = [
    (LIST, {"q": "a\0b"}, "q"),
    (LIST, {"q": LONG}, "q"),
    (LIST, {"q": "a " * 100}, "q"),
    (LIST, {"state": LONG}, "state"),
    (LIST, {"rank": "best"}, "rank"),
    (LIST, {"evidence": "\ud7ff"}, "evidence"),
    (LIST, {"platform": "y"}, "platform"),
    (LIST, {"platform": "../y"}, "platform"),
    (LIST, {"metric": "tpd"}, "metric"),
    (LIST, {"sort": "value"}, "sort"),
    (LIST, {"k" * 5_000: "x"}, "k" * 80),
    (LIST, {"page": "1"}, "page"),
    (LIST, {"after": "x"}, "after"),
    (LIST, {"after": "-1"}, "after"),
    (LIST, {"after": "9" * 400}, "after"),
    (LIST, {"after": "٣"}, "after"),
    (LIST, {"after": ["1", "2"]}, "after"),
    (LIST, {"format": "html"}, "format"),
    (LIST, {"page_size": "1e3"}, "page_size"),
    (LIST, {"page_size": "9" * 400}, "page_size"),
    (LOOKUP, {}, "platform"),
    (LOOKUP, {"platform": "x-1"}, "metric"),
    (LOOKUP, {"platform": "x-1", "metric": "tdp", "dtype": "a\0"}, "dtype"),
    (LOOKUP, {"platform": "x-1", "metric": "tdp", "dtype": LONG}, "dtype"),
    (LOOKUP, {"platform": "x-1", "metric": "tdp", "self": "x"}, "self"),
    (LOOKUP, {"platform": "a\0", "metric": "tdp"}, "platform"),
    (LOOKUP, {"platform": "x-1", "metric": LONG}, "metric"),
]
KEYS = st.sampled_from([*FIELDS, *QUALIFIERS, "successor", "id", "", "a\0", "\ud800"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62, max_value=2**70)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=40)
    | st.sampled_from([*PROPOSAL.values(), "UNKNOWN", "NONE", "1e308 TB/s", "x" * 3_000, "|", "\n"])
)
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
CHANGES = st.dictionaries(KEYS, ANYTHING, max_size=4)
examples = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def enter(as_):
    """A client of this user that answers 500 for an error of ours, as a server does."""

    def log_in(user):
        client = as_(user)
        client.raise_request_exception = False
        return client

    return log_in


def send(client, address, body):
    text = body if isinstance(body, bytes) else json.dumps(body)
    return client.post(address, text, content_type="application/json")


def field_of(answer):
    """The field of a refusal in the one shape that all of them have."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.content[:200])
    found = answer.json()
    assert {"type", "title", "status", "detail", "field", "message"} == set(found)
    assert found["status"] == answer.status_code
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert found["message"]
    assert len(answer.content) < 5_000
    return found["field"]


@pytest.mark.parametrize(("field", "kind"), thinned(FIELDS, WRONG, one_in=7))
def test_it_names_the_field_of_a_proposal_that_is_wrong(enter, engineer, note, field, kind):
    accepted = (field, kind) == ("replaces", "null")
    before = Spec.objects.count()
    answer = send(enter(engineer), LIST, PROPOSAL | {field: WRONG[kind]})
    if accepted:
        assert answer.status_code == 201
        return
    assert field_of(answer) == field
    assert Spec.objects.count() == before


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("place", ["key", "value"])
def test_it_names_the_qualifiers_that_are_wrong(enter, engineer, note, place, kind):
    wrong = WRONG[kind]
    inside = {"dtype": wrong} if place == "value" else {str(wrong): "float16"}
    assert field_of(send(enter(engineer), LIST, PROPOSAL | {"qualifiers": inside})) == "qualifiers"


@pytest.mark.parametrize(
    ("field", "verb", "kind"), thinned(["why", "successor"], VERBS, WRONG, one_in=6)
)
def test_it_names_what_is_wrong_with_a_decision(enter, curator, proposal, verb, field, kind):
    address = f"/api/v1/specs/{proposal.pk}/{verb}/"
    body = {"why": "read it"} | {field: WRONG[kind]}
    answer = send(enter(curator), address, body)
    if (verb, field, kind) == ("retire", "successor", "null"):
        assert answer.status_code == 200
        return
    assert field_of(answer) == field
    proposal.refresh_from_db()
    assert proposal.state == "proposed"


@pytest.mark.parametrize(
    ("address", "name"),
    thinned([LIST, *(f"{LIST}{{}}/{verb}/" for verb in VERBS)], BODIES, one_in=5),
)
def test_it_refuses_a_body_that_is_wrong_as_a_whole(enter, curator, proposal, address, name):
    body, status, field = BODIES[name]
    before = SpecChange.objects.count()
    answer = send(enter(curator), address.format(proposal.pk), body)
    assert field_of(answer) == field
    assert answer.status_code == status
    assert SpecChange.objects.count() == before


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "x", "application/json\0"])
def test_it_names_the_content_type(enter, engineer, note, kind):
    answer = enter(engineer).post(LIST, json.dumps(PROPOSAL), content_type=kind)
    assert (answer.status_code, field_of(answer)) == (415, "Content-Type")


@pytest.mark.parametrize(("address", "asked", "field"), QUESTIONS)
def test_it_names_the_parameter_that_is_wrong(enter, viewer, wiki, address, asked, field):
    assert field_of(enter(viewer).get(address, asked)) == field


@pytest.mark.storage
@pytest.mark.parametrize("key", ["0", str(2**31), str(2**63), "9" * 4_000, "9" * 5_000, "-1", "x"])
def test_it_knows_no_such_key(enter, curator, wiki, key):
    for verb in VERBS:
        answer = send(enter(curator), f"/api/v1/specs/{key}/{verb}/", {"why": "x"})
        assert answer.status_code == 404


@pytest.mark.storage
@examples
@given(change=CHANGES, whole=st.booleans())
def test_it_takes_any_json_without_an_error_of_ours(enter, curator, note, change, whole):
    body = change if whole else PROPOSAL | change
    with transaction.atomic():
        answer = send(enter(curator), LIST, body)
        assert answer.status_code == 201 or field_of(answer) is not None
        transaction.set_rollback(True)


@examples
@given(text=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_it_takes_any_bytes_without_an_error_of_ours(enter, curator, note, text):
    assert field_of(send(enter(curator), LIST, text))
