"""What one value of a JSON spec record says → facts of ours, or an error with its JSON path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, FactsError, SourceKind, SpecFacts
from knowledge.specs.hedges import hedged
from knowledge.specs.json_text import JsonNumber, Node
from knowledge.specs.metrics import MetricDefinition, MetricError, resolve_metric
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


def read_metric(node: Node) -> MetricDefinition:
    """The metric of this name or alias; blanks and dashes count as underscores."""
    try:
        return resolve_metric(re.sub(r"[\s-]+", "_", node.text().lower()))
    except MetricError as error:
        raise node.error(str(error)) from error


def read_class(node: Node) -> str:
    """An evidence class that is on the list."""
    word = node.text()
    if word not in (*CLASSES, UNAVAILABLE):
        raise node.error(f"'{word}'; accepted: {', '.join((*CLASSES, UNAVAILABLE))}")
    return word


def read_source(node: Node) -> RecordSource:
    """A source, as "title <https://…>" or as an object with title, ref and kind."""
    if not isinstance(node.value, dict):
        found = SOURCE.fullmatch(node.text())
        title, url = (found["title"], found["url"] or "") if found else (node.text(), "")
        return RecordSource(title or url, url)
    fields = node.fields(("title", "ref", "url", "kind"))
    if "title" not in fields:
        raise node.error("a source needs its title")
    title = fields["title"].text()
    ref = next((fields[n].text() for n in ("url", "ref") if _given(fields, n)), "")
    kind = fields["kind"].text() if _given(fields, "kind") else None
    if kind is not None and kind not in KINDS:
        raise fields["kind"].error(f"'{kind}'; accepted: {', '.join(KINDS)}")
    url = ref if ADDRESS.fullmatch(ref) else ""
    named = title if url or not ref else f"{title}, {ref}"
    return RecordSource(named, url, KINDS[kind] if kind else None)


def _given(fields: Mapping[str, Node], name: str) -> bool:
    return name in fields and fields[name].value is not None


def known_facts(metric: MetricDefinition, value: Node, unit: str, origin: Origin) -> SpecFacts:
    """The facts of a value; RecordError for one that is hedged, no number or in a wrong unit."""
    if origin.evidence_class == SYSTEM_TOTAL and not origin.derivation:
        raise value.error(f"{SYSTEM_TOTAL} needs derivation, what was divided by what")
    evidence, kind = CLASSES[origin.evidence_class]
    shown = _shown(metric, value, unit, origin.kilobyte)
    return _facts(value, metric, shown, (evidence, origin.source.kind or kind), origin)


def unknown_facts(metric: MetricDefinition, how: Node, origin: Origin) -> SpecFacts:
    """UNKNOWN, with why it is missing and how to obtain it."""
    kind = origin.source.kind or SourceKind.SECONDARY
    return _facts(
        how, metric, UNKNOWN_VALUE, (EvidenceClass.DOCUMENTED, kind), origin, how_to_obtain(how)
    )


def how_to_obtain(node: Node) -> str:
    """Of a value that is not there: a sentence, or an object with how and perhaps why."""
    if not isinstance(node.value, dict):
        return node.text()
    fields = node.fields(("why", "how"))
    if not _given(fields, "how"):
        raise node.error("it does not say how to obtain the value; accepted: how, and why")
    why = f"; missing because: {fields['why'].text()}" if _given(fields, "why") else ""
    return fields["how"].text() + why


def _shown(metric: MetricDefinition, value: Node, unit: str, kilobyte: int | None) -> str:
    if not isinstance(value.value, str):
        raise value.error(f"{metric.name} needs a value; accepted: a number or a string")
    written = str(value.value).strip()
    hedge = hedged(written)
    if hedge:
        raise value.error(f"'{written}' is hedged by '{hedge}'; accepted: a plain value")
    if not metric.numeric:
        if unit:
            raise value.error(f"{metric.name} is a name; a unit '{unit}' is not accepted")
        return written
    number = written.lower() if isinstance(value.value, JsonNumber) else written
    try:
        parse_number(number)
        return f"{number} {our_unit(unit, kilobyte)}" if unit else number
    except QuantityError as error:
        raise value.error(str(error)) from error


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
