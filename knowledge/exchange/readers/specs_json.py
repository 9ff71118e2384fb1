"""Reads specs.json of an exported wiki and its further parts, strictly; see `exported_specs`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from knowledge.exchange.readers.exported_specs import (
    ACTIONS,
    ANSWERS,
    FILE_NAME,
    FLAG_KINDS,
    KEPT_FILE,
    MARK,
    SECTIONS,
    STATES,
    VERSION,
    EarlierText,
    ExportedChange,
    ExportedFlag,
    ExportedSpec,
    ExportedWaiver,
    ExportedWiki,
    RefusedValue,
    UnreadLine,
    is_kept,
)
from knowledge.exchange.readers.specs_json_fields import (
    Fields,
    NoTime,
    all_of,
    clean,
    count,
    document_path,
    flag,
    items,
    moment,
    one_of,
    string,
    two_lines,
    user_name,
)
from knowledge.specs.citation import LONGEST_ORIGIN, CitationLine
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import (
    PlatformFacts,
    PlatformKind,
    Rank,
    SourceKind,
    SpecFacts,
)
from knowledge.specs.json_text import (
    JsonNumber,
    Node,
    RecordError,
    line_of,
    parse_json,
    value_lines,
)

T = TypeVar("T")
OF_A_PLATFORM = ("slug", "name", "vendor", "arch", "kind", "target", "aliases")
OF_A_SPEC = (
    *("platform", "metric", "shown", "qualifiers", "evidence", "kind", "source", "source_url"),
    *("note", "rank", "state", "instead", "path", "lines", "quote", "revision", "waivers"),
    *("id", "replaces", "by", "at", "flags", "history"),
)
OF_A_FLAG = (
    *("kind", "path", "revision", "lines", "quote", "note", "by", "at"),
    *("answer", "answered_by", "answered_at", "why"),
)
OF_A_STEP = ("action", "by", "at", "state", "rank", "before", "after", "why")
LONGEST_FIGURE = 300  # characters of what a step changed
LONGEST_EXCEPTION = 500  # characters of the reason of a waiver


class SpecsJsonError(ValueError):
    """A specs.json that cannot be read; the message starts with its file and line."""


def read_kept(files: Mapping[str, str]) -> ExportedWiki:
    """Read the parts of a specs.json, path → text.

    SpecsJsonError names the file, the line, the field and what is accepted. A value that breaks a
    rule of today is in `not_taken`.
    """
    parts = sorted(files, key=_part)
    if parts and [_part(path) for path in parts] != list(range(1, len(parts) + 1)):
        missing = next(n for n, path in enumerate(parts, start=1) if _part(path) != n)
        name = KEPT_FILE if missing == 1 else f"specs-{missing}.json"
        raise SpecsJsonError(f"{parts[-1]}:L1: {name} is missing; accepted: all parts of an export")
    found = ExportedWiki()
    for path in parts:
        found += _SpecsJsonReader(path, files[path]).read(is_last=path == parts[-1])
    _check_numbers(found.specs)
    return found


def own_names(texts: Mapping[str, str]) -> dict[str, str]:
    """These files by the paths of their documents, where an export had to call some otherwise.

    Raises SpecsJsonError for a path that another file has. A specs.json that cannot be read names
    none.
    """
    kept = {path: text for path, text in texts.items() if is_kept(path, text)}
    if not any('"names": [' in text for text in kept.values()):
        return dict(texts)
    try:
        names = dict(read_kept(kept).names)
    except SpecsJsonError:
        return dict(texts)
    found: dict[str, str] = {}
    for file, text in texts.items():
        path = names.get(file, file)
        if path in found or (path != file and path in texts and path not in names):
            raise SpecsJsonError(f"{path}: stands twice, as {file} too; accepted: once")
        found[path] = text
    return found


def _part(path: str) -> int:
    found = FILE_NAME.fullmatch(path)
    return int(found["part"] or 1) if found else 0


def _check_numbers(specs: Sequence[ExportedSpec[SpecFacts]]) -> None:
    """Each number once, and no value that replaces itself in the end."""
    replaces: dict[int, int] = {}
    for spec in specs:
        if spec.number in replaces:
            raise SpecsJsonError(f"{spec.file}:L{spec.line}: id {spec.number} stands twice")
        replaces[spec.number] = spec.replaces
    sound: set[int] = set()
    for spec in specs:
        chain: set[int] = set()
        number = spec.number
        while number and number not in sound:
            if number in chain:
                raise SpecsJsonError(
                    f"{spec.file}:L{spec.line}: id {spec.number} replaces itself; accepted: values "
                    "that replace an older one"
                )
            chain.add(number)
            number = replaces.get(number, 0)
        sound |= chain


class _SpecsJsonReader:
    """One part."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines: Mapping[str, tuple[int, int]] = {}
        self.not_taken: list[RefusedValue] = []

    def read(self, *, is_last: bool) -> ExportedWiki:
        try:
            root = parse_json(self.text).fields((MARK, "part", *SECTIONS, "more"))
            self._check_head(root, is_last=is_last)
            self.lines = value_lines(self.text)
            found = ExportedWiki(
                tuple(each for node in items(root, "specs") if (each := self._spec(node))),
                tuple(self._earlier(node) for node in items(root, "earlier")),
                tuple(_platform(node) for node in items(root, "platforms")),
                tuple(self._unread(node) for node in items(root, "unread")),
                tuple(_name(node) for node in items(root, "names")),
            )
            origins = tuple(_origin_of(node) for node in items(root, "documents"))
            return found + ExportedWiki(not_taken=tuple(self.not_taken), origins=origins)
        except RecordError as error:
            place = str(error).partition(": ")[0]
            line = line_of(self.text, place)
            raise SpecsJsonError(f"{self.path}:L{line}: {error}") from error

    def _check_head(self, root: Fields, *, is_last: bool) -> None:
        version = root.get(MARK, Node(f"$.{MARK}", None))
        if version.value != JsonNumber(str(VERSION)):
            raise version.error(f"accepted: {VERSION}")
        part = root.get("part", Node("$.part", None))
        if part.value != JsonNumber(str(_part(self.path))):
            raise part.error(f"accepted in {self.path}: {_part(self.path)}")
        more = root.get("more", Node("$.more", None))
        if more.value is not (not is_last):
            follows = "false, as no part follows" if is_last else "true, as a part follows"
            raise more.error(f"accepted: {follows}; every part of an export is needed")

    def _spec(self, node: Node) -> ExportedSpec[SpecFacts] | None:
        line = self.lines[node.place][0]
        fields = all_of(node, OF_A_SPEC)
        first, last = two_lines(fields["lines"])
        quote, path = string(fields["quote"]), string(fields["path"])
        state = one_of(fields["state"], STATES)
        instead = flag(fields["instead"])
        stated = _stated(fields)
        number = count(fields["id"])
        try:
            kept = (state, *_origin(fields), instead)
            more = (string(fields["revision"]), *_events(fields))
            facts = stated()
            cited = CitationLine(facts.metric, facts.shown, path, first, last)
        except ValueError as error:
            if isinstance(error, RecordError) and not isinstance(error, NoTime):
                raise
            self._lose(node, fields, str(error))
            return None
        platform = string(fields["platform"])
        return ExportedSpec(number, platform, facts, cited, quote, *kept, *more, self.path, line)

    def _lose(self, node: Node, fields: Fields, why: str) -> None:
        """Note a value that is not taken; the line that it speaks for makes no value either."""
        text = f"{string(fields['metric'])}: {string(fields['shown'])}"
        own = (string(fields["path"]), two_lines(fields["lines"])[0], string(fields["quote"]))
        spoken = own if flag(fields["instead"]) else None
        why = why if why.startswith("$") else f"{node.place}: {why}"
        self.not_taken.append(RefusedValue(self.path, self.lines[node.place][0], text, why, spoken))

    def _unread(self, node: Node) -> UnreadLine:
        fields = all_of(node, ("path", "line", "quote"))
        place = (self.path, self.lines[node.place][0])
        return UnreadLine(
            string(fields["path"]), count(fields["line"]), string(fields["quote"]), place
        )

    def _earlier(self, node: Node) -> EarlierText:
        fields = all_of(node, ("path", "sha256", "text"))
        path, text = document_path(fields["path"]), string(fields["text"])
        sha256 = string(fields["sha256"])
        if sha256 != hashlib.sha256(text.encode()).hexdigest():
            raise fields["sha256"].error(f"accepted: the hash of the text of {path}")
        return EarlierText(path, sha256, text, (self.path, self.lines[node.place][0]))


def _stated(fields: Fields) -> Callable[[], SpecFacts]:
    """What makes the facts; the fields are text by then, and may still break a rule."""
    names = ("metric", "shown", "evidence", "kind", "source", "source_url", "rank", "note")
    said = {name: string(fields[name]) for name in names}
    qualifiers = {clean(k, v): string(v) for k, v in fields["qualifiers"].fields().items()}
    return lambda: SpecFacts(
        said["metric"],
        said["shown"],
        EvidenceClass(said["evidence"]),
        SourceKind(said["kind"]),
        said["source"],
        said["source_url"],
        Rank(said["rank"]),
        qualifiers,
        said["note"],
    )


def _origin(fields: Fields) -> tuple[int, str, str]:
    """What it replaces, who brought it in, and when."""
    replaces = 0 if fields["replaces"].value is None else count(fields["replaces"])
    return replaces, user_name(fields["by"]), moment(fields["at"])


def _events(
    fields: Fields,
) -> tuple[tuple[ExportedWaiver, ...], tuple[ExportedFlag, ...], tuple[ExportedChange, ...]]:
    waivers = tuple(_waiver(each) for each in fields["waivers"].items())
    flags = tuple(_flag_of(each) for each in fields["flags"].items())
    return waivers, flags, tuple(_step(each) for each in fields["history"].items())


def _waiver(node: Node) -> ExportedWaiver:
    fields = all_of(node, ("constraint", "reason", "by", "at"))
    constraint, reason = string(fields["constraint"], 40), string(fields["reason"])
    if len(reason) > LONGEST_EXCEPTION:
        raise fields["reason"].error(f"accepted: at most {LONGEST_EXCEPTION} characters")
    return ExportedWaiver(constraint, reason, user_name(fields["by"]), moment(fields["at"]))


def _flag_of(node: Node) -> ExportedFlag:
    fields = all_of(node, OF_A_FLAG)
    answer = one_of(fields["answer"], ("", *ANSWERS))
    lines = tuple(count(each) for each in fields["lines"].items())
    if len(lines) not in (0, 2):
        raise fields["lines"].error("accepted: the first and the last line, or none")
    return ExportedFlag(
        kind=one_of(fields["kind"], FLAG_KINDS),
        path=string(fields["path"]),
        revision=string(fields["revision"]),
        lines=lines,
        quote=string(fields["quote"]),
        note=string(fields["note"]),
        by=user_name(fields["by"]),
        at=moment(fields["at"]),
        answer=answer,
        answered_by=user_name(fields["answered_by"]),
        answered_at=moment(fields["answered_at"]) if answer else "",
        why=string(fields["why"]),
    )


def _step(node: Node) -> ExportedChange:
    fields = all_of(node, OF_A_STEP)
    return ExportedChange(
        one_of(fields["action"], ACTIONS),
        user_name(fields["by"]),
        moment(fields["at"]),
        one_of(fields["state"], STATES),
        one_of(fields["rank"], tuple(Rank)),
        string(fields["before"], LONGEST_FIGURE),
        string(fields["after"], LONGEST_FIGURE),
        string(fields["why"]),
    )


def _name(node: Node) -> tuple[str, str]:
    fields = all_of(node, ("file", "path"))
    return document_path(fields["file"]), document_path(fields["path"])


def _origin_of(node: Node) -> tuple[str, str]:
    fields = all_of(node, ("path", "origin"))
    origin = string(fields["origin"], LONGEST_ORIGIN)
    if not origin:
        raise fields["origin"].error("accepted: the name of a folder, shipped or measured")
    return document_path(fields["path"]), origin


def _platform(node: Node) -> PlatformFacts:
    fields = all_of(node, OF_A_PLATFORM)
    said = {n: string(fields[n]) for n in OF_A_PLATFORM if n not in ("kind", "aliases")}
    aliases = tuple(string(each) for each in fields["aliases"].items())
    try:
        return PlatformFacts(**said, kind=PlatformKind(string(fields["kind"])), aliases=aliases)
    except ValueError as error:
        raise node.error(str(error)) from error
