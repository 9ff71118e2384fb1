"""Whatever is sent to a page of the wiki: an answer below 500 that says what is wrong."""

import re
from urllib.parse import quote

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Flag, Spec, SpecChange
from knowledge.urls import urlpatterns
from tests.knowledge.conftest import BANDWIDTH, TDP
from tests.products import chosen

X1 = "docs/hardware/x-1.md"
HOSTILE = {
    "NUL": "a\0b",
    "percent": "a%00b %s %(x)s {0.__class__} {{ 7 }}",
    "40 kB": "x" * 40_000,
    "40 kB of words": "zz " * 13_333,
    "digits": "9" * 40_000,
    "beyond a key": str(2**63),
    "nineteen digits": "9" * 19,
    "negative": "-7",
    "zero": "0",
    "fraction": "1.5",
    "exponent": "1e400",
    "digits of another script": "٣",
    "markup": '"><script>alert(1)</script>',
    "path": "../../etc/passwd",
    "lines": "a\r\nb\u2028c|d",
    "edges of Unicode": "\ud7ff\ue000\U0010ffff\u202e",
    "SQL": "' OR 1=1 --",
    "no day": "0000-00-00",
    "no such day": "2026-02-30",
    "a day to come": "9999-12-31",
    "blank": "   ",
}
# One that a database refuses, one too long, one too large, one that is markup, one of a script.
TELLING = ("NUL", "40 kB", "beyond a key", "markup", "edges of Unicode")
# Address → the parameters that it reads.
GET = {
    "home": ("/w/", ()),
    "platform": ("/w/p/x-1/", ("need", "evidence", "asof")),
    "platform_json": ("/w/p/x-1.json", ("need", "evidence", "asof")),
    "platform_csv": ("/w/p/x-1.csv", ("need", "evidence", "asof")),
    "platform_md": ("/w/p/x-1.md", ("need", "evidence", "asof")),
    "specs": ("/w/specs/", ("q", "state", "flag", "reviewed", "page")),
    "compare": ("/w/compare/", ("p", "only")),
    "compare_json": ("/w/compare.json", ("p", "only")),
    "compare_csv": ("/w/compare.csv", ("p", "only")),
    "compare_md": ("/w/compare.md", ("p", "only")),
    "documents": ("/w/docs/", ("q", "page")),
    "document": (f"/w/docs/{X1}", ("rev", "view", "against", "lines")),
    "spec": ("/w/s/{spec}/", ()),
    "review": ("/w/review/", ("page",)),
    "imports": ("/w/imports/", ("page",)),
    "batch": ("/w/imports/{batch}/", ("page",)),
    "export": ("/w/export.zip", ()),
    "propose": (
        "/w/propose/",
        (
            *("like", "replaces", "doc", "rev", "first", "last", "from", "platform", "metric"),
            *("value", "qualifiers", "evidence", "source", "source_url", "note", "rank", "why"),
        ),
    ),
}
PROPOSAL = {
    "platform": "x-1",
    "metric": "memory_bandwidth",
    "value": "4.9 TB/s",
    "qualifiers": "dtype=float16",
    "evidence": "documented",
    "source_kind": "vendor",
    "source": "notes",
    "source_url": "https://example.org/",
    "note": "",
    "rank": "normal",
    "why": "read there",
    "doc": "docs/notes.md",
    "rev": "",
    "first": "5",
    "last": "5",
    "replaces": "",
    "do": "",
    "from": "",
}
WHY = {"seen": "", "why": "read it"}
PLACE = {"doc": X1, "rev": "", "first": "1", "last": "1"}
# Address → what a person may send to it.
POST = {
    "propose": ("/w/propose/", PROPOSAL),
    "review": ("/w/review/", {"spec": "1"}),
    "approve": ("/w/s/{proposal}/approve/", WHY),
    "return": ("/w/s/{proposal}/return/", WHY),
    "resubmit": ("/w/s/{proposal}/resubmit/", WHY),
    "retire": ("/w/s/{spec}/retire/", WHY | {"successor": ""}),
    "rank": ("/w/s/{spec}/rank/", WHY | {"rank": "normal"}),
    "restore": ("/w/s/{spec}/restore/", WHY),
    "waive": ("/w/s/{spec}/waive/", {"seen": "", "constraint": "range", "reason": "it is so"}),
    "recite": ("/w/flags/{flag}/recite/", WHY | PLACE),
    "explain": ("/w/flags/{flag}/explain/", WHY | {"answer": "misread"}),
    "imports": ("/w/imports/", {"origin": "notes", "files": ""}),
    "batch_confirm": ("/w/imports/{batch}/confirm/", {}),
    "batch_drop": ("/w/imports/{batch}/drop/", {"why": "no"}),
    "batch_undo": ("/w/imports/{batch}/undo/", {"why": "no"}),
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [*HOSTILE.values(), *PROPOSAL.values(), "UNKNOWN", "NONE", "1e308 TB/s", "2", "=", "a=b"]
)


@pytest.fixture
def there(page_text, proposal, second_curator, client):
    """Keys to put into addresses, and a client of a curator who may decide on all of them."""
    take_files({X1: page_text(BANDWIDTH.replace("4.8", "4.7"), TDP)}, ImportOptions(origin="wiki"))
    client.force_login(second_curator)
    client.raise_request_exception = False
    return client, {
        "proposal": proposal.pk,
        "spec": Spec.objects.get(metric="tdp").pk,
        "flag": Flag.objects.open().first().pk,
        "batch": plan_import(WikiFiles("more", {"a.md": "# A\n"}), second_curator).pk,
    }


def ask(client, method, path, data, **more):
    """The answer, and nothing of what it stored."""
    with transaction.atomic():
        answer = getattr(client, method)(path, data, **more)
        transaction.set_rollback(True)
    assert answer.status_code < 500, (method, path, str(data)[:200])
    if answer.headers["Content-Type"].startswith("text/html"):
        assert b"<script>alert" not in answer.content
    return answer


def test_the_tables_hold_every_address():
    assert {pattern.name for pattern in urlpatterns} == GET.keys() | POST.keys()


@pytest.mark.storage
@pytest.mark.parametrize("kind", chosen(HOSTILE, TELLING))
def test_it_reads_any_parameter(there, kind):
    client, keys = there
    for path, names in GET.values():
        for name in names:
            asked = {name: HOSTILE[kind]}
            if path == "/w/propose/" and name != "doc":
                asked["doc"] = X1
            answer = ask(client, "get", path.format(**keys), asked)
            assert answer.status_code in (200, 400, 404), (path, name)
            assert len(answer.content) < 500_000


@pytest.mark.parametrize("kind", chosen(HOSTILE, TELLING))
def test_it_finds_nothing_under_any_key(there, kind):
    client, _ = there
    word = quote(HOSTILE[kind][:6_000], safe="")
    for path in ("docs/{}", "docs/{}.md", "p/{}/", "p/{}.json", "p/{}.csv", "s/{}/", "imports/{}/"):
        assert ask(client, "get", f"/w/{path}".format(word), {}).status_code in (301, 404), path
    for path in ("s/{}/approve/", "s/{}/waive/", "flags/{}/recite/", "imports/{}/undo/"):
        assert ask(client, "post", f"/w/{path}".format(word), WHY).status_code == 404, path


@pytest.mark.parametrize("address", POST)
@pytest.mark.parametrize(
    "kinds", [pytest.param(TELLING[:2], id="telling"),
              pytest.param(tuple(HOSTILE), id="all", marks=pytest.mark.long)]
)  # fmt: skip
def test_it_takes_any_field_of_a_form(there, address, kinds):
    client, keys = there
    path, sound = POST[address]
    for name in sound:
        for kind in kinds:
            text = HOSTILE[kind]
            answer = ask(client, "post", path.format(**keys), sound | {name: text})
            if answer.status_code == 422:
                page = answer.content.decode()
                assert re.search(r'class="errors"|role="alert"', page), (name, kind)


def test_it_says_beside_the_field_what_is_wrong_with_a_proposal(there):
    client, _ = there
    hidden = {"rev", "replaces", "do", "from"}
    for name in PROPOSAL.keys() - hidden:
        for kind in ("NUL", "40 kB"):
            answer = ask(client, "post", "/w/propose/", PROPOSAL | {name: HOSTILE[kind]})
            assert answer.status_code == 422, (name, kind)
            field = "first" if name == "last" else name  # one message for both ends
            assert f'id="propose-{field}_error"' in answer.content.decode(), (name, kind)


def test_it_tells_a_reader_which_parameter_is_wrong(there):
    client, _ = there
    for path, name in [
        ("/w/p/x-1.json", "asof"), ("/w/p/x-1.csv", "need"), ("/w/compare.csv", "p"),
        ("/w/compare.json", "p"), ("/w/specs/", "state"), ("/w/specs/", "flag"),
    ]:  # fmt: skip
        answer = ask(client, "get", path, {name: HOSTILE["path"]})
        assert answer.status_code == 400
        assert name in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"why=\xff\xfe&seen=%ff", "application/x-www-form-urlencoded"),
        (b"&" * 50_000, "application/x-www-form-urlencoded"),
        (b"a=1&" * 5_000, "application/x-www-form-urlencoded"),
        (b"why=x", "application/x-www-form-urlencoded; charset=utf-16"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"why=x", "multipart/form-data; boundary=\xff"),
        (b'{"why": "x"}', "application/json"),
        (b"x" * 3_000_000, "application/x-www-form-urlencoded"),
    ],
)
def test_it_takes_any_body(there, body, kind):
    client, keys = there
    for path, _ in POST.values():
        answer = ask(client, "post", path.format(**keys), body, content_type=kind)
        assert answer.status_code < 500


@pytest.mark.storage
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=st.dictionaries(st.sampled_from(list(PROPOSAL)), TEXTS, max_size=6))
def test_it_takes_any_proposal(there, change):
    client, _ = there
    before = SpecChange.objects.count()
    ask(client, "post", "/w/propose/", PROPOSAL | change)
    assert SpecChange.objects.count() == before
