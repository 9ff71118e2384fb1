"""Platforms side by side."""

import pytest

from knowledge.exchange.importer import import_wiki
from knowledge.lookup.comparison import Relation, compare
from knowledge.models import Platform
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, SOURCE, TDP

pytestmark = pytest.mark.django_db
MEASURED = "evidence=measured | kind=measured | rank=preferred | source=a run"


@pytest.fixture
def pair(folder, page_text):
    """Write what X 1 and X 2 state, import it and compare them."""

    def build(first, second):
        (folder / "docs/hardware/x-1.md").write_text(page_text(*first))
        other = PLATFORM.replace("x-1", "x-2").replace("X 1", "X 2").replace("X1", "X2")
        text = page_text(*second).replace(PLATFORM, other)
        (folder / "docs/hardware/x-2.md").write_text(text)
        import_wiki(folder)
        return compare([Platform.objects.get(slug=slug) for slug in ("x-1", "x-2")])

    return build


def relations(found):
    return {(row.metric, *row.qualifiers.values()): row.relation for row in found.rows}


def test_it_tells_equal_from_different(pair):
    found = pair(
        [BANDWIDTH, TDP], [BANDWIDTH.replace("4.8 TB/s", "4800 GB/s"), TDP.replace("7", "6")]
    )
    assert relations(found) == {("memory_bandwidth",): Relation.EQUAL, ("tdp",): Relation.DIFFERS}
    assert (found.equal, [row.metric for row in found.differing]) == (1, ["tdp"])


def test_documented_and_measured_are_not_comparable(pair):
    found = pair([BANDWIDTH], [f"- memory_bandwidth: 4.8 TB/s | {MEASURED}"])
    (row,) = found.rows
    assert row.relation is Relation.NOT_COMPARABLE
    assert row.reason == "documented against measured"


def test_dense_and_sparse_never_share_a_row(pair):
    found = pair(
        [f"- peak_fp8_tensor_dense: 1000 TFLOPS | {SOURCE}"],
        [f"- peak_fp8_tensor_sparse: 2000 TFLOPS | {SOURCE}"],
    )
    assert len(found.rows) == 2
    assert {row.relation for row in found.rows} == {Relation.UNKNOWN}


def test_other_qualifiers_are_another_question(pair):
    found = pair([f"- l2_size: 4 MiB | per=XCD | {SOURCE}"], [f"- l2_size: 50 MiB | {SOURCE}"])
    assert {row.relation for row in found.rows} == {Relation.NOT_COMPARABLE}
    bare = next(row for row in found.rows if not row.qualifiers)
    assert (bare.cells[0].elsewhere, bare.reason) == ("per=XCD", "asked with other qualifiers")


def test_what_nobody_knows_is_unknown_and_not_equal(pair):
    line = "- tdp: UNKNOWN | evidence=documented | kind=vendor | source=none | how=ask"
    found = pair([line], [line])
    assert relations(found) == {("tdp",): Relation.UNKNOWN}
    assert found.equal == 0


def test_a_part_without_it_differs_from_one_with_it(pair):
    absent = f"- peak_fp8_tensor_dense: NONE | {SOURCE} | note=it prints NA"
    found = pair([absent], [f"- peak_fp8_tensor_dense: 1000 TFLOPS | {SOURCE}"])
    assert relations(found) == {("peak_fp8_tensor_dense",): Relation.DIFFERS}


def test_it_asks_the_same_for_any_number_of_values(shipped, django_assert_num_queries):
    platforms = list(Platform.objects.all())[:4]
    # specs, citations, drift, newest texts
    with django_assert_num_queries(4):
        compare(platforms)
