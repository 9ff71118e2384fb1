"""specs.json of an exported wiki: what its documents alone do not say of their values.

A value on a line of prose, one that people proposed, decided on, ranked or retired, with its
history, flags and excepted warnings; lines of which no value is made; whose each document is; and
the earlier texts that values still rest on. One record stands on one line. What does not fit into
one file goes on in specs-2.json, specs-3.json and so on. `specs_json` reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from knowledge.specs.citation import CitationLine
from knowledge.specs.facts import PlatformFacts, SpecFacts

KEPT_FILE = "specs.json"
FILE_NAME = re.compile(r"specs(?:-(?P<part>[1-9]\d{0,3}))?\.json")
MARK = "kopt_wiki"
VERSION = 2
PART_BYTES = 1_500_000  # what does not fit goes into the next part
STATES = ("approved", "proposed", "returned", "retired")
ACTIONS = (
    *("proposed", "approved", "returned", "retired", "restored", "ranked", "cited"),
    *("flagged", "answered", "waived"),
)
FLAG_KINDS = ("changed", "lost", "source_missing", "same_citation")
ANSWERS = ("recited", "replaced", "retired", "typo_fix", "misread", "withdrawn")
SECTIONS = ("names", "documents", "platforms", "earlier", "unread", "specs")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """What a stored value says, whether or not the rules of today would accept it."""

    metric: str
    shown: str
    qualifiers: Mapping[str, str]
    evidence: str
    source_kind: str
    source: str
    source_url: str
    note: str
    rank: str


@dataclass(frozen=True, slots=True)
class ExportedWaiver:
    """A warning that somebody excepted. by: a user name; at: a time as ISO 8601, or ""."""

    constraint: str
    reason: str
    by: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class ExportedChange:
    """One step of a value's history, with its state and rank after it. by: "" for a command."""

    action: str
    by: str
    at: str
    state: str
    rank: str
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class ExportedFlag:
    """A citation that did not stand, and what was answered. `answer` is "" while it is open.

    path, revision: the text in which it was noticed, both "" where the document was gone. lines:
    where its place was in that text, empty where that is not known.
    """

    kind: str
    path: str
    revision: str
    lines: tuple[int, ...]
    quote: str
    note: str
    by: str
    at: str
    answer: str
    answered_by: str
    answered_at: str
    why: str


S = TypeVar("S", StatedFacts, SpecFacts)


@dataclass(frozen=True, slots=True)
class ExportedSpec(Generic[S]):
    """One value. revision: the hash of an earlier text that it rests on, "" for the newest.

    number: its name in the file, from 1; replaces: that of another, 0 for none. instead: it is what
    has become of the document's own line there, which is then not read. by, at: who brought it in,
    and when.
    """

    number: int
    platform: str
    facts: S
    citation: CitationLine
    quote: str
    state: str
    replaces: int = 0
    by: str = ""
    at: str = ""
    instead: bool = False
    revision: str = ""
    waivers: tuple[ExportedWaiver, ...] = ()
    flags: tuple[ExportedFlag, ...] = ()
    history: tuple[ExportedChange, ...] = ()
    file: str = KEPT_FILE
    line: int = 0  # in that file, from 1


@dataclass(frozen=True, slots=True)
class EarlierText:
    """A text that no document of the export has now, and that a value or a flag rests on."""

    path: str
    sha256: str
    text: str
    at: tuple[str, int] = (KEPT_FILE, 0)  # the file and line that say so


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A spec line of a document of which no value is made."""

    path: str
    line: int
    quote: str
    at: tuple[str, int] = (KEPT_FILE, 0)  # the file and line that say so


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A value that the rules of today do not accept, and why.

    instead: path, line and quote of the document's own line that it speaks for, if it does.
    """

    file: str
    line: int
    text: str
    why: str
    instead: tuple[str, int, str] | None = None


@dataclass(frozen=True, slots=True)
class ExportedWiki:
    """All of an export's specs.json and its further parts."""

    specs: tuple[ExportedSpec[SpecFacts], ...] = ()
    earlier: tuple[EarlierText, ...] = ()
    platforms: tuple[PlatformFacts, ...] = ()
    unread: tuple[UnreadLine, ...] = ()
    names: tuple[tuple[str, str], ...] = ()  # file of the folder, and the path of its document
    not_taken: tuple[RefusedValue, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()  # path of a document, and where it came from

    def __add__(self, other: ExportedWiki) -> ExportedWiki:
        return ExportedWiki(
            self.specs + other.specs,
            self.earlier + other.earlier,
            self.platforms + other.platforms,
            self.unread + other.unread,
            self.names + other.names,
            self.not_taken + other.not_taken,
            self.origins + other.origins,
        )


def is_kept(path: str, text: str) -> bool:
    """Whether this file is part of an export's specs.json, and no foreign list of records."""
    return bool(FILE_NAME.fullmatch(path)) and f'"{MARK}"' in text[:200]


def write_kept(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, str]]:
    """The files of these rows, each with its section, in the order of SECTIONS.

    `specs_json.read_kept` reads them back to equal values. At least one file.
    """
    part, size = 1, 0
    found: dict[str, list[str]] = {}
    for section, row in rows:
        line = json.dumps(row, ensure_ascii=False)
        more = len(line.encode())
        if size and size + more > PART_BYTES:
            yield _name(part), _text(part, found, more=True)
            part, size, found = part + 1, 0, {}
        size += more
        found.setdefault(section, []).append(line)
    yield _name(part), _text(part, found, more=False)


def _name(part: int) -> str:
    return KEPT_FILE if part == 1 else f"specs-{part}.json"


def _text(part: int, found: Mapping[str, list[str]], *, more: bool) -> str:
    sections = [f'"{name}": [\n' + ",\n".join(rows) + "\n],\n" for name, rows in found.items()]
    head = f'{{"{MARK}": {VERSION}, "part": {part},\n'
    return head + "".join(sections) + f'"more": {json.dumps(more)}}}\n'


def name_row(file: str, path: str) -> tuple[str, Row]:
    """A document that stands in the folder under another name."""
    return "names", {"file": file, "path": path}


def document_row(path: str, origin: str) -> tuple[str, Row]:
    """Where a document came from, so that the same folder may bring it again."""
    return "documents", {"path": path, "origin": origin}


def platform_row(platform: PlatformFacts) -> tuple[str, Row]:
    """A platform that no document describes as it is stored."""
    return "platforms", asdict(platform)


def earlier_row(path: str, sha256: str, text: str) -> tuple[str, Row]:
    """An earlier text, whole."""
    return "earlier", {"path": path, "sha256": sha256, "text": text}


def unread_row(path: str, line: int, quote: str) -> tuple[str, Row]:
    """A line of which no value is made."""
    return "unread", {"path": path, "line": line, "quote": quote}


def spec_row(spec: ExportedSpec[StatedFacts]) -> tuple[str, Row]:
    """A value with all that is known of it."""
    facts, cited = spec.facts, spec.citation
    return "specs", {
        "id": spec.number,
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
        "by": spec.by,
        "at": spec.at,
        "replaces": spec.replaces or None,
        "instead": spec.instead,
        "path": cited.path,
        "lines": [cited.first_line, cited.last_line],
        "quote": spec.quote,
        "revision": spec.revision,
        "waivers": [asdict(waiver) for waiver in spec.waivers],
        "flags": [asdict(flag) for flag in spec.flags],
        "history": [asdict(step) for step in spec.history],
    }
