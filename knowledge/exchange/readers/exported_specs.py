"""specs.json of an exported wiki: what its documents alone do not say of their values.

A value on a line of prose, one that people proposed, decided on, ranked or retired, with its
history, flags and excepted warnings; lines of which no value is made; whose each document is; and
the earlier texts that values still rest on. One record stands on one line. What does not fit into
one file goes on in specs-2.json, specs-3.json and so on. `writers.exported_rows` writes them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any

from knowledge.specs.citation import (
    LONGEST_ORIGIN,
    MAX_PATH,
    CitationError,
    CitationLine,
    check_path,
)
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank, SourceKind, SpecFacts
from knowledge.specs.json_text import JsonNumber, Node, RecordError, parse_json, require_storable

KEPT_FILE = "specs.json"
FILE_NAME = re.compile(r"specs(?:-(?P<part>[1-9]\d{0,3}))?\.json")
MARK = "kopt_wiki"
VERSION = 2
STATES = ("approved", "proposed", "returned", "retired")
ACTIONS = (
    *("proposed", "approved", "returned", "retired", "restored", "ranked", "cited"),
    *("flagged", "answered", "waived"),
)
FLAG_KINDS = ("changed", "lost", "source_missing", "same_citation")
ANSWERS = ("recited", "replaced", "retired", "typo_fix", "misread", "withdrawn")
SECTIONS = ("names", "documents", "platforms", "earlier", "unread", "specs")
YEARS = range(1970, 9999)  # of a time, in UTC
LONGEST_TIME = 40  # characters that a message repeats
Row = dict[str, Any]


class ImportRefused(ValueError):
    """A file or document that is not taken; the message names it. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class ExportedSpec:
    """One value. revision: the hash of an earlier text that it rests on, "" for the newest.

    number: its name in the file, from 1; replaces: that of another, 0 for none. instead: it
    replaces the value that the document's own line would give. by, at: who imported it,
    "" for a command, and when, as ISO 8601. waivers, flags, history: rows of `WAIVER`, `FLAG` and
    `STEP`. file, line: where it says so, from 1.
    """

    number: int
    platform: str
    facts: SpecFacts
    citation: CitationLine
    quote: str
    state: str
    replaces: int = 0
    by: str = ""
    at: str = ""
    instead: bool = False
    revision: str = ""
    waivers: tuple[Row, ...] = ()
    flags: tuple[Row, ...] = ()
    history: tuple[Row, ...] = ()
    file: str = KEPT_FILE
    line: int = 0


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

    specs: tuple[ExportedSpec, ...] = ()
    earlier: tuple[EarlierText, ...] = ()
    platforms: tuple[PlatformFacts, ...] = ()
    unread: tuple[UnreadLine, ...] = ()
    names: tuple[tuple[str, str], ...] = ()  # file of the folder, and the path of its document
    not_taken: tuple[RefusedValue, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()  # path of a document, and where it came from

    def __add__(self, other: ExportedWiki) -> ExportedWiki:
        names = (each.name for each in fields(self))
        return ExportedWiki(*(getattr(self, name) + getattr(other, name) for name in names))


def is_kept(path: str, text: str) -> bool:
    """Whether this file is part of an export's specs.json, and no foreign list of records."""
    return bool(FILE_NAME.fullmatch(path)) and f'"{MARK}"' in text[:200]


def read_kept(files: Mapping[str, str]) -> ExportedWiki:
    """Read the parts of a specs.json, path → text.

    ImportRefused names the file, the line, the field and what is accepted. A value that breaks a
    rule of today is in `not_taken`.
    """
    parts = sorted(files, key=_part)
    found = ExportedWiki()
    for number, path in enumerate(parts, start=1):
        if _part(path) != number:
            name = KEPT_FILE if number == 1 else f"specs-{number}.json"
            message = f"{name} is missing; accepted: all parts of an export"
            raise ImportRefused(f"{parts[-1]}:L1: {message}")
    for path in parts:
        try:
            found += _read_part(path, files[path], is_last=path == parts[-1])
        except RecordError as error:
            raise ImportRefused(f"{path}:L{error.line}: {error}") from error
    _check_numbers(found.specs)
    return found


def own_names(texts: Mapping[str, str]) -> dict[str, str]:
    """These files by the paths of their documents, where an export had to call some otherwise.

    Raises ImportRefused for a path that another file has. A specs.json that cannot be read names
    none.
    """
    kept = {path: text for path, text in texts.items() if is_kept(path, text)}
    if not any('"names": [' in text for text in kept.values()):
        return dict(texts)
    try:
        names = dict(read_kept(kept).names)
    except ImportRefused:
        return dict(texts)
    found: dict[str, str] = {}
    for file, text in texts.items():
        path = names.get(file, file)
        if path in found or (path != file and path in texts and path not in names):
            raise ImportRefused(f"{path}: stands twice, as {file} too; accepted: once")
        found[path] = text
    return found


def _part(path: str) -> int:
    found = FILE_NAME.fullmatch(path)
    return int(found["part"] or 1) if found else 0


def _check_numbers(specs: Sequence[ExportedSpec]) -> None:
    """Each number once, and no value that replaces itself in the end."""
    replaces: dict[int, int] = {}
    for spec in specs:
        if spec.number in replaces:
            raise ImportRefused(f"{spec.file}:L{spec.line}: id {spec.number} stands twice")
        replaces[spec.number] = spec.replaces
    try:
        TopologicalSorter({number: [other] for number, other in replaces.items()}).prepare()
    except CycleError as error:
        spec = next(spec for spec in specs if spec.number in error.args[1])
        accepted = "accepted: values that replace an older one"
        where = f"{spec.file}:L{spec.line}"
        raise ImportRefused(f"{where}: id {spec.number} replaces itself; {accepted}") from error


class NoTime(RecordError):
    """A time that cannot be told; its value is not taken, and the others are."""


Reader = Callable[[Node], Any]


def _up_to(most: int | None = None) -> Reader:
    return lambda node: node.string(most)


def _among(*accepted: str) -> Reader:
    return lambda node: node.one_of(accepted)


def _rows(table: Mapping[str, Reader]) -> Reader:
    return lambda node: tuple(_read(each, table) for each in node.items())


def _read(node: Node, table: Mapping[str, Reader]) -> Row:
    """All of these fields, and no others."""
    found = node.fields(tuple(table))
    missing = [name for name in table if name not in found]
    if missing:
        message = f"{', '.join(missing)} missing; accepted are all of: {', '.join(table)}"
        raise node.error(message)
    return {name: read(found[name]) for name, read in table.items()}


def _moment(node: Node) -> str:
    """A time with its zone, as it stands there. Raises NoTime."""
    text = node.value if isinstance(node.value, str) else ""
    try:
        at = datetime.fromisoformat(text)
        told = at.tzinfo is not None and at.astimezone(UTC).year in YEARS
    except (ValueError, OverflowError):
        told = False
    if not told:
        message = f"{text[:LONGEST_TIME]!r}; accepted: a time such as 2026-01-31T12:00:00+00:00"
        raise NoTime(message, node.place, node.key, node.line)
    return text


def _given(node: Node, found: Any, accepted: str) -> Any:
    if found is None:
        raise node.error(f"accepted: {accepted}")
    return found


def _flag(node: Node) -> bool:
    return bool(_given(node, node.flag(), "true or false"))


def _number(node: Node) -> int:
    return int(_given(node, node.count(1), "a whole number from 1"))


def _lines(node: Node) -> tuple[int, int]:
    """The first and the last line."""
    found = [_number(each) for each in node.items()]
    if len(found) != 2:
        raise node.error("accepted: the first and the last line")
    return found[0], found[1]


def _path(node: Node) -> str:
    """The path of a document, which may be stored and written into a folder."""
    try:
        return check_path(node.string(MAX_PATH))
    except CitationError as error:
        raise node.error(str(error)) from error


def _qualifiers(node: Node) -> dict[str, str]:
    found = node.fields()
    for name, each in found.items():
        require_storable(each, name)
    return {name: each.string() for name, each in found.items()}


def _flags(node: Node) -> tuple[Row, ...]:
    found = tuple(_read(each, FLAG) for each in node.items())
    for each, row in zip(node.items(), found, strict=True):
        row["answered_at"] = _moment(each["answered_at"]) if row["answer"] else ""
    return found


TEXT = _up_to()
USER = _up_to(150)  # characters of a user name; "" for a command
FIGURE = _up_to(300)  # characters of what a step changed
# What a record of each section holds, and how each field is read. What a value says and where it
# stands is read before what may have no time, so that a value which is not taken can be named.
WAIVER = {"constraint": _up_to(40), "reason": _up_to(500), "by": USER, "at": _moment}
STEP = {
    "action": _among(*ACTIONS), "by": USER, "at": _moment, "state": _among(*STATES),
    "rank": _among(*Rank), "before": FIGURE, "after": FIGURE, "why": TEXT,
}  # fmt: skip
# path, revision: the text in which it was noticed, both "" where the document was gone. lines:
# where its place was in that text, none where that is not known. answer: "" while it is open.
FLAG = {
    "kind": _among(*FLAG_KINDS), "path": TEXT, "revision": TEXT,
    "lines": lambda node: _lines(node) if node.value else (), "quote": TEXT, "note": TEXT,
    "by": USER, "at": _moment, "answer": _among("", *ANSWERS), "answered_by": USER,
    "answered_at": lambda node: node.value, "why": TEXT,
}  # fmt: skip
SPEC: dict[str, Reader] = {
    "platform": TEXT, "metric": TEXT, "shown": TEXT, "qualifiers": _qualifiers, "evidence": TEXT,
    "kind": TEXT, "source": TEXT, "source_url": TEXT, "note": TEXT, "rank": TEXT,
    "state": _among(*STATES), "instead": _flag, "path": TEXT, "lines": _lines, "quote": TEXT,
    "revision": TEXT, "id": _number, "replaces": lambda node: node.count(1) or 0, "by": USER,
    "at": _moment,
    "waivers": _rows(WAIVER), "flags": _flags, "history": _rows(STEP),
}  # fmt: skip
PLATFORM: dict[str, Reader] = {
    **dict.fromkeys(("slug", "name", "vendor", "arch", "kind", "target"), TEXT),
    "aliases": lambda node: tuple(each.string() for each in node.items()),
}
EARLIER = {"path": _path, "sha256": TEXT, "text": TEXT}
UNREAD = {"path": TEXT, "line": _number, "quote": TEXT}
NAME = {"file": _path, "path": _path}
ORIGIN = {"path": _path, "origin": _up_to(LONGEST_ORIGIN)}


def _read_part(path: str, text: str, *, is_last: bool) -> ExportedWiki:
    root = parse_json(text)
    root.fields((MARK, "part", *SECTIONS, "more"))
    if root[MARK].value != JsonNumber(str(VERSION)):
        raise root[MARK].error(f"accepted: {VERSION}")
    if root["part"].value != JsonNumber(str(_part(path))):
        raise root["part"].error(f"accepted in {path}: {_part(path)}")
    if root["more"].value is not (not is_last):
        follows = "false, as no part follows" if is_last else "true, as a part follows"
        raise root["more"].error(f"accepted: {follows}; every part of an export is needed")
    lost: list[RefusedValue] = []
    specs = [_spec(path, node, lost) for node in root["specs"].items()]
    earlier, platforms = [], []
    for node in root["earlier"].items():
        row = _read(node, EARLIER)
        if row["sha256"] != hashlib.sha256(row["text"].encode()).hexdigest():
            raise node["sha256"].error(f"accepted: the hash of the text of {row['path']}")
        earlier.append(EarlierText(**row, at=(path, node.line)))
    for node in root["platforms"].items():
        row = _read(node, PLATFORM)
        try:
            platforms.append(PlatformFacts(**row | {"kind": PlatformKind(row["kind"])}))
        except ValueError as error:
            raise node.error(str(error)) from error
    unread = [
        UnreadLine(**_read(node, UNREAD), at=(path, node.line)) for node in root["unread"].items()
    ]
    named = [_read(node, NAME) for node in root["names"].items()]
    origins = []
    for node in root["documents"].items():
        row = _read(node, ORIGIN)
        if not row["origin"]:
            raise node["origin"].error("accepted: the name of a folder, shipped or measured")
        origins.append((row["path"], row["origin"]))
    return ExportedWiki(
        specs=tuple(filter(None, specs)),
        earlier=tuple(earlier),
        platforms=tuple(platforms),
        unread=tuple(unread),
        names=tuple((row["file"], row["path"]) for row in named),
        not_taken=tuple(lost),
        origins=tuple(origins),
    )


def _spec(path: str, node: Node, lost: list[RefusedValue]) -> ExportedSpec | None:
    """One value; one that a rule of today does not accept is among the lost ones instead."""
    try:
        said = _read(node, SPEC)
        of_source = (said["source"], said["source_url"], Rank(said["rank"]))
        own = (said["metric"], said["shown"], EvidenceClass(said["evidence"]))
        kind, more = SourceKind(said["kind"]), (said["qualifiers"], said["note"])
        facts = SpecFacts(*own, kind, *of_source, *more)
        cited = CitationLine(facts.metric, facts.shown, said["path"], *said["lines"])
    except ValueError as error:
        if isinstance(error, RecordError) and not isinstance(error, NoTime):
            raise
        why = str(error) if isinstance(error, NoTime) else f"{node.place}: {error}"
        # The line that it speaks for makes no value either.
        first, _ = _lines(node["lines"])
        spoken = (node["path"].string(), first, node["quote"].string())
        text = f"{node['metric'].string()}: {node['shown'].string()}"
        instead = spoken if node["instead"].value else None
        lost.append(RefusedValue(path, node.line, text, why, instead))
        return None
    kept = ("platform", "quote", "state", "replaces", "by", "at", "instead", "revision")
    return ExportedSpec(
        number=said["id"],
        facts=facts,
        citation=cited,
        **{name: said[name] for name in (*kept, "waivers", "flags", "history")},
        file=path,
        line=node.line,
    )
