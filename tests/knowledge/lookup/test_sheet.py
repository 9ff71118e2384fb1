"""The rows of a sheet."""

from datetime import UTC, datetime, timedelta

import pytest

from knowledge.exchange.importer import ImportOptions, import_wiki, take_files
from knowledge.lookup.sheet import SheetFilter, sheet_of
from knowledge.models import Platform, Spec, SpecState
from knowledge.specs.metrics import Group
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP

pytestmark = pytest.mark.django_db
X1 = "docs/hardware/x-1.md"
RIVAL = f"- memory_bandwidth: 4.7 TB/s | {SOURCE.replace('rank=preferred', 'rank=normal')}"


def read(choice=None, slug="x-1"):
    return sheet_of(Platform.objects.get(slug=slug), choice or SheetFilter())


def test_it_puts_rivals_below_the_preferred_value(wiki, page_text):
    (wiki / X1).write_text(page_text(RIVAL, BANDWIDTH, TDP))
    import_wiki(wiki, vouched=True)
    rows = [(r.amount, r.written_unit, r.rival) for r in read().rows if r.metric.endswith("width")]
    assert rows == [("4.8", "TB/s", False), ("4.7", "TB/s", True)]


def test_it_keeps_the_parts_in_order(shipped):
    groups = [group for group, _ in read(slug="h200-sxm").groups]
    inside = [Group.MEMORY, Group.PEAKS, Group.UNITS, Group.CACHES, Group.LINKS]
    assert groups == [*inside, Group.MEASURED]


def test_names_have_no_unit(shipped):
    kind = next(r for r in read(slug="h200-sxm").rows if r.metric == "pcie")
    assert (kind.amount, kind.written_unit) == ("PCIe Gen5 x16", "")


def test_unknown_rows_say_how_to_obtain(wiki):
    row = next(r for r in read().rows if r.metric == "cuda_cores")
    assert (row.unknown, row.amount, row.how) == (True, "UNKNOWN", "ask them")


def test_needs_that_nobody_wrote_down_are_rows_too(wiki):
    gaps = {row.metric: row for row in read().rows if row.spec is None}
    assert "add a sourced line for sm_count" in gaps["sm_count"].how
    assert "memory_bandwidth" not in gaps
    assert [r for r in read(SheetFilter(evidence="documented")).rows if r.spec is None] == []


def test_a_stored_unknown_takes_the_place_of_the_gap(wiki, page_text):
    line = "- sm_count: UNKNOWN | evidence=documented | kind=vendor | source=none | how=count them"
    (wiki / X1).write_text(page_text(BANDWIDTH, line))
    import_wiki(wiki, vouched=True)
    assert [r.how for r in read().rows if r.metric == "sm_count"] == ["count them"]


def test_it_keeps_what_a_roofline_needs(wiki):
    metrics = {row.metric for row in read(SheetFilter(roofline_only=True)).rows}
    assert "memory_bandwidth" in metrics
    assert not metrics & {"tdp", "cuda_cores"}


def test_proposed_values_stand_apart(wiki):
    Spec.objects.filter(metric="tdp").update(state=SpecState.PROPOSED)
    found = read()
    assert [row.metric for row in found.waiting] == ["tdp"]
    assert "tdp" not in {row.metric for row in found.rows}


def test_it_shows_what_became_of_a_citation(wiki, page_text):
    text = page_text("", BANDWIDTH, TDP.replace("700", "750"))
    take_files({X1: text, "README.md": "# Index\n"}, ImportOptions())
    rows = {row.metric: row for row in read().rows}
    assert rows["memory_bandwidth"].standing == "moved"
    assert rows["tdp"].standing == "changed"
    assert [flag.kind for flag in rows["tdp"].flags] == ["changed"]


def test_it_shows_a_day_that_has_passed(wiki, page_text):
    before = datetime.now(UTC)
    take_files({X1: page_text(BANDWIDTH.replace("4.8", "4.9"))}, ImportOptions(vouched=True))
    now = {row.amount for row in read().rows if row.spec}
    then = {row.amount: row for row in read(SheetFilter(asof=before)).rows if row.spec}
    assert "4.9" in now
    assert "700" not in now
    assert {"4.8", "700"} < set(then)
    assert (then["4.8"].spec.state, then["4.8"].spec.rank) == ("approved", "preferred")
    assert then["4.8"].citation.line.first_line == 15
    assert then["4.8"].standing == "ok"
    assert [r for r in read(SheetFilter(asof=before - timedelta(days=1))).rows if r.spec] == []


def test_records_are_the_rows_in_order(shipped):
    found = read(slug="h100-sxm5-80gb")
    records = list(found.records())
    assert [r["metric"] for r in records] == [row.metric for row in found.rows]
    assert all(
        r["value"] == row.spec.value for r, row in zip(records, found.rows, strict=True) if row.spec
    )


def test_it_asks_the_same_for_any_number_of_values(shipped, django_assert_num_queries):
    platform = Platform.objects.get(slug="h100-sxm5-80gb")
    # specs, citations, flags, drift, newest texts
    with django_assert_num_queries(5):
        sheet_of(platform, SheetFilter(evidence="documented"))


def test_it_puts_the_steps_of_a_sweep_last_in_the_order_of_sizes(wiki, page_text):
    measured = SOURCE.replace("documented", "measured")
    lines = [
        f"- copy_bandwidth: {rate} TB/s | {name}{measured}"
        for rate, name in ((3, "array_bytes=9 | "), (4, ""), (5, "array_bytes=80 | "))
    ]
    (wiki / X1).write_text(page_text(*lines, TDP))
    import_wiki(wiki, vouched=True)
    found = read()
    assert [row.qualifiers["array_bytes"] for row in found.sweep] == ["9", "80"]
    assert list(found.rows[-2:]) == found.sweep
    shown = [row.amount for group, rows in found.groups for row in rows if group == Group.MEASURED]
    assert shown == ["4"]
