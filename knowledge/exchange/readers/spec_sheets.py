"""JSON spec records → facts: a list of values, or the hw-1.0 spec sheet of one product.

    [{"platform": "h200-sxm", "metric": "memory_bandwidth", "value": 4.8, "unit": "TB/s",
      "evidence_class": "vendor-published", "source": "NVIDIA H200 data sheet <https://…>"}]

A value that is not there is `"unavailable": "how to obtain it"` instead of value and unit. A spec
sheet is the JSON in which atrex's gpu-wiki keeps hardware facts; what it states and we have no
metric for is left out by name, with the reason; nothing is dropped.
Format: https://github.com/alibaba/atrex-kernel-agent, gpu-wiki/schema/hardware/schema.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, FactsError, SourceKind, SpecFacts
from knowledge.specs.hedges import hedged
from knowledge.specs.json_text import JsonNumber, Node, RecordError
from knowledge.specs.metrics import METRICS, MetricDefinition, MetricError, resolve_metric
from knowledge.specs.quantity import QuantityError, parse_number
from knowledge.specs.spellings import our_qualifier, our_unit

UNAVAILABLE = "unavailable"
SYSTEM_TOTAL = "derived-from-system-total"
# Evidence class → ours, and how far the source stands from the maker where the record does not say.
CLASSES: dict[str, tuple[EvidenceClass, SourceKind]] = {
    "documented": (EvidenceClass.DOCUMENTED, SourceKind.SECONDARY),
    "derived": (EvidenceClass.DERIVED, SourceKind.SECONDARY),
    "measured": (EvidenceClass.MEASURED, SourceKind.MEASURED),
    "vendor-published": (EvidenceClass.DOCUMENTED, SourceKind.VENDOR),
    SYSTEM_TOTAL: (EvidenceClass.DERIVED, SourceKind.SECONDARY),
    "architecture-analysis": (EvidenceClass.DERIVED, SourceKind.TERTIARY),
}
KINDS: dict[str, SourceKind] = {
    **{str(kind): kind for kind in SourceKind},
    "vendor-product-page": SourceKind.VENDOR,
    "vendor-doc": SourceKind.VENDOR_DOCS,
    "ptx-isa": SourceKind.VENDOR_DOCS,
    "third-party-analysis": SourceKind.TERTIARY,
    "internal-note": SourceKind.TERTIARY,
}
ADDRESS = re.compile(r"https?://[^\s<>]+")
SOURCE = re.compile(rf"(?P<title>.*?)\s*<?(?P<url>{ADDRESS.pattern})?>?")
NO_SOURCE = "none found"
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
NO_METRIC = "no metric here says this"
WORDS = ("summary", "usage_notes")  # sentences about the values
OF_A_RECORD = (
    *("platform", "metric", "value", "unit", "evidence_class", "source"),
    *("qualifiers", "derivation", "note", "unavailable", "kilobyte"),
)


@dataclass(frozen=True, slots=True)
class RecordSource:
    """Where a record has its values from."""

    title: str
    url: str = ""
    kind: SourceKind | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What the values of a record or of a part of it have in common."""

    evidence_class: str
    source: RecordSource
    derivation: str = ""  # what was divided by what
    notes: tuple[str, ...] = ()
    kilobyte: int | None = None  # bytes that KB means here
    qualifiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpecRecord:
    """One value. platform: the product as the file names it."""

    node: Node
    platform: str
    facts: SpecFacts


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A field that states something and has no place here, with the reason."""

    node: Node
    reason: str


Found = SpecRecord | LeftOut


def read_records(root: Node) -> list[Found]:
    """All values of a list of records, of an object with `records`, or of one spec sheet.

    RecordError names the JSON path of the first thing that is not accepted, and what is.
    """
    nodes = [root]
    if isinstance(root.value, list):
        nodes = root.items()
    elif isinstance(root.value, dict) and "records" in root.value:
        nodes = root.fields(("records",))["records"].items()
    found = [each for node in nodes for each in read_record(node)]
    if not found:
        raise root.error(f"no records; accepted: a list of them, or a {SCHEMA} spec sheet")
    return found


def read_record(node: Node) -> list[Found]:
    """One record, or one spec sheet. RecordError as `read_records`."""
    if isinstance(node.value, dict) and "schema" in node.value:
        return _read_sheet(node)
    node.fields(OF_A_RECORD)
    for name in ("platform", "metric", "evidence_class"):
        if node[name].value is None:
            raise node.error(f"{name} is missing; accepted fields: {', '.join(OF_A_RECORD)}")
    try:
        metric = resolve_metric(re.sub(r"[\s-]+", "_", node["metric"].said().lower()))
    except MetricError as error:
        raise node["metric"].error(str(error)) from error
    platform, word = node["platform"].said(), _class(node["evidence_class"])
    value, how = node["value"], node["unavailable"]
    if how.value is not None:
        origin = _origin_of_record(node, UNAVAILABLE)
        if value.value is not None:
            raise value.error("it is unavailable; accepted: one of both")
        return [SpecRecord(node, platform, _unknown_facts(metric, how, origin))]
    if word == UNAVAILABLE or value.value is None:
        raise node.error("no value; accepted: value, or unavailable and how to obtain it")
    unit, origin = _words(node["unit"]), _origin_of_record(node, word)
    return [SpecRecord(node, platform, _known_facts(metric, value, unit, origin))]


def _origin_of_record(node: Node, evidence_class: str) -> Origin:
    source, kilobyte, qualifiers = node["source"], node["kilobyte"], node["qualifiers"]
    if source.value is None and evidence_class != UNAVAILABLE:
        raise node.error("source is missing; accepted: title <https://address>, or an object")
    named = _source(source) if source.value is not None else RecordSource(NO_SOURCE)
    derivation, note = _words(node["derivation"]), _words(node["note"])
    if kilobyte.value not in (None, JsonNumber("1000"), JsonNumber("1024")):
        raise kilobyte.error("accepted: 1000 or 1024, the bytes that KB means")
    said = qualifiers.fields() if qualifiers.value is not None else {}
    return Origin(
        *(evidence_class, named, derivation, (note,)),
        int(kilobyte.value) if kilobyte.value is not None else None,
        {k: str(v.value) if isinstance(v.value, JsonNumber) else v.said() for k, v in said.items()},
    )


def _read_sheet(root: Node) -> list[Found]:
    """The facts of a spec sheet by their JSON path, and what is left out.

    RecordError where it is no sheet of one exact product; a single value that cannot be taken is
    left out with the reason.
    """
    top = root.fields(TOP)
    for name in TOP:
        if name not in top:
            raise root.error(f"{name} is missing; accepted: {', '.join(TOP)}")
    for name, accepted in (("schema", SCHEMA), ("type", "spec-sheet"), ("status", "current")):
        if root[name].said() != accepted:
            raise root[name].error(f"'{root[name].said()}' is not accepted; accepted: {accepted}")
    identity, provenance = root["identity"], root["provenance"]
    if "product" not in identity.fields() or identity["product"].value is None:
        raise identity.error("no product; accepted: the sheet of one exact product")
    provenance.fields(("evidence_class", "sources", "derivation", "last_verified"))
    if not provenance.value.keys() >= {"evidence_class", "sources"}:
        raise provenance.error("accepted: evidence_class and sources")
    sources = [_source(each) for each in provenance["sources"].items()]
    if not sources:
        raise provenance["sources"].error("no source; accepted: at least one")
    more = [f"also {source.title} {source.url}".strip() for source in sources[1:]]
    word, derivation = _class(provenance["evidence_class"]), _words(provenance["derivation"])
    names = FIELDS_OF_AMD if _words(identity["vendor"]) == "amd" else FIELDS
    sheet = _Sheet(identity["product"].said(), names, root["facts"])
    found = list(sheet.read(Origin(word, sources[0], derivation, tuple(more))))
    if not found:
        raise root.error(f"no records; accepted: a list of them, or a {SCHEMA} spec sheet")
    return found


class _Sheet:
    """The facts of one product. missing: fields without a value → how to obtain that."""

    def __init__(self, product: str, names: Mapping[str, tuple[str, str]], facts: Node) -> None:
        self.product, self.names = product, names
        self.groups = facts.fields()
        missing = self.groups.pop(UNAVAILABLE, None)
        self.missing = missing.fields() if missing is not None else {}

    def read(self, origin: Origin) -> Iterator[Found]:
        for name, group in self.groups.items():
            if name == "peak_compute":
                for entry in group.items():
                    yield from self._peak(entry, origin)
            elif isinstance(group.value, dict):
                yield from self._group(name, group, origin)
            elif name not in WORDS:
                yield LeftOut(group, NO_METRIC)
        for how in self.missing.values():
            yield LeftOut(how, "it is said of a field that the sheet does not have")

    def _group(self, name: str, group: Node, origin: Origin) -> Iterator[Found]:
        fields = group.fields()
        word = _class(fields.pop("provenance")) if "provenance" in fields else None
        special = fields.pop("provenance_overrides", None)
        overrides = special.fields() if special is not None else {}
        for key, value in fields.items():
            how = self.missing.pop(key, None) or self.missing.pop(f"{name}.{key}", None)
            own = _class(overrides[key]) if key in overrides else word
            if f"{name}.{key}" not in self.names:
                yield LeftOut(value, NO_METRIC)
            else:
                of_value = replace(origin, evidence_class=own or origin.evidence_class)
                yield self._one(*self.names[f"{name}.{key}"], value, how, of_value)

    def _peak(self, entry: Node, origin: Origin) -> Iterator[Found]:
        fields = entry.fields()
        for name in PEAK_NEEDS:
            if name not in fields:
                raise entry.error(f"{name} is missing; it is needed of every peak")
        dtype, kind, unit = (entry[name].said() for name in ("dtype", "unit_kind", "unit"))
        accumulate = _words(entry["accumulate"])
        own = replace(
            origin,
            evidence_class=_class(entry["provenance"]),
            derivation=_words(entry["derivation"]) or origin.derivation,
            notes=(*origin.notes, _words(entry["use_case"])),
            qualifiers={"accumulate": accumulate} if accumulate else {},
        )
        for name, each in fields.items():
            if name not in PEAK:
                yield LeftOut(each, NO_METRIC)
        for name, ending in (("dense", "dense"), ("sparse_2to4", "sparse")):
            metric = f"peak_{dtype}_tensor_{ending}" if kind == "tensor-core" else ""
            if ending == "dense":
                metric = PEAKS.get((dtype, kind), metric)
            if name in fields and metric in METRICS:
                how = self.missing.pop(f"peak_compute.{dtype}.{name}", None)
                yield self._one(metric, unit, entry[name], how, own)
            elif entry[name].value is not None:
                reason = f"no metric here is {dtype} {name} of the {kind}s"
                yield LeftOut(entry[name], reason)

    def _one(self, metric: str, unit: str, value: Node, how: Node | None, origin: Origin) -> Found:
        try:
            if value.value is None and how is not None:
                origin = replace(origin, evidence_class=UNAVAILABLE)
                facts = _unknown_facts(METRICS[metric], how, origin)
                return SpecRecord(value, self.product, facts)
            if value.value is None:
                return LeftOut(value, "null, and nothing says how to obtain it")
            if how is not None:
                return LeftOut(value, "it has a value and is said to be unavailable")
            facts = _known_facts(METRICS[metric], value, unit, origin)
            return SpecRecord(value, self.product, facts)
        except RecordError as error:
            return LeftOut(value, str(error).removeprefix(f"{value.place}: "))


def _words(node: Node) -> str:
    """The text of a field, "" where it is not given."""
    return "" if node.value is None else node.said()


def _class(node: Node) -> str:
    """An evidence class that is on the list."""
    word = node.said()
    if word not in (*CLASSES, UNAVAILABLE):
        raise node.error(f"'{word}'; accepted: {', '.join((*CLASSES, UNAVAILABLE))}")
    return word


def _source(node: Node) -> RecordSource:
    """A source, as "title <https://…>" or as an object with title, ref and kind."""
    if not isinstance(node.value, dict):
        found = SOURCE.fullmatch(node.said())
        title, url = (found["title"], found["url"] or "") if found else (node.said(), "")
        return RecordSource(title or url, url)
    node.fields(("title", "ref", "url", "kind"))
    if "title" not in node.value:
        raise node.error("a source needs its title")
    title, kind = node["title"].said(), _words(node["kind"])
    ref = _words(node["url"]) or _words(node["ref"])
    if kind and kind not in KINDS:
        raise node["kind"].error(f"'{kind}'; accepted: {', '.join(KINDS)}")
    url = ref if ADDRESS.fullmatch(ref) else ""
    named = title if url or not ref else f"{title}, {ref}"
    return RecordSource(named, url, KINDS[kind] if kind else None)


def _known_facts(metric: MetricDefinition, value: Node, unit: str, origin: Origin) -> SpecFacts:
    """The facts of a value; RecordError for one that is hedged, no number or in a wrong unit."""
    if origin.evidence_class == SYSTEM_TOTAL and not origin.derivation:
        raise value.error(f"{SYSTEM_TOTAL} needs derivation, what was divided by what")
    if not isinstance(value.value, str):
        raise value.error(f"{metric.name} needs a value; accepted: a number or a string")
    evidence, kind = CLASSES[origin.evidence_class]
    written = str(value.value).strip()
    hedge = hedged(written)
    if hedge:
        raise value.error(f"'{written}' is hedged by '{hedge}'; accepted: a plain value")
    if not metric.numeric and unit:
        raise value.error(f"{metric.name} is a name; a unit '{unit}' is not accepted")
    shown = written
    if metric.numeric:
        number = written.lower() if isinstance(value.value, JsonNumber) else written
        try:
            parse_number(number)
            shown = f"{number} {our_unit(unit, origin.kilobyte)}" if unit else number
        except QuantityError as error:
            raise value.error(str(error)) from error
    return _facts(value, metric, shown, (evidence, origin.source.kind or kind), origin)


def _unknown_facts(metric: MetricDefinition, how: Node, origin: Origin) -> SpecFacts:
    """UNKNOWN, with how to obtain it: a sentence, or an object with how and perhaps why."""
    if isinstance(how.value, dict):
        how.fields(("why", "how"))
        if how["how"].value is None:
            raise how.error("it does not say how to obtain the value; accepted: how, and why")
        why = _words(how["why"])
        said = how["how"].said() + (f"; missing because: {why}" if why else "")
    else:
        said = how.said()
    stand = (EvidenceClass.DOCUMENTED, origin.source.kind or SourceKind.SECONDARY)
    return _facts(how, metric, UNKNOWN_VALUE, stand, origin, said)


def _facts(
    node: Node,
    metric: MetricDefinition,
    shown: str,
    stand: tuple[EvidenceClass, SourceKind],
    origin: Origin,
    how: str = "",
) -> SpecFacts:
    """How a record calls its evidence is kept in the note, in its own word.

    A document line parts its fields with |, which titles of pages have too: there it becomes /.
    """
    foreign = origin.evidence_class not in {*map(str, EvidenceClass), UNAVAILABLE}
    own_word = (f"evidence class {origin.evidence_class}",) if foreign else ()
    said = [how, *own_word, origin.derivation, *origin.notes]
    try:
        return SpecFacts(
            metric.name,
            shown,
            *stand,
            source=origin.source.title.replace("|", "/"),
            source_url=origin.source.url,
            qualifiers={k: our_qualifier(k, word) for k, word in origin.qualifiers.items()},
            note="; ".join(filter(None, said)).replace("|", "/"),
        )
    except (FactsError, MetricError, QuantityError) as error:
        raise node.error(str(error)) from error
