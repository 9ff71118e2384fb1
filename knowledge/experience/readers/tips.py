"""PURE: `tips.md`, the lessons of the third source system, and the lessons of our own Markdown.

A tips file lies at <gpu>/<op>/<backend>/tips.md. An entry is a heading that says when, which round
and what became of it, and four fields: Context, Signal, Takeaway, Applicability. Many are freer: a
lesson is then a heading with what stands below it, or a bullet that begins in bold. Ours have a
heading with their UUID and state, and their scope as a fifth field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.readers.drafts import FORMATS, TEXTS, LessonDraft
from knowledge.specs.json_text import LONGEST_TEXT, RecordError

NAME, OWN_NAME = "tips.md", "kopt Markdown"
HEADING = re.compile(
    r"###\s+(?P<when>.*?)\bround-(?P<round>\d+)\s*(?:—|–|-+)\s*(?P<outcome>[A-Za-z_ ]+?)\s*"
)
OWN_HEADING = re.compile(r"###\s+lesson (?P<uuid>[0-9a-f-]{36}) — (?P<state>[a-z -]+?)\s*")
ANY_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<title>.*?)[\s#]*")
FENCE = "```"
FIELD = re.compile(r"[-*]\s+(?:\*\*)?(?P<name>[A-Z][a-z]+)(?:\*\*)?:(?:\*\*)?\s*(?P<text>.*)")
HEADER = {"Operator": "op", "Backend": "backend", "GPU": "platform"}
SCOPE_LINE = re.compile(r"(Operator|Backend|GPU):\s*(\S+)")
SCOPE_PART = re.compile(r"(op|dtype|backend|platform|arch|strategy)=(\S+)")
EVIDENCE_PART = re.compile(r"(agrees|disagrees) ([0-9a-f-]{36})")
ACCEPTED = ("ACCEPTED", "ROLLED BACK", "ROLLED_BACK")
ESCAPED = re.compile(r"^\\(?=[#*\-+>]|\d+[.)])", re.MULTILINE)  # what our Markdown escapes
STATES = ("proposed", "active", "anti-pattern", "returned", "retracted")
# A cache that only a benchmark can hit: its key is the identity of an activation or a gradient.
CACHES = re.compile(r"\b(weakref|lru_cache|data_ptr|memoi[sz]e\w*|id\()|\(id,", re.IGNORECASE)
BULLET, BOLD = re.compile(r"[-*]\s"), re.compile(r"[-*]\s+\*\*")
SENTENCE = re.compile(r"(?<=[.!?:])\s")
AVOIDS = re.compile(r"anti-?pattern|do not|don'?t|dead end|forbidden|not retry|closed dir", re.I)
WHY_CACHED = "it advises a cache keyed on the identity of a tensor"


@dataclass(slots=True)
class _TipSection:
    """A heading with the fields below it, each with its line.

    above: the headings that it stands under, and its own. body: the lines below it.
    """

    line: int
    heading: str
    above: tuple[str, ...] = ()
    body: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The text of a field; blank lines within part it, and none stand around it."""
        return "\n".join(self.texts.get(name, [])).strip()

    @property
    def is_form(self) -> bool:
        """Whether it has the heading of a tip, or one of its fields."""
        return bool(HEADING.fullmatch(self.heading) or self.texts.keys() & {*TEXTS})

    def error(self, name: str, message: str) -> RecordError:
        return RecordError(message, key=name, line=self.lines.get(name, self.line))


def _is_own(file: GivenFile) -> bool:
    """Whether a Markdown file by any other name holds lessons in one of these two forms."""
    if file.name == NAME or not file.name.endswith(".md"):
        return False
    lines = file.text.splitlines()
    return any(HEADING.fullmatch(line) or OWN_HEADING.fullmatch(line) for line in lines)


def _read(file: GivenFile) -> Iterator[LessonDraft | RecordError]:
    """The lessons of a file; in the place of one that cannot be read, why."""
    parts = PurePosixPath(file.path).parts
    if len(parts) >= 4 and parts[-1] == NAME:
        scope = {"platform": parts[-4], "op": parts[-3], "backend": parts[-2]}
    else:  # the line `Operator: … — Backend: … — GPU: …` above the first tip
        head = file.text.partition("\n### ")[0]
        scope = {HEADER[name]: said for name, said in SCOPE_LINE.findall(head)}
    for section in _sections(file.text):
        try:
            own = OWN_HEADING.fullmatch(section.heading)
            if file.name == NAME and not own and not section.is_form:
                yield from _plain_tips(file.path, section, scope)
            elif section.heading.startswith("### "):
                yield _own(file.path, section, own) if own else _tip(file.path, section, scope)
        except RecordError as error:
            yield error


def _sections(text: str) -> Iterator[_TipSection]:
    here: _TipSection | None = None
    name, is_code, above = "", False, [""] * 7
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith(FENCE)
        if (head := ANY_HEADING.fullmatch(line)) and not is_code:
            level = len(head["marks"])
            above[level:] = [head["title"], *[""] * (6 - level)]
            if here is not None:
                yield here
            here = _TipSection(number, line, tuple(filter(None, above[2:]))) if level > 1 else None
            name = ""
            continue
        if here is None:
            continue
        here.body.append(line)
        found = FIELD.fullmatch(line)
        if found is not None:
            name = found["name"].lower()
            here.texts.setdefault(name, []).append(found["text"])
            if name in TEXTS:
                here.lines.setdefault(name, number)
        elif name:
            here.texts[name].append(line.strip())
    if here is not None:
        yield here


def _plain_tips(path: str, section: _TipSection, scope: Mapping[str, str]) -> Iterator[LessonDraft]:
    """Each bullet that begins in bold, where all do; what else stands below the heading as one."""
    where = ", ".join(scope.values()) or "a place that is not said"
    bullets = [n for n, line in enumerate(section.body) if BULLET.match(line)]
    if bullets and all(BOLD.match(section.body[n]) for n in bullets):
        ends = [*bullets[1:], len(section.body)]
        parts = [(n, section.body[n:end]) for n, end in zip(bullets, ends, strict=True)]
        parts = [(-1, section.body[: bullets[0]]), *parts]
    else:
        parts = [(-1, section.body)]
    for at, lines in parts:
        body = "\n".join(line.strip() if at >= 0 else line for line in lines).strip()
        plain = BULLET.sub("", body, 1).replace("**", "").strip()
        takeaway, *rest = SENTENCE.split(plain, 1) if at >= 0 else (section.above[-1], body)
        if not body:
            continue
        avoid = bool(AVOIDS.search(" ".join((*section.above, takeaway))))
        yield LessonDraft(
            path,
            section.line + 1 + at,
            dict(scope),
            context=f"Tips of {where}: {' / '.join(section.above)}",
            signal="".join(rest).strip() or plain,
            takeaway=" ".join(takeaway.split()),
            applicability=f"It does not say; it was learned on {where}.",
            avoid=avoid,
            cached="" if avoid or not CACHES.search(body) else WHY_CACHED,
        )


def _tip(path: str, section: _TipSection, scope: Mapping[str, str]) -> LessonDraft:
    found = HEADING.fullmatch(section.heading)
    if found is None:
        message = f"'{section.heading[:60]}'; accepted: ### <time> round-<n> — {ACCEPTED[0]}"
        raise section.error("heading", message)
    outcome = found["outcome"].strip().upper()
    if outcome not in ACCEPTED:
        raise section.error("outcome", f"'{outcome[:40]}'; accepted: {', '.join(ACCEPTED)}")
    texts: dict[str, Any] = _four(section)
    avoid = outcome != "ACCEPTED"
    cached = "" if avoid or not CACHES.search(texts["takeaway"]) else WHY_CACHED
    return LessonDraft(path, section.line, dict(scope), **texts, avoid=avoid, cached=cached)


def _own(path: str, section: _TipSection, heading: re.Match[str]) -> LessonDraft:
    state = heading["state"]
    if state not in STATES:
        raise section.error("state", f"'{state}'; accepted: {', '.join(STATES)}")
    try:
        uuid = str(UUID(heading["uuid"]))
    except ValueError:
        raise section.error("heading", "accepted: a lesson with its UUID") from None
    scope = dict(SCOPE_PART.findall(section.text("scope")))
    found = EVIDENCE_PART.findall(section.text("evidence"))
    return LessonDraft(
        path,
        section.line,
        scope,
        **{name: ESCAPED.sub("", text) for name, text in _four(section).items()},
        avoid=state == "anti-pattern" or "avoid" in section.texts,
        uuid=uuid,
        state=state.replace("-", "_"),
        evidence={entry: said == "agrees" for said, entry in found},
        ours=True,
    )


def _four(section: _TipSection) -> dict[str, str]:
    texts = {name: section.text(name) for name in TEXTS}
    for name, text in texts.items():
        if not text:
            raise section.error(name, "is missing; accepted: all four fields")
        if len(text) > LONGEST_TEXT:
            message = f"{len(text)} characters; accepted: at most {LONGEST_TEXT}"
            raise section.error(name, message)
    return texts


FORMATS.append(Format(NAME, NAME, lambda file: file.name == NAME, _read))
FORMATS.append(Format(OWN_NAME, "", _is_own, _read))
