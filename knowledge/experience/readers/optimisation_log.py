"""PURE: `experiences.json`, the log of attempts of the second source system.

One array; each element has kernel, backend, chip, dims, bottleneck, metrics before and after, an
optimization as name{param=value}, and an outcome. What it spells in many ways, it spells here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.readers.drafts import ACCEPTED, FORMATS, AttemptDraft, SkippedRow, judge
from knowledge.experience.readers.spellings import EMPTY
from knowledge.specs.json_text import Node, RecordError

FORMAT = "experiences.json"
FIELDS = (
    *("id", "date", "iteration", "kernel", "backend", "chip", "dims", "bottleneck_before"),
    *("dominant_stall", "metrics_before", "metrics_after", "optimization", "hypothesis"),
    *("outcome", "speedup", "notes", "merged_count", "merged_from_iters", "dtype"),
)
MARKS = {"kernel", "outcome", "metrics_before"}  # what tells this format from another array
OUR_METRIC = {
    "memory_sol_pct": "memory_sol",
    "sm_sol_pct": "sm_sol",
    "latency_ms": "latency_ms",
    "achieved_occupancy": "occupancy",
}
LEAST_LATENCY_MS = 1e-9
NAMED_SIZE = re.compile(r"([A-Za-z_]\w*)\s*[=:]\s*(\d+)")
LARGEST_SIZE = 2**63
PLAIN_SIZES = re.compile(r"\s*\d+(?:\s*[x×*,]\s*\d+)*\s*")
MATMUL = ("M", "N", "K")
PARAMETERS = re.compile(r"(?P<name>[^{]*)\{(?P<inside>[^{}]*)\}\s*")


def read_log_row(file: str, row: Node) -> AttemptDraft:
    """One attempt. RecordError names the field that is wrong."""
    row.fields(FIELDS)
    stated = row["outcome"].text().strip()
    if stated.casefold() not in ACCEPTED:
        raise row["outcome"].error(f"'{stated[:60]}'; accepted: {', '.join(ACCEPTED)}")
    metrics = {when: _metrics(row, f"metrics_{when}") for when in ("before", "after")}
    gain, measured = _gain(row, metrics)
    label, note = judge(stated, gain)
    strategy, params = strategy_and_params(row["optimization"].text(300))
    shape = shape_of(row["dims"].text(300))
    hypothesis, stall = row["hypothesis"].text().strip(), row["dominant_stall"].text(200).strip()
    iteration = row["iteration"].text(40).strip()
    number = row["id"].count()
    external = (
        "" if number is None else f"{FORMAT} {number}",
        "" if iteration in EMPTY else iteration,
    )
    values: dict[str, Any] = {
        "label": label,
        "gain": gain,
        "params": params,
        "shapes": [shape] if shape else [],
        "title": hypothesis.partition("\n")[0][:300] or strategy,
        "change": hypothesis,
        "evidence": [f"dominant stall: {stall}"] if stall else [],
        "metrics": {when: found for when, found in metrics.items() if found},
        "baseline": "the version before it" if gain is not None else "",
        "notes": "\n".join(filter(None, (row["notes"].text().strip(), note, measured))),
        "external": " ".join(filter(None, external)),
        "happened_at": row["date"].moment(),
    }
    names = {
        "op": row["kernel"].text(60).strip(),
        "dtype": row["dtype"].text(20).strip(),
        "backend": row["backend"].text(40).strip(),
        "platform": row["chip"].text(80).strip(),
        "bottleneck": row["bottleneck_before"].text(40).strip(),
        "strategy": strategy,
    }
    return AttemptDraft(file, row.line, names, values)


def twice(drafts: list[AttemptDraft]) -> tuple[list[AttemptDraft], list[SkippedRow]]:
    """The attempts without those that stand in the log a second time, and these."""
    seen: dict[str, AttemptDraft] = {}
    kept, left_out = [], []
    for draft in drafts:
        told = {k: v for k, v in draft.values.items() if k not in ("external", "happened_at")}
        first = seen.setdefault(repr((sorted(draft.names.items()), sorted(told.items()))), draft)
        if first is draft:
            kept.append(draft)
        else:
            why = f"recorded twice: it says the same as L{first.line}"
            left_out.append(SkippedRow(draft.file, draft.line, draft.about, why))
    return kept, left_out


def _metrics(row: Node, name: str) -> dict[str, float]:
    inside = row[name]
    for key, each in inside.fields().items() if inside.value is not None else ():
        if key not in OUR_METRIC:
            raise each.error(f"unknown field; accepted: {', '.join(OUR_METRIC)}", f"{name}.{key}")
    found = {ours: inside[theirs].number() for theirs, ours in OUR_METRIC.items()}
    return {ours: value for ours, value in found.items() if value is not None}


def _gain(row: Node, metrics: dict[str, dict[str, float]]) -> tuple[float | None, str]:
    """The gain over the version before, and how well it is known."""
    before, after = (metrics[when].get("latency_ms") for when in ("before", "after"))
    for when, latency in (("before", before), ("after", after)):
        if latency is not None and latency < LEAST_LATENCY_MS:
            raise row[f"metrics_{when}"].error(f"latency_ms {latency}; accepted: above 0")
    if before is not None and after is not None:
        return before / after - 1, ""
    speedup = row["speedup"].number()
    if speedup is not None and speedup <= 0:
        raise row["speedup"].error(f"{speedup}; accepted: above 0, or null")
    if speedup is None:
        return None, ""
    return speedup - 1, "Its gain comes from a speedup that was rounded to two decimals."


def shape_of(text: str) -> dict[str, int]:
    """Name → size; {} where the text names none. Three sizes without names are M, N and K."""
    if PLAIN_SIZES.fullmatch(text):
        sizes = [int(each) for each in re.findall(r"\d+", text)]
        names = MATMUL if len(sizes) == 3 else [f"d{n}" for n in range(len(sizes))]
        found = dict(zip(names, sizes, strict=True))
    else:
        found = {name: int(size) for name, size in NAMED_SIZE.findall(text)}
    return {name: size for name, size in found.items() if size < LARGEST_SIZE}


def strategy_and_params(text: str) -> tuple[str, dict[str, Any]]:
    """`name{param=value, …}` as the name and its parameters; any other text is all name."""
    found = PARAMETERS.fullmatch(text.strip())
    if found is None:
        return text.strip(), {}
    parts = [each.partition("=") for each in found["inside"].split(",") if each.strip()]
    return found["name"].strip(), {name.strip(): _value(value) for name, _, value in parts}


def _value(text: str) -> Any:
    said = text.strip()
    try:
        return int(said)
    except ValueError:
        return said


def _detect(file: GivenFile) -> bool:
    value = file.value
    if not isinstance(value, list):
        return False
    objects = [each for each in value if isinstance(each, dict)]
    if objects and all("schema" in each for each in objects):
        return False
    return file.name == FORMAT or any(each.keys() >= MARKS for each in objects)


def _read(file: GivenFile) -> Iterator[AttemptDraft | RecordError]:
    return file.each(file.json.items(), read_log_row)


FORMATS.append(Format(FORMAT, FORMAT, _detect, _read))
