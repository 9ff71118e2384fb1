"""PURE: knowledge records of the first source system (schema clean-1), one a file or an array.

A strategy with a measured gain is an attempt. An anti-strategy, a technique and a rule are lessons.
Pages, symptom cards and whole kernels are left out: a document or the catalogue is their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knowledge.exchange.formats import Format
from knowledge.experience.readers.drafts import (
    AttemptDraft,
    LessonDraft,
    Read,
    ReadRefused,
    SkippedRow,
    judge,
)
from knowledge.experience.readers.json_rows import FORMATS, GivenFile, JsonRow

FORMAT = "knowledge records"
SCHEMA = "clean-1"
NOT_TAKEN = {
    "doc": "a page; `wiki import` takes its Markdown",
    "symptom-card": "a list of techniques; the catalogue has them",
    "reference-kernel": "a whole kernel; the operator library is its place",
}
TYPES = (
    "strategy",
    "anti-strategy",
    "technique-card",
    "numerics-rule",
    "dispatch-rule",
    *NOT_TAKEN,
)
ANY = ("", "any", "generic", "none", "hands-on")


def _record(file: str, row: JsonRow) -> Read:
    """One record. ReadRefused names the field that is wrong."""
    kind = row.one_of("type", TYPES)
    title = row.text("id", 300)
    if kind in NOT_TAKEN:
        return SkippedRow(file, row.line, title, NOT_TAKEN[kind])
    status = row.text("status", 40) or "active"
    if status != "active":
        return SkippedRow(file, row.line, title, f"its status is {status}")
    gain = _gain(row)
    if kind == "strategy" and gain is not None:
        return _attempt(file, row, gain)
    return _lesson(file, row, kind)


def _attempt(file: str, row: JsonRow, gain: float) -> AttemptDraft:
    payload = row.row("payload")
    names = _names(row)
    label, _ = judge("", gain)
    tags = row.row("retrieval").texts("technique_tags")
    measured_on = row.row("evidence").row("summary").plain("measured_on", dict)
    effect = row.row("evidence").row("raw").row("effect")
    values: dict[str, Any] = {
        "label": label,
        "gain": gain,
        "params": payload.plain("config", dict),
        "title": payload.text("goal")[:300],
        "change": payload.text("change"),
        "evidence": list(filter(None, [payload.row("problem").text("observed_symptom")])),
        "precondition": "\n".join(payload.texts("applies_when")),
        "baseline": payload.row("trace").row("builds_on").text("approach")[:200],
        "metrics": _metrics(effect),
        "notes": payload.text("mechanism"),
        "compiler": ", ".join(f"{name} {said}" for name, said in measured_on.items())[:200],
        "external": row.text("id", 300)[:80],
    }
    return AttemptDraft(file, row.line, names | {"strategy": tags[0] if tags else ""}, values)


def _lesson(file: str, row: JsonRow, kind: str) -> LessonDraft:
    payload = row.row("payload")
    problem = payload.row("problem")
    where = problem.text("target").strip()
    context = " ".join(filter(None, (problem.text("statement").strip(), where and f"({where})")))
    retrieval = row.row("retrieval")
    symptoms = retrieval.row("signals").texts("symptoms")
    fact = payload.row("established_fact")
    signal = {
        "anti-strategy": payload.text("observed") or fact.text("mechanism"),
        "strategy": payload.text("mechanism"),
        "numerics-rule": payload.text("rationale"),
        "dispatch-rule": payload.text("rationale"),
    }.get(kind, "")
    takeaway = {
        "anti-strategy": payload.text("lesson"),
        "strategy": payload.text("change"),
        "technique-card": _both(payload.text("technique"), payload.text("what")),
    }.get(kind, payload.text("rule"))
    conditions = [f"{k}: {v}" for k, v in fact.plain("condition", dict).items() if v]
    retry = payload.text("would_retry_if").strip()
    applies = [
        *(payload.texts("applies_when") or conditions),
        payload.text("when").strip(),
        retry and f"Worth another try if {retry}",
        *payload.texts("caveats"),
    ]
    texts: dict[str, Any] = {
        "context": context,
        "signal": signal.strip() or "; ".join(symptoms),
        "takeaway": takeaway.strip(),
        "applicability": "\n".join(filter(None, applies)) or "; ".join(retrieval.texts("triggers")),
    }
    for name, text in texts.items():
        if not text:
            raise ReadRefused(row.line, name, f"a {kind} says nothing that could be this field")
    return LessonDraft(file, row.line, _names(row), **texts, avoid=kind == "anti-strategy")


def _names(row: JsonRow) -> dict[str, str]:
    scope = row.row("retrieval").row("scope")
    said = {
        "op": scope.text("operator_family", 200),
        "backend": scope.text("dsl", 40),
        "platform": scope.text("product", 80),
        "arch": scope.text("arch", 40),
        "bottleneck": row.row("retrieval").row("signals").text("bottleneck", 60),
    }
    found = {name: "" if text.strip().casefold() in ANY else text for name, text in said.items()}
    arch = found.pop("arch")
    return found | {"platform": found["platform"] or arch}


def _gain(row: JsonRow) -> float | None:
    """What was measured, as a ratio of times less one."""
    effect = row.row("evidence").row("raw").row("effect")
    before, after = effect.number("parent_geomean_us"), effect.number("new_geomean_us")
    if before and after and before > 0 and after > 0:
        return before / after - 1
    worth = row.row("worth").row("gain")
    percent = worth.number("pct")
    if percent is None or worth.text("basis") == "qualitative":
        return None
    if worth.text("primary") not in ("", "latency"):
        return percent / 100
    if percent >= 100:
        worth.refuse("pct", f"{percent}; accepted: a share of the time, below 100")
    return 1 / (1 - percent / 100) - 1


def _metrics(effect: JsonRow) -> dict[str, dict[str, float]]:
    named = {"before": "parent_geomean_us", "after": "new_geomean_us"}
    found = {when: effect.number(name) for when, name in named.items()}
    return {when: {"latency_us": value} for when, value in found.items() if value is not None}


def _both(title: str, text: str) -> str:
    said = text.strip()
    return f"{title.strip()}: {said}" if title.strip() and said else title.strip() or said


def _is_one(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("schema", "")).startswith(SCHEMA)


def _detect(file: GivenFile) -> bool:
    value = file.value
    if isinstance(value, list):
        objects = [each for each in value if isinstance(each, dict)]
        return bool(objects) and all(map(_is_one, objects))
    return _is_one(value)


def _read(file: GivenFile) -> Iterator[Read]:
    node, _ = file.json
    return file.each(node.items() if isinstance(node.value, list) else [node], _record)


FORMATS.append(Format(FORMAT, f"{FORMAT} ({SCHEMA})", _detect, _read))
