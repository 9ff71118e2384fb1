"""Cited values as records keep them: one reader for all of them."""

from dataclasses import asdict

import pytest

from knowledge.specs.cited import Cited, cited_in

VALUE = Cited("memory_bandwidth", 4.8e12, "B/s", "documented", "a line", "/w/#L1", "4.8 TB/s")


@pytest.mark.parametrize(
    ("stored", "count"),
    [
        ({}, 0),
        ({"x": None}, 0),
        ({"x": []}, 0),
        ({"x": asdict(VALUE)}, 1),
        ({"x": [asdict(VALUE)] * 2}, 2),
    ],
)
def test_it_reads_none_one_or_a_list(stored, count):
    assert cited_in(stored, "x") == (VALUE,) * count


def test_it_passes_over_what_a_later_version_adds_and_refuses_what_lacks():
    assert cited_in({"x": {**asdict(VALUE), "colour": "red"}}, "x") == (VALUE,)
    lacking = asdict(VALUE)
    del lacking["citation"]
    with pytest.raises(KeyError, match="citation"):
        cited_in({"x": lacking}, "x")
