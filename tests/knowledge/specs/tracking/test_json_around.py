"""A line of a JSON document has changed where what names its object reads otherwise."""

import json

import pytest

from knowledge.exchange.readers.foreign import json_document
from knowledge.specs.citation import CitationLine, CitationState, split_lines
from knowledge.specs.tracking.anchoring import Reanchor
from knowledge.specs.tracking.sections import JsonAround

SHEET = {
    "schema": "hw-1.0",
    "identity": {"vendor": "nvidia", "product": "h200-sxm"},
    "facts": {
        "peak_compute": [
            {"dtype": "fp8", "unit": "TFLOPS", "dense": 1979, "note": "a"},
            {"dtype": "int8", "unit": "TOPS", "dense": 1978, "note": "b"},
        ],
        "memory": {"capacity_gb": 141},
    },
}
RECORDS = [
    {"platform": "a", "metric": "m", "value": 1979, "unit": "W", "qualifiers": {"dtype": "fp8"}},
    {"platform": "b", "metric": "m", "value": 7, "unit": "W"},
]


def fate(value, *changes):
    old = json.dumps(value, indent=1)
    new = old
    for before, after in changes:
        assert before in new
        new = new.replace(before, after)
    texts = [json_document("x.json", text)[1] for text in (old, new)]
    lines = split_lines(texts[0])
    line = next(n for n, words in enumerate(lines, start=1) if "1979" in words)
    cited = CitationLine("m", "1979", "x.json.md", line, line)
    return Reanchor(*texts).anchor(cited, lines[line - 1])


@pytest.mark.parametrize(
    ("value", "change", "note"),
    [
        (SHEET, ("h200-sxm", "h100-pcie"), "identity.product: h200-sxm' and is 'identity.product"),
        (SHEET, ('"fp8"', '"bf16"'), "the JSON field around it was 'dtype: fp8' and is 'dtype: bf"),
        (SHEET, ("TFLOPS", "GFLOPS"), "the JSON field around it was 'unit: TFLOPS'"),
        (SHEET, ("TFLOPS", "tflops"), "the JSON field around it was 'unit: TFLOPS'"),
        (SHEET, ("hw-1.0", "hw-2.0"), "the JSON field around it was 'schema: hw-1.0'"),
        (SHEET, ("peak_compute", "sparse"), "keys in the JSON was 'peak_compute' and is 'sparse'"),
        (
            RECORDS,
            ('"a"', '"b"'),
            "the JSON field around it was 'platform: a' and is 'platform: b'",
        ),
        (RECORDS, ('"fp8"', '"int8"'), "was 'qualifiers.dtype: fp8' and is 'qualifiers.dtype: int"),
        (RECORDS, ('"m"', '"n"'), "the JSON field around it was 'metric: m' and is 'metric: n'"),
    ],
)
def test_it_says_what_changed_around_a_line(value, change, note):
    found = fate(value, change)
    assert found.state is CitationState.CHANGED
    assert note in found.note


def test_it_holds_where_other_objects_change():
    assert fate(SHEET, ('"int8"', '"uint8"'), ('"note": "a"', '"note": "c"')).state is (
        CitationState.OK
    )
    assert fate(SHEET, ('"memory"', '"store"')).state is CitationState.OK
    assert fate(RECORDS, ('"b"', '"c"')).state is CitationState.OK
    more = '{\n  "platform": "z",\n  "value": 3\n },\n {\n  "platform": "a"'
    assert fate(RECORDS, ('{\n  "platform": "a"', more)).state is CitationState.MOVED


def test_fields_in_another_order_say_the_same():
    swapped = ('"dtype": "fp8",\n    "unit": "TFLOPS"', '"unit": "TFLOPS",\n    "dtype": "fp8"')
    assert fate(SHEET, swapped).state is CitationState.OK


def test_it_leaves_out_what_stands_on_the_lines_themselves():
    lines = ['{"product": "x", "rates": [', '{"dtype": "a", "v": 1},', '{"dtype": "b", "v": 2}]}']
    around = JsonAround(lines)
    assert around.keys(1) == ["rates"]
    assert around.fields(1, 2) == ["product: x"]
    assert around.fields(0, 3) == []


@pytest.mark.parametrize("text", ["}}]]", "{{{[", '"a": 1', "{,:,}", '{"a" 1 2'])
def test_it_reads_what_is_no_json_without_an_error(text):
    around = JsonAround([text, '"v": 1'])
    assert isinstance(around.fields(1, 2), list)
    assert isinstance(around.keys(1), list)
