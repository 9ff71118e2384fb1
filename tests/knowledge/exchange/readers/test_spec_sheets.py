"""An hw-1.0 spec sheet gives facts by JSON path, and names each field that it leaves out."""

import copy
import json

import pytest

from knowledge.exchange.readers.spec_sheets import LeftOut, SpecRecord, read_records
from knowledge.specs.json_text import RecordError, parse_json

SHEET = {
    "schema": "hw-1.0",
    "id": "vendor.arch.spec-sheet.x1",
    "type": "spec-sheet",
    "status": "current",
    "identity": {"vendor": "nvidia", "arch": "arch", "product": "x1", "sm_arch": None},
    "facts": {
        "summary": "A part for tests",
        "usage_notes": ["read it with care"],
        "peak_compute": [
            {
                "dtype": "bf16",
                "unit": "TFLOPS",
                "unit_kind": "tensor-core",
                "dense": 100,
                "sparse_2to4": 200.5,
                "accumulate": "fp32",
                "provenance": "vendor-published",
                "use_case": "training | inference",
            },
            {
                "dtype": "fp64",
                "unit": "TFLOPS",
                "unit_kind": "cuda-core",
                "dense": None,
                "provenance": "architecture-analysis",
            },
            {
                "dtype": "fp8",
                "unit": "TFLOPS",
                "unit_kind": "cuda-core",
                "dense": 7,
                "provenance": "architecture-analysis",
            },
        ],
        "memory": {
            "capacity_gb": 288,
            "l2_cache_mb": 126,
            "kind": "HBM3e",
            "bandwidth_tb_s": "up to 8",
            "provenance": "vendor-published",
            "provenance_overrides": {"l2_cache_mb": "architecture-analysis"},
        },
        "compute_units": {
            "sm_count": 160,
            "gpcs": 8,
            "register_file_kb_per_sm": 256,
            "shared_memory_kb_per_sm": None,
            "tensor_cores": None,
            "provenance": "derived-from-system-total",
        },
        "unavailable": {
            "shared_memory_kb_per_sm": "query the device",
            "peak_compute.fp64.dense": "ask the vendor",
            "colour": "look at it",
        },
    },
    "provenance": {
        "evidence_class": "vendor-published",
        "derivation": "8 parts",
        "sources": [
            {"title": "X1 sheet", "kind": "vendor-doc", "ref": "https://x.example/x1"},
            {"title": "X1 survey", "kind": "third-party-analysis", "ref": None},
        ],
    },
}


def sheet(change=None):
    changed = copy.deepcopy(SHEET)
    if change:
        change(changed)
    return json.dumps(changed)


def read(text):
    return read_records(parse_json(text))


def records(text):
    return [each for each in read(text) if isinstance(each, SpecRecord)]


def reasons(text):
    return {each.node.place: each.reason for each in read(text) if isinstance(each, LeftOut)}


def test_it_reads_the_values_with_their_paths():
    found = records(sheet())
    assert {record.platform for record in found} == {"x1"}
    values = {r.node.place.removeprefix("$.facts."): (r.facts.metric, r.facts.shown) for r in found}
    assert values == {
        "peak_compute[0].dense": ("peak_bf16_tensor_dense", "100 TFLOPS"),
        "peak_compute[0].sparse_2to4": ("peak_bf16_tensor_sparse", "200.5 TFLOPS"),
        "peak_compute[1].dense": ("peak_fp64", "UNKNOWN"),
        "memory.capacity_gb": ("memory_capacity", "288 GB"),
        "memory.l2_cache_mb": ("l2_size", "126 MB"),
        "memory.kind": ("memory_type", "HBM3e"),
        "compute_units.sm_count": ("sm_count", "160 SM"),
        "compute_units.shared_memory_kb_per_sm": ("max_smem_per_sm", "UNKNOWN"),
    }


def test_it_names_every_field_that_it_leaves_out():
    found = reasons(sheet()).items()
    assert {(place.removeprefix("$.facts."), reason) for place, reason in found} == {
        ("peak_compute[2].dense", "no metric here is fp8 dense of the cuda-cores"),
        ("memory.bandwidth_tb_s", "'up to 8' is hedged by 'up to'; accepted: a plain value"),
        ("compute_units.gpcs", "no metric here says this"),
        ("compute_units.tensor_cores", "null, and nothing says how to obtain it"),
        (
            "compute_units.register_file_kb_per_sm",
            "unit 'KB' is ambiguous: write kB (1000) or KiB (1024)",
        ),
        ("unavailable.colour", "it is said of a field that the sheet does not have"),
    }


def test_it_takes_evidence_from_the_field_its_group_or_its_record():
    facts = {r.facts.metric: r.facts for r in records(sheet())}
    peak, l2 = facts["peak_bf16_tensor_dense"], facts["l2_size"]
    assert (peak.evidence, peak.source_kind, peak.source) == (
        "documented",
        "vendor-docs",
        "X1 sheet",
    )
    assert peak.qualifiers == {"accumulate": "float32"}
    assert peak.note == (
        "evidence class vendor-published; 8 parts; also X1 survey; training / inference"
    )
    assert (l2.evidence, facts["memory_capacity"].evidence) == ("derived", "documented")
    assert facts["sm_count"].note.startswith("evidence class derived-from-system-total; 8 parts")
    assert facts["max_smem_per_sm"].note.startswith("query the device; 8 parts")


def test_it_reads_compute_units_of_amd_as_such():
    found = records(sheet(lambda s: s["identity"].update(vendor="amd")))
    assert ("cu_count", "160 CU") in {(r.facts.metric, r.facts.shown) for r in found}


def test_it_leaves_out_a_share_of_a_system_without_its_divisor():
    found = reasons(sheet(lambda s: s["provenance"].pop("derivation")))
    assert "needs derivation" in found["$.facts.compute_units.sm_count"]


def test_it_leaves_out_a_value_that_is_said_to_be_unavailable():
    found = reasons(sheet(lambda s: s["facts"]["unavailable"].update(sm_count="count them")))
    assert found["$.facts.compute_units.sm_count"].startswith("it has a value and is said")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(schema="hw-2.0"), r"\$\.schema: 'hw-2.0' is not accepted"),
        (lambda s: s.update(type="instruction"), r"\$\.type: 'instruction' .* spec-sheet"),
        (lambda s: s.update(status="superseded"), r"\$\.status: 'superseded' .* current"),
        (lambda s: s["identity"].update(product=None), r"\$\.identity: no product"),
        (lambda s: s.pop("provenance"), r"\$: provenance is missing"),
        (lambda s: s.update(more=1), r"\$\.more: unknown field"),
        (lambda s: s["provenance"].update(sources=[]), r"\$\.provenance\.sources: no source"),
        (lambda s: s["provenance"].update(evidence_class="x"), r"evidence_class: 'x'; accepted:"),
        (lambda s: s["facts"].update(peak_compute=7), r"\$\.facts\.peak_compute: a number is not"),
        (
            lambda s: s["facts"]["peak_compute"][0].pop("unit"),
            r"\$\.facts\.peak_compute\[0\]: unit is missing",
        ),
    ],
)
def test_it_refuses_what_is_no_sheet_of_one_product(change, message):
    with pytest.raises(RecordError, match=message):
        read(sheet(change))
