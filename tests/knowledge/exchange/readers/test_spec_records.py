"""JSON records become facts with their evidence, or an error that names the JSON path."""

import json

import pytest

from knowledge.exchange.readers.spec_sheets import OF_A_RECORD, read_records
from knowledge.specs.facts import SourceKind
from knowledge.specs.json_text import MAX_BYTES, RecordError, parse_json

RECORD = {
    "platform": "h200-sxm",
    "metric": "memory_bandwidth",
    "value": 4.8,
    "unit": "TB/s",
    "evidence_class": "vendor-published",
    "source": "NVIDIA H200 data sheet <https://www.nvidia.com/h200>",
}


def read_text(text):
    return read_records(parse_json(text))


def read(*records):
    return read_text(json.dumps(records))


def one(**changes):
    """The facts of one record, changed; None takes a field away."""
    fields = {name: value for name, value in {**RECORD, **changes}.items() if value is not None}
    (record,) = read(fields)
    return record.facts


def test_it_reads_a_record_with_its_source_and_evidence():
    (record,) = read(RECORD)
    assert (record.node.place, record.platform) == ("$[0]", "h200-sxm")
    assert str(record.facts) == (
        "- memory_bandwidth: 4.8 TB/s | evidence=documented | kind=vendor | rank=normal | "
        "source=NVIDIA H200 data sheet <https://www.nvidia.com/h200> | "
        "note=evidence class vendor-published"
    )


@pytest.mark.parametrize(
    "text", [json.dumps(RECORD), json.dumps([RECORD]), json.dumps({"records": [RECORD]})]
)
def test_it_takes_one_record_a_list_or_an_object_of_records(text):
    assert [r.facts.shown for r in read_text(text)] == ["4.8 TB/s"]


@pytest.mark.parametrize(
    ("word", "evidence", "kind", "noted"),
    [
        ("documented", "documented", "secondary", False),
        ("derived", "derived", "secondary", False),
        ("measured", "measured", "measured", False),
        ("vendor-published", "documented", "vendor", True),
        ("architecture-analysis", "derived", "tertiary", True),
        ("derived-from-system-total", "derived", "secondary", True),
    ],
)
def test_it_maps_evidence_and_keeps_the_original_word(word, evidence, kind, noted):
    facts = one(evidence_class=word, derivation="64 TB/s over 8 parts", note="peak")
    assert (facts.evidence, facts.source_kind) == (evidence, kind)
    own = f"evidence class {word}; " if noted else ""
    assert facts.note == f"{own}64 TB/s over 8 parts; peak"


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"value": 989.40, "metric": "peak_bf16_dense", "unit": "TFLOP/s"}, "989.4 TFLOPS"),
        (
            {"value": "989.40", "metric": "peak_bf16_tensor_dense", "unit": "TFLOPS"},
            "989.40 TFLOPS",
        ),
        ({"value": 132, "metric": "sm_count", "unit": "SMs"}, "132 SM"),
        ({"value": 132, "metric": "SM-count", "unit": None}, "132"),
        ({"value": "HBM3e", "metric": "memory type", "unit": None}, "HBM3e"),
        ({"value": 9.0, "metric": "compute_capability", "unit": None}, "9.0"),
        ({"value": 228, "metric": "max_smem_per_sm", "unit": "KB", "kilobyte": 1024}, "228 KiB"),
        ({"value": 228, "metric": "max_smem_per_sm", "unit": "KB", "kilobyte": 1000}, "228 kB"),
        ({"value": 5.2, "metric": "memory_data_rate", "unit": "Gbps"}, "5.2 Gbit/s"),
        ({"value": 4800, "unit": "GB/s"}, "4800 GB/s"),
        ({"value": 1979, "metric": "peak_int8_tensor_dense", "unit": "TOPS"}, "1979 TOPS"),
    ],
)
def test_it_reads_values_and_spellings_of_units(changes, shown):
    assert one(**changes).shown == shown


def test_it_keeps_a_number_as_it_is_written():
    text = json.dumps([RECORD]).replace("4.8", "4.80")
    assert read_text(text)[0].facts.shown == "4.80 TB/s"
    text = json.dumps([RECORD]).replace("4.8", "48E-1")
    assert read_text(text)[0].facts.value == 4.8e12


def test_it_takes_what_a_record_says_of_its_kilobytes():
    smem = {**RECORD, "metric": "max_smem_per_sm", "value": 228, "unit": "KB"}
    assert read({**smem, "kilobyte": 1024})[0].facts.value == 228 * 1024
    assert read({**smem, "kilobyte": 1000})[0].facts.value == 228_000


@pytest.mark.parametrize(
    ("how", "note"),
    [
        ("read the device attribute", "read the device attribute"),
        (
            {"why": "not printed", "how": "read the attribute"},
            "read the attribute; missing because: not printed",
        ),
    ],
)
def test_it_stores_what_is_unavailable_as_unknown_with_how(how, note):
    facts = one(value=None, unit=None, unavailable=how, evidence_class="unavailable", source=None)
    assert (facts.shown, facts.note, facts.source) == ("UNKNOWN", note, "none found")
    assert one(value=None, unit=None, unavailable=how).source == "NVIDIA H200 data sheet"


def test_it_reads_a_source_as_object_and_qualifiers():
    facts = one(
        source={"title": "H200 | NVIDIA", "ref": "table 2", "kind": "vendor-doc"},
        qualifiers={"clock": "base", "per": "GCD"},
    )
    assert (facts.source, facts.source_url) == ("H200 / NVIDIA, table 2", "")
    assert facts.source_kind == SourceKind.VENDOR_DOCS
    assert facts.qualifiers == {"clock": "base", "per": "GCD"}
    swept = {"metric": "copy_bandwidth", "qualifiers": {"array_bytes": 1024}}
    assert one(**swept).qualifiers == {"array_bytes": "1024"}
    rate = {"metric": "fma_throughput", "unit": "TFLOPS", "qualifiers": {"dtype": "FP16"}}
    assert one(**rate).qualifiers == {"dtype": "float16"}
    facts = one(source={"title": "page", "ref": "https://x.example/a", "kind": None})
    assert (facts.source, facts.source_url) == ("page", "https://x.example/a")
    assert one(source="https://x.example/a").source == "https://x.example/a"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": "about 4.8"}, r"\$\[0\]\.value: 'about 4.8' is hedged by 'about'"),
        ({"value": "4.8 TB/s"}, r"\$\[0\]\.value: '4.8 TB/s' is not a plain number"),
        ({"value": "4,8"}, r"\$\[0\]\.value: '4,8' is not a plain number"),
        ({"value": True}, r"\$\[0\]\.value: memory_bandwidth needs a value; accepted: a number"),
        ({"value": [4.8]}, r"\$\[0\]\.value: memory_bandwidth needs a value"),
        ({"value": None}, r"\$\[0\]: no value; accepted: value, or unavailable and how to obtain"),
        ({"evidence_class": "unavailable"}, r"\$\[0\]: no value; accepted"),
        ({"unavailable": "measure it"}, r"\$\[0\]\.value: it is unavailable"),
        ({"value": None, "unavailable": {"why": "x"}}, r"\$\[0\]\.unavailable: .* how to obtain"),
        ({"unit": "KB/s"}, r"\$\[0\]\.value: unit 'KB/s' is ambiguous: write kB/s or KiB/s"),
        ({"unit": "TBps"}, r"\$\[0\]\.value: unknown unit 'TBps'; accepted: B, kB"),
        ({"unit": "W"}, r"\$\[0\]\.value: memory_bandwidth is kept in B/s, not in '4.8 W'"),
        ({"unit": 7}, r"\$\[0\]\.unit: a number is not accepted; accepted: a string"),
        ({"metric": "memory_type", "value": "HBM3"}, r"\$\[0\]\.value: memory_type is a name"),
        ({"metric": "speed"}, r"\$\[0\]\.metric: unknown metric 'speed'; accepted:"),
        ({"metric": None}, r"\$\[0\]: metric is missing; accepted fields: platform"),
        ({"platform": "  "}, r"\$\[0\]\.platform: an empty string"),
        ({"evidence_class": "rumour"}, r"\$\[0\]\.evidence_class: 'rumour'; accepted: documented,"),
        ({"evidence_class": "derived-from-system-total"}, r"\$\[0\]\.value: .* needs derivation"),
        ({"source": None}, r"\$\[0\]: source is missing"),
        ({"source": {"kind": "vendor"}}, r"\$\[0\]\.source: a source needs its title"),
        ({"source": {"title": "a", "kind": "b"}}, r"\$\[0\]\.source\.kind: 'b'; accepted: vendor"),
        ({"kilobyte": 1023}, r"\$\[0\]\.kilobyte: accepted: 1000 or 1024"),
        ({"qualifiers": {"colour": "red"}}, r"\$\[0\]\.value: unknown field 'colour'; accepted:"),
        ({"qualifiers": ["red"]}, r"\$\[0\]\.qualifiers: an array is not accepted"),
        ({"unitt": "W"}, r"\$\[0\]\.unitt: unknown field; accepted: platform, metric, value"),
    ],
)
def test_it_names_the_path_of_what_it_does_not_accept(changes, message):
    with pytest.raises(RecordError, match=message):
        one(**changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\$: no JSON at line 1 column 1"),
        ('[{"a": 1,]', r"\$: no JSON at line 1 column 10"),
        ("[]", r"\$: no records; accepted"),
        ("7", r"\$: a number is not accepted; accepted: an object"),
        ("[[]]", r"\$\[0\]: an array is not accepted; accepted: an object"),
        ("[null]", r"\$\[0\]: null is not accepted"),
        ('{"records": 7}', r"\$\.records: a number is not accepted; accepted: an array"),
        ('[{"value": NaN}]', r"\$: NaN is no JSON number"),
        ('[{"value": -Infinity}]', r"\$: -Infinity is no JSON number"),
        ('[{"value": 1, "value": 2}]', r"\$: the name 'value' stands twice"),
        ("[" * 200_000, r"\$: nested too deep"),
        (" " * (MAX_BYTES + 1), r"\$: more than 10000000 bytes"),
        ('"' + "é" * (MAX_BYTES // 2) + '"', r"\$: more than 10000000 bytes"),
    ],
)
def test_it_refuses_what_is_no_strict_and_bounded_json(text, message):
    with pytest.raises(RecordError, match=message):
        read_text(text)


def test_it_refuses_the_whole_file_for_one_bad_record():
    with pytest.raises(RecordError, match=r"\$\[1\]\.value"):
        read(RECORD, {**RECORD, "value": "~4.8"})


def test_it_reads_long_numbers_without_computing_them():
    with pytest.raises(RecordError, match="value: 405 characters; accepted: at most 80"):
        read_text(json.dumps([RECORD]).replace("4.8", "9" * 400))
    for number, words in (("9e400", "only finite numbers"), ("1e-400", "too small to store")):
        with pytest.raises(RecordError, match=words):
            read_text(json.dumps([RECORD]).replace("4.8", number))


def test_it_accepts_its_own_list_of_fields_only():
    assert set(RECORD) <= set(OF_A_RECORD)
