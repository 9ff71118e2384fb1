"""PURE: knowledge records of the first source system (schema clean-1), one a file or an array.

A strategy with a measured gain is an attempt. An anti-strategy, a technique and a rule are lessons.
Pages, symptom cards and whole kernels are left out: a document or the catalogue is their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.readers.drafts import (
    FORMATS,
    AttemptDraft,
    LessonDraft,
    Read,
    SkippedRow,
    judge,
)
from knowledge.specs.json_text import Node

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


def _record(file: str, row: Node) -> Read:
    """One record. RecordError names the field that is wrong."""
    kind = row["type"].one_of(TYPES)
    title = row["id"].text(300)
    if kind in NOT_TAKEN:
        return SkippedRow(file, row.line, title, NOT_TAKEN[kind])
    status = row["status"].text(40) or "active"
    if status != "active":
        return SkippedRow(file, row.line, title, f"its status is {status}")
    gain = _gain(row)
    if kind == "strategy" and gain is not None:
        return _attempt(file, row, gain)
    return _lesson(file, row, kind)


def _attempt(file: str, row: Node, gain: float) -> AttemptDraft:
    payload = row["payload"]
    names = _names(row)
    label, _ = judge("", gain)
    tags = row["retrieval"]["technique_tags"].texts()
    measured_on = row["evidence"]["summary"]["measured_on"].plain(dict)
    effect = row["evidence"]["raw"]["effect"]
    named = {"before": "parent_geomean_us", "after": "new_geomean_us"}
    latency = {when: effect[name].number() for when, name in named.items()}
    values: dict[str, Any] = {
        "label": label,
        "gain": gain,
        "params": payload["config"].plain(dict),
        "title": payload["goal"].text()[:300],
        "change": payload["change"].text(),
        "evidence": list(filter(None, [payload["problem"]["observed_symptom"].text()])),
        "precondition": "\n".join(payload["applies_when"].texts()),
        "baseline": payload["trace"]["builds_on"]["approach"].text()[:200],
        "metrics": {
            when: {"latency_us": value} for when, value in latency.items() if value is not None
        },
        "notes": payload["mechanism"].text(),
        "compiler": ", ".join(f"{name} {said}" for name, said in measured_on.items())[:200],
        "external": row["id"].text(300)[:80],
    }
    return AttemptDraft(file, row.line, names | {"strategy": tags[0] if tags else ""}, values)


def _lesson(file: str, row: Node, kind: str) -> LessonDraft:
    payload = row["payload"]
    problem = payload["problem"]
    where = problem["target"].text().strip()
    context = " ".join(filter(None, (problem["statement"].text().strip(), where and f"({where})")))
    retrieval = row["retrieval"]
    symptoms = retrieval["signals"]["symptoms"].texts()
    fact = payload["established_fact"]
    signal = {
        "anti-strategy": payload["observed"].text() or fact["mechanism"].text(),
        "strategy": payload["mechanism"].text(),
        "numerics-rule": payload["rationale"].text(),
        "dispatch-rule": payload["rationale"].text(),
    }.get(kind, "")
    card = (payload["technique"].text().strip(), payload["what"].text().strip())
    takeaway = {
        "anti-strategy": payload["lesson"].text(),
        "strategy": payload["change"].text(),
        "technique-card": ": ".join(filter(None, card)),
    }.get(kind, payload["rule"].text())
    conditions = [f"{k}: {v}" for k, v in fact["condition"].plain(dict).items() if v]
    retry = payload["would_retry_if"].text().strip()
    applies = [
        *(payload["applies_when"].texts() or conditions),
        payload["when"].text().strip(),
        retry and f"Worth another try if {retry}",
        *payload["caveats"].texts(),
    ]
    texts: dict[str, Any] = {
        "context": context,
        "signal": signal.strip() or "; ".join(symptoms),
        "takeaway": takeaway.strip(),
        "applicability": "\n".join(filter(None, applies))
        or "; ".join(retrieval["triggers"].texts()),
    }
    for name, text in texts.items():
        if not text:
            raise row.error(f"a {kind} says nothing that could be this field", name)
    return LessonDraft(file, row.line, _names(row), **texts, avoid=kind == "anti-strategy")


def _names(row: Node) -> dict[str, str]:
    scope = row["retrieval"]["scope"]
    said = {
        "op": scope["operator_family"].text(200),
        "backend": scope["dsl"].text(40),
        "platform": scope["product"].text(80),
        "arch": scope["arch"].text(40),
        "bottleneck": row["retrieval"]["signals"]["bottleneck"].text(60),
    }
    found = {name: "" if text.strip().casefold() in ANY else text for name, text in said.items()}
    arch = found.pop("arch")
    return found | {"platform": found["platform"] or arch}


def _gain(row: Node) -> float | None:
    """What was measured, as a ratio of times less one."""
    effect = row["evidence"]["raw"]["effect"]
    before, after = effect["parent_geomean_us"].number(), effect["new_geomean_us"].number()
    if before and after and before > 0 and after > 0:
        return before / after - 1
    worth = row["worth"]["gain"]
    percent = worth["pct"].number()
    if percent is None or worth["basis"].text() == "qualitative":
        return None
    if worth["primary"].text() not in ("", "latency"):
        return percent / 100
    if percent >= 100:
        raise worth["pct"].error(f"{percent}; accepted: a share of the time, below 100")
    return 1 / (1 - percent / 100) - 1


def _detect(file: GivenFile) -> bool:
    value = file.value if isinstance(file.value, list) else [file.value]
    objects = [each for each in value if isinstance(each, dict)]
    return bool(objects) and all(str(each.get("schema", "")).startswith(SCHEMA) for each in objects)


def _read(file: GivenFile) -> Iterator[Read]:
    root = file.json
    return file.each(root.items() if isinstance(root.value, list) else [root], _record)


FORMATS.append(Format(FORMAT, f"{FORMAT} ({SCHEMA})", _detect, _read))
