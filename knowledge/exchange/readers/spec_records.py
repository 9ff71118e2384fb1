"""JSON spec records → facts: a list of values, or the spec sheet of one product.

    [{"platform": "h200-sxm", "metric": "memory_bandwidth", "value": 4.8, "unit": "TB/s",
      "evidence_class": "vendor-published", "source": "NVIDIA H200 data sheet <https://…>"}]

A value that is not there is `"unavailable": "how to obtain it"` instead of value and unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
from knowledge.exchange.readers.spec_sheets import SCHEMA, LeftOut, read_sheet
from knowledge.specs.facts import SpecFacts
from knowledge.specs.json_text import JsonNumber, Node, parse_json

FIELDS = (
    *("platform", "metric", "value", "unit", "evidence_class", "source"),
    *("qualifiers", "derivation", "note", "unavailable", "kilobyte"),
)


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
    fields = {name: each for name, each in node.fields(FIELDS).items() if each.value is not None}
    for name in ("platform", "metric", "evidence_class"):
        if name not in fields:
            raise node.error(f"{name} is missing; accepted fields: {', '.join(FIELDS)}")
    metric = read_metric(fields["metric"])
    platform = fields["platform"].text()
    evidence_class = read_class(fields["evidence_class"])
    if "unavailable" in fields:
        origin = _origin(node, fields, UNAVAILABLE, kilobyte)
        if "value" in fields:
            raise fields["value"].error("it is unavailable; accepted: one of both")
        return SpecRecord(
            node.place, platform, unknown_facts(metric, fields["unavailable"], origin)
        )
    if evidence_class == UNAVAILABLE or "value" not in fields:
        raise node.error("no value; accepted: value, or unavailable and how to obtain it")
    unit = fields["unit"].text() if "unit" in fields else ""
    origin = _origin(node, fields, evidence_class, kilobyte)
    return SpecRecord(node.place, platform, known_facts(metric, fields["value"], unit, origin))


def _origin(
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
