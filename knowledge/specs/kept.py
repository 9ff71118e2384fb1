"""specs.json of an exported wiki: what its documents alone do not say of their values.

A value on a line of prose, a rank that was changed by hand, a line whose value was never approved,
an excepted warning; and the earlier texts that values still rest on. One record stands on one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from knowledge.specs.citation import CitationError, CitationLine
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank, SourceKind, SpecFacts
from knowledge.specs.json_lines import line_of, value_lines
from knowledge.specs.json_text import Node, Number, RecordError, parse_json

KEPT_FILE = "specs.json"
MARK = "kopt_wiki"
VERSION = "1"
STATES = ("approved", "proposed", "returned", "retired")
SPEC_FIELDS = (
    *("platform", "metric", "shown", "qualifiers", "evidence", "kind", "source", "source_url"),
    *("note", "rank", "state", "instead", "path", "lines", "quote", "revision", "waivers"),
)
PLATFORM_FIELDS = ("slug", "name", "vendor", "arch", "kind", "target", "aliases")


class KeptError(ValueError):
    """A specs.json that cannot be read; the message starts with specs.json:Lline."""


@dataclass(frozen=True, slots=True)
class KeptWaiver:
    """A warning that somebody excepted. by: a user name."""

    constraint: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class KeptSpec:
    """One value. revision: the hash of an earlier text that it rests on, "" for the newest.

    instead: it is what has become of the document's own line there, which is then not read.
    """

    platform: str
    facts: SpecFacts
    citation: CitationLine
    quote: str
    state: str
    instead: bool = False
    revision: str = ""
    waivers: tuple[KeptWaiver, ...] = ()
    line: int = 0  # in specs.json, from 1


@dataclass(frozen=True, slots=True)
class EarlierText:
    """A text that is not the newest of its document, and that a value rests on."""

    path: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """All of a specs.json."""

    specs: tuple[KeptSpec, ...] = ()
    earlier: tuple[EarlierText, ...] = ()
    platforms: tuple[PlatformFacts, ...] = field(default=())


def is_kept(path: str, text: str) -> bool:
    """Whether this file is an export's specs.json, and no foreign list of records."""
    return path == KEPT_FILE and f'"{MARK}"' in text[:200]


def write_kept(kept: Kept) -> str:
    """The text of specs.json; `read_kept` reads it back to equal values."""
    parts: dict[str, list[dict[str, Any]]] = {
        "platforms": [asdict(platform) for platform in kept.platforms],
        "earlier": [asdict(earlier) for earlier in kept.earlier],
        "specs": [_fields(spec) for spec in kept.specs],
    }
    rows = [f'"{name}": [{_rows(records)}]' for name, records in parts.items()]
    return f'{{"{MARK}": {VERSION},\n' + ",\n".join(rows) + "}\n"


def _rows(records: Iterable[Mapping[str, Any]]) -> str:
    rows = [json.dumps(record, ensure_ascii=False) for record in records]
    return "\n" + ",\n".join(rows) + "\n" if rows else ""


def _fields(spec: KeptSpec) -> dict[str, Any]:
    facts, cited = spec.facts, spec.citation
    return {
        "platform": spec.platform,
        "metric": facts.metric,
        "shown": facts.shown,
        "qualifiers": dict(sorted(facts.qualifiers.items())),
        "evidence": facts.evidence,
        "kind": facts.source_kind,
        "source": facts.source,
        "source_url": facts.source_url,
        "note": facts.note,
        "rank": facts.rank,
        "state": spec.state,
        "instead": spec.instead,
        "path": cited.path,
        "lines": [cited.first_line, cited.last_line],
        "quote": spec.quote,
        "revision": spec.revision,
        "waivers": [asdict(waiver) for waiver in spec.waivers],
    }


def read_kept(text: str) -> Kept:
    """Read a specs.json; KeptError names the line, the field and what is accepted."""
    try:
        root = parse_json(text).fields((MARK, "platforms", "earlier", "specs"))
        version = root.get(MARK, Node(f"$.{MARK}", None))
        if version.value != Number(VERSION):
            raise version.error(f"accepted: {VERSION}")
        lines = value_lines(text)
        return Kept(
            tuple(_spec(node, lines[node.place][0]) for node in _items(root, "specs")),
            tuple(_earlier(node) for node in _items(root, "earlier")),
            tuple(_platform(node) for node in _items(root, "platforms")),
        )
    except RecordError as error:
        place = str(error).partition(": ")[0]
        raise KeptError(f"{KEPT_FILE}:L{line_of(text, place)}: {error}") from error


def _items(fields: Mapping[str, Node], name: str) -> list[Node]:
    return fields[name].items() if name in fields else []


def _spec(node: Node, line: int) -> KeptSpec:
    fields = _all(node, SPEC_FIELDS)
    said = {name: _string(fields[name]) for name in SPEC_FIELDS if name not in NOT_TEXT}
    qualifiers = {name: _string(each) for name, each in fields["qualifiers"].fields().items()}
    lines = [_count(each) for each in fields["lines"].items()]
    if len(lines) != 2:
        raise fields["lines"].error("accepted: the first and the last line")
    if said["state"] not in STATES:
        raise fields["state"].error(f"'{said['state']}'; accepted: {', '.join(STATES)}")
    if not isinstance(fields["instead"].value, bool):
        raise fields["instead"].error("accepted: true or false")
    try:
        facts = SpecFacts(
            said["metric"],
            said["shown"],
            Evidence(said["evidence"]),
            SourceKind(said["kind"]),
            said["source"],
            said["source_url"],
            Rank(said["rank"]),
            qualifiers,
            said["note"],
        )
        citation = CitationLine(facts.metric, facts.shown, said["path"], lines[0], lines[1])
    except (CitationError, ValueError) as error:
        raise node.error(str(error)) from error
    waivers = tuple(_waiver(each) for each in fields["waivers"].items())
    own = (said["quote"], said["state"], fields["instead"].value, said["revision"])
    return KeptSpec(said["platform"], facts, citation, *own, waivers, line)


NOT_TEXT = ("qualifiers", "lines", "instead", "waivers")


def _all(node: Node, names: tuple[str, ...]) -> dict[str, Node]:
    """All of these fields, and no others."""
    fields = node.fields(names)
    missing = [name for name in names if name not in fields]
    if missing:
        raise node.error(f"{', '.join(missing)} missing; accepted are all of: {', '.join(names)}")
    return fields


def _string(node: Node) -> str:
    if not isinstance(node.value, str) or isinstance(node.value, Number):
        raise node.error("accepted: a string")
    return node.value


def _count(node: Node) -> int:
    if not isinstance(node.value, Number) or not node.value.isdecimal():
        raise node.error("accepted: a line number")
    return int(node.value)


def _waiver(node: Node) -> KeptWaiver:
    fields = _all(node, ("constraint", "reason", "by"))
    return KeptWaiver(*(_string(fields[name]) for name in ("constraint", "reason", "by")))


def _earlier(node: Node) -> EarlierText:
    fields = _all(node, ("path", "sha256", "text"))
    return EarlierText(*(_string(fields[name]) for name in ("path", "sha256", "text")))


def _platform(node: Node) -> PlatformFacts:
    fields = _all(node, PLATFORM_FIELDS)
    said = {n: _string(fields[n]) for n in PLATFORM_FIELDS if n not in ("kind", "aliases")}
    aliases = tuple(_string(each) for each in fields["aliases"].items())
    try:
        return PlatformFacts(**said, kind=PlatformKind(_string(fields["kind"])), aliases=aliases)
    except ValueError as error:
        raise node.error(str(error)) from error
