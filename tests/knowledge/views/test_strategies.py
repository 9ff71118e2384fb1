"""The catalogue and one strategy: filters, record, source, and text that stays text."""

import csv
import io
from html import unescape

import pytest

from knowledge.experience.attempts.record import record_attempts
from knowledge.models import Adoption, Lesson, Strategy
from tests.knowledge.experience.catalogue.test_store import attempt


def listed(viewer, **asked):
    return [row.slug for row, _ in viewer.get("/x/strategies/", asked).context["rows"]]


def test_it_narrows_by_what_can_fit(viewer, shipped):
    found = listed(viewer, backend="cuda", op="softmax", limit="memory")
    assert {"cu.reg.rowcache", "cu.vec128"} <= set(found)
    assert not {"cu.swizzle.grid", "cu.fma", "tr.tile", "ge.4.xor"} & set(found)
    assert listed(viewer, q="grouped tile TRITON") == ["tr.swizzle"]
    assert "tr.wpe" not in listed(viewer, backend="triton", vendor="NVIDIA")


@pytest.mark.parametrize("name", ["limit", "vendor", "backend", "op"])
def test_it_says_what_a_filter_takes(viewer, shipped, name):
    answer = viewer.get("/x/strategies/", {name: "<b>"})
    assert answer.status_code == 400
    assert f"{name}: '<b>'; accepted: " in unescape(answer.content.decode())
    assert b"<b>" not in answer.content


def test_it_takes_any_text_and_says_when_nothing_fits(viewer, shipped):
    for words in ("x" * 10_000, "nothing\0here", "qq' OR 1=1 --"):
        assert b"No strategy" in viewer.get("/x/strategies/", {"q": words}).content


def test_an_empty_catalogue_says_where_it_comes_from(viewer):
    assert b"manage.py wiki import" in viewer.get("/x/strategies/").content


def test_the_list_has_the_record_and_a_csv_of_all_pages(viewer, shipped):
    record_attempts([attempt("cuda.row_in_registers", gain) for gain in (0.1, 0.0)])
    page = viewer.get("/x/strategies/", {"q": "cu.reg.rowcache"}).content.decode()
    assert "× faster" not in page
    assert "over 1 context" in page
    body = viewer.get("/x/strategies/", {"format": "csv"}).content.decode()
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(body))}
    assert len(rows) == Strategy.objects.count()
    row = rows["cu.reg.rowcache"]
    assert (row["tried"], row["worked"], row["recipes"]) == ("2", "1", "cuda.row_in_registers")


def test_a_strategy_says_what_to_do_and_what_it_has_shown(viewer, shipped):
    record_attempts([attempt("cuda.row_in_registers", 0.1, expected_gain=0.2, borne="confirmed")])
    Adoption.objects.create(campaign=3, round=7, strategy="cu.reg.rowcache")
    Lesson.objects.create(
        context="c",
        signal="s",
        takeaway="<script>alert(1)</script>",
        applicability="a",
        strategy="cu.reg.rowcache",
        state="active",
        source="person",
    )
    page = viewer.get("/x/strategies/cu.reg.rowcache/").content.decode()
    row = Strategy.objects.get(slug="cu.reg.rowcache")
    assert f'href="/w/docs/{row.document.removeprefix("docs/")}#L{row.line}"' in page or (
        f"{row.document}#L{row.line}" in page
    )
    for said in ("1 of 1", "NVIDIA H200 SXM", "0.50 × the predicted one", "campaign 3, round 7"):
        assert said in page
    assert "<script>alert" not in page
    body = viewer.get("/x/strategies/cu.reg.rowcache/", {"format": "csv"}).content.decode()
    assert body.splitlines()[1].startswith("h200-sxm,softmax,1,1,1,0.1")


def test_an_anti_pattern_says_what_to_do_instead(viewer, shipped):
    page = viewer.get("/x/strategies/cu.anti.1024_threads/").content.decode()
    assert "Avoid: The largest block" in page
    assert "Nobody has tried it here yet." in page
    assert viewer.get("/x/strategies/cu.none/").status_code == 404
    assert viewer.get("/x/strategies/cu.anti.compute_when_mem>90/").status_code == 200
