"""JSON spec records → facts: a list of values, or the hw-1.0 spec sheet of one product.

    [{"platform": "h200-sxm", "metric": "memory_bandwidth", "value": 4.8, "unit": "TB/s",
      "evidence_class": "vendor-published", "source": "NVIDIA H200 data sheet <https://…>"}]

A value that is not there is `"unavailable": "how to obtain it"` instead of value and unit. A spec
sheet is the JSON in which atrex's gpu-wiki keeps hardware facts; what it states and we have no
metric for is left out by name, with the reason; nothing is dropped.
Format: https://github.com/alibaba/atrex-kernel-agent, gpu-wiki/schema/hardware/schema.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from knowledge.exchange.readers.record_facts import (
    NO_SOURCE,
    UNAVAILABLE,
    Origin,
    RecordSource,
    known_facts,
    read_class,
    read_metric,
    read_source,
    unknown_facts,
)
from knowledge.specs.facts import SpecFacts
from knowledge.specs.json_text import JsonNumber, Node, RecordError, parse_json
from knowledge.specs.metrics import METRICS

SCHEMA = "hw-1.0"
TOP = ("schema", "id", "type", "status", "identity", "facts", "provenance")
# Field of a group → metric and unit; AMD's sheets use the same names for their own units.
FIELDS: dict[str, tuple[str, str]] = {
    "memory.capacity_gb": ("memory_capacity", "GB"),
    "memory.kind": ("memory_type", ""),
    "memory.bandwidth_tb_s": ("memory_bandwidth", "TB/s"),
    "memory.bus_width_bits": ("memory_bus_width", "bit"),
    "memory.l2_cache_mb": ("l2_size", "MB"),
    "compute_units.sm_count": ("sm_count", "SM"),
    "compute_units.cuda_cores": ("cuda_cores", "core"),
    "compute_units.cuda_cores_per_sm": ("cuda_cores_per_sm", "core"),
    "compute_units.tensor_cores": ("tensor_cores", "core"),
    "compute_units.register_file_kb_per_sm": ("register_file_per_sm", "KB"),
    "compute_units.register_file_kb_total": ("register_file_total", "KB"),
    "compute_units.shared_memory_kb_per_sm": ("max_smem_per_sm", "KB"),
}
FIELDS_OF_AMD = {
    **FIELDS,
    "compute_units.sm_count": ("cu_count", "CU"),
    "compute_units.cuda_cores": ("stream_processors", "core"),
}
PEAKS = {
    ("fp64", "tensor-core"): "peak_fp64_tensor",
    ("fp32", "tensor-core"): "peak_fp32_matrix",
    ("fp64", "cuda-core"): "peak_fp64",
    ("fp32", "cuda-core"): "peak_fp32",
    ("fp16", "cuda-core"): "peak_fp16_vector",
}
PEAK_NEEDS = ("dtype", "unit", "unit_kind", "dense", "provenance")
PEAK = (*PEAK_NEEDS, "sparse_2to4", "accumulate", "use_case", "derivation")
WORDS = ("summary", "usage_notes")  # sentences about the values
OF_A_RECORD = (
    *("platform", "metric", "value", "unit", "evidence_class", "source"),
    *("qualifiers", "derivation", "note", "unavailable", "kilobyte"),
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A field that states something and was not taken."""

    place: str
    reason: str


Found = tuple[str, SpecFacts] | LeftOut


def read_sheet(
    root: Node, kilobyte: int | None
) -> tuple[str, list[tuple[str, SpecFacts]], list[LeftOut]]:
    """The product, its facts by JSON path, and what was left out.

    RecordError where the sheet is no spec sheet of one exact product; a single value that cannot
    be taken is left out with the reason.
    """
    top = root.fields(TOP)
    for name in TOP:
        if name not in top:
            raise root.error(f"{name} is missing; accepted: {', '.join(TOP)}")
    for name, accepted in (("schema", SCHEMA), ("type", "spec-sheet"), ("status", "current")):
        if top[name].text() != accepted:
            raise top[name].error(f"'{top[name].text()}' is not accepted; accepted: {accepted}")
    identity = top["identity"].fields()
    if "product" not in identity or identity["product"].value is None:
        raise top["identity"].error("no product; accepted: the sheet of one exact product")
    amd = "vendor" in identity and identity["vendor"].text() == "amd"
    origin = _origin(top["provenance"], kilobyte)
    every = list(_facts(top["facts"], FIELDS_OF_AMD if amd else FIELDS, origin))
    found = [each for each in every if not isinstance(each, LeftOut)]
    return identity["product"].text(), found, [each for each in every if isinstance(each, LeftOut)]


def _origin(node: Node, kilobyte: int | None) -> Origin:
    fields = node.fields(("evidence_class", "sources", "derivation", "last_verified"))
    if "evidence_class" not in fields or "sources" not in fields:
        raise node.error("accepted: evidence_class and sources")
    sources = [read_source(each) for each in fields["sources"].items()]
    if not sources:
        raise fields["sources"].error("no source; accepted: at least one")
    more = [f"also {source.title} {source.url}".strip() for source in sources[1:]]
    word = read_class(fields["evidence_class"])
    return Origin(word, sources[0], _text(fields, "derivation"), tuple(more), kilobyte)


def _facts(node: Node, names: Mapping[str, tuple[str, str]], origin: Origin) -> Iterator[Found]:
    groups = node.fields()
    missing = groups.pop(UNAVAILABLE).fields() if UNAVAILABLE in groups else {}
    for name, group in groups.items():
        if name == "peak_compute":
            for entry in group.items():
                yield from _peak(entry, missing, origin)
        elif isinstance(group.value, dict):
            yield from _group(name, group, names, missing, origin)
        elif name not in WORDS:
            yield LeftOut(group.place, "no metric here says this")
    for how in missing.values():
        yield LeftOut(how.place, "it is said of a field that the sheet does not have")


def _group(
    name: str,
    group: Node,
    names: Mapping[str, tuple[str, str]],
    missing: dict[str, Node],
    origin: Origin,
) -> Iterator[Found]:
    fields = group.fields()
    word = read_class(fields.pop("provenance")) if "provenance" in fields else origin.evidence_class
    special = (
        fields.pop("provenance_overrides").fields() if "provenance_overrides" in fields else {}
    )
    for key, value in fields.items():
        how = missing.pop(key, None) or missing.pop(f"{name}.{key}", None)
        own = replace(origin, evidence_class=read_class(special[key]) if key in special else word)
        if f"{name}.{key}" not in names:
            yield LeftOut(value.place, "no metric here says this")
        else:
            metric, unit = names[f"{name}.{key}"]
            yield _one(metric, unit, value, how, own)


def _peak(entry: Node, missing: dict[str, Node], origin: Origin) -> Iterator[Found]:
    fields = entry.fields()
    for name in PEAK_NEEDS:
        if name not in fields:
            raise entry.error(f"{name} is missing; it is needed of every peak")
    dtype, kind, unit = (fields[name].text() for name in ("dtype", "unit_kind", "unit"))
    own = replace(
        origin,
        evidence_class=read_class(fields["provenance"]),
        derivation=_text(fields, "derivation") or origin.derivation,
        notes=(*origin.notes, _text(fields, "use_case")),
        qualifiers={"accumulate": word} if (word := _text(fields, "accumulate")) else {},
    )
    yield from (
        LeftOut(each.place, "no metric here says this")
        for name, each in fields.items()
        if name not in PEAK
    )
    for name, ending in (("dense", "dense"), ("sparse_2to4", "sparse")):
        if name not in fields:
            continue
        metric = f"peak_{dtype}_tensor_{ending}" if kind == "tensor-core" else ""
        if ending == "dense":
            metric = PEAKS.get((dtype, kind), metric)
        if metric in METRICS:
            how = missing.pop(f"peak_compute.{dtype}.{name}", None)
            yield _one(metric, unit, fields[name], how, own)
        elif fields[name].value is not None:
            yield LeftOut(fields[name].place, f"no metric here is {dtype} {name} of the {kind}s")


def _one(metric: str, unit: str, value: Node, how: Node | None, origin: Origin) -> Found:
    try:
        if value.value is None and how is not None:
            unavailable = replace(origin, evidence_class=UNAVAILABLE)
            return value.place, unknown_facts(METRICS[metric], how, unavailable)
        if value.value is None:
            return LeftOut(value.place, "null, and nothing says how to obtain it")
        if how is not None:
            return LeftOut(value.place, "it has a value and is said to be unavailable")
        return value.place, known_facts(METRICS[metric], value, unit, origin)
    except RecordError as error:
        return LeftOut(value.place, str(error).removeprefix(f"{value.place}: "))


def _text(fields: Mapping[str, Node], name: str) -> str:
    """A field's text, "" where it is not given or null."""
    return fields[name].text() if name in fields and fields[name].value is not None else ""


@dataclass(frozen=True, slots=True)
class SpecRecord:
    """One value at a JSON path. `platform` is the product as the file names it."""

    place: str
    platform: str
    facts: SpecFacts


@dataclass(frozen=True, slots=True)
class RecordFile:
    """All values of a file, and the fields of spec sheets that have no place here, with why."""

    records: tuple[SpecRecord, ...]
    left_out: tuple[LeftOut, ...]


def read_records(text: str, *, kilobyte: int | None = None) -> RecordFile:
    """Read a JSON file: a list of records, an object with `records`, or one spec sheet.

    `kilobyte`: what KB means in this file, 1024 or 1000, where a person knows; a record may say so
    itself. RecordError names the JSON path of the first thing that is not accepted, and what is.
    """
    root = parse_json(text)
    if kilobyte not in (None, 1000, 1024):
        raise ValueError(f"kilobyte={kilobyte}; accepted: 1000, 1024 or None")
    records: list[SpecRecord] = []
    left_out: list[LeftOut] = []
    for node in _nodes(root):
        if isinstance(node.value, dict) and "schema" in node.value:
            platform, found, without = read_sheet(node, kilobyte)
            records += [SpecRecord(place, platform, facts) for place, facts in found]
            left_out += without
        else:
            records.append(_record(node, kilobyte))
    if not records and not left_out:
        raise root.error(f"no records; accepted: a list of them, or a {SCHEMA} spec sheet")
    return RecordFile(tuple(records), tuple(left_out))


def _nodes(root: Node) -> Iterator[Node]:
    if isinstance(root.value, list):
        yield from root.items()
    elif isinstance(root.value, dict) and "records" in root.value:
        yield from root.fields(("records",))["records"].items()
    else:
        yield root


def _record(node: Node, kilobyte: int | None) -> SpecRecord:
    fields = {
        name: each for name, each in node.fields(OF_A_RECORD).items() if each.value is not None
    }
    for name in ("platform", "metric", "evidence_class"):
        if name not in fields:
            raise node.error(f"{name} is missing; accepted fields: {', '.join(OF_A_RECORD)}")
    metric = read_metric(fields["metric"])
    platform = fields["platform"].text()
    evidence_class = read_class(fields["evidence_class"])
    if "unavailable" in fields:
        origin = _origin_of_record(node, fields, UNAVAILABLE, kilobyte)
        if "value" in fields:
            raise fields["value"].error("it is unavailable; accepted: one of both")
        return SpecRecord(
            node.place, platform, unknown_facts(metric, fields["unavailable"], origin)
        )
    if evidence_class == UNAVAILABLE or "value" not in fields:
        raise node.error("no value; accepted: value, or unavailable and how to obtain it")
    unit = fields["unit"].text() if "unit" in fields else ""
    origin = _origin_of_record(node, fields, evidence_class, kilobyte)
    return SpecRecord(node.place, platform, known_facts(metric, fields["value"], unit, origin))


def _origin_of_record(
    node: Node, fields: dict[str, Node], evidence_class: str, kilobyte: int | None
) -> Origin:
    if "source" not in fields and evidence_class != UNAVAILABLE:
        raise node.error("source is missing; accepted: title <https://address>, or an object")
    source = read_source(fields["source"]) if "source" in fields else RecordSource(NO_SOURCE)
    derivation, note = (
        fields[name].text() if name in fields else "" for name in ("derivation", "note")
    )
    if "kilobyte" in fields:
        kilobyte = _kilobyte(fields["kilobyte"])
    qualifiers = {}
    if "qualifiers" in fields:
        each = fields["qualifiers"].fields()
        qualifiers = {name: _word(value) for name, value in each.items()}
    return Origin(evidence_class, source, derivation, (note,), kilobyte, qualifiers)


def _kilobyte(node: Node) -> int:
    if node.value not in (JsonNumber("1000"), JsonNumber("1024")):
        raise node.error("accepted: 1000 or 1024, the bytes that KB means")
    return int(node.value)


def _word(node: Node) -> str:
    return str(node.value) if isinstance(node.value, JsonNumber) else node.text()
