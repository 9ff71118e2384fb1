"""Cache files of Kernel Tuner, in and out: `device_name`, `kernel_name`, `tune_params`, `cache`.

Its times are in ms. It keeps failures by the name of a class, and has none for a wrong result or
for one that came too late: `kopt_outcome` beside it says which, and Kernel Tuner leaves that alone.
Numbers that it does not know are facts of the build.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Param
from campaigns.landscapes.entries import TunerEntry, objects_in, read_json, read_text
from campaigns.landscapes.landscape import (
    Landscape,
    LandscapeError,
    LandscapeHeader,
    LandscapeRow,
    RecordedKnob,
)
from campaigns.strategies.base import SearchTrial, TrialFailure

ERRORS = {
    "InvalidConfig": TrialFailure.PRUNED,
    "CompilationFailedConfig": TrialFailure.BUILD_FAILED,
    "RuntimeFailedConfig": TrialFailure.CRASHED,
    "ErrorConfig": TrialFailure.WRONG,
}
NAMES = {failure: name for name, failure in ERRORS.items()} | {
    TrialFailure.TIMED_OUT: "RuntimeFailedConfig"
}
OWN = "kopt_outcome"
# What Kernel Tuner says of its own work rather than of the kernel.
ITS_TIMES = {"verification_time", "benchmark_time", "strategy_time", "framework_time"}
US_PER_MS = 1000.0


def read_cache(path: Path) -> Landscape:
    """A cache, also one that was never closed. Raises LandscapeError, which names the entry."""
    data = read_json(path, _closed(read_text(path)))
    for field, kind in (("tune_params", dict), ("cache", dict)):
        if not isinstance(data.get(field), kind):
            raise LandscapeError(f"{path}, field {field}: an object is accepted")
    knobs = tuple(_knobs(path, data["tune_params"]))
    entries = objects_in(path, "cache entry", data["cache"].items())
    return Landscape.of(
        LandscapeHeader(
            kernel=str(data.get("kernel_name", "")),
            knobs=knobs,
            device=str(data.get("device_name", "")),
            cases=(str(data["problem_size"]),) if "problem_size" in data else (),
            made="a cache file of Kernel Tuner",
        ),
        [_row(entry, knobs) for entry in entries],
    )


def write_cache(landscape: Landscape) -> str:
    """In the layout that Kernel Tuner takes for a closed cache."""
    names = [knob.name for knob in landscape.header.knobs]
    rows = landscape.rows()
    head = {
        "device_name": landscape.header.device,
        "kernel_name": landscape.header.kernel,
        "problem_size": [1],
        "tune_params_keys": names,
        "tune_params": {knob.name: list(knob.values) for knob in landscape.header.knobs},
        "objective": "time",
    }
    entries = ",\n".join(
        f"{json.dumps(','.join(map(str, row.values)))}: {json.dumps(_entry(names, row))}"
        for row in rows
    )
    return f'{json.dumps(head, indent=0)[:-2]},\n"cache": {{\n{entries}}}\n}}'


def _entry(names: list[str], row: LandscapeRow) -> dict[str, object]:
    entry: dict[str, object] = {**dict(zip(names, row.values, strict=True)), **row.facts}
    failure = row.trial.failure
    if failure is None:
        return entry | {"time": (row.trial.time_us or 0.0) / US_PER_MS}
    error = NAMES[failure]
    return entry | {"time": error, "__error__": error, OWN: str(failure)}


def _closed(text: str) -> str:
    """Kernel Tuner appends to its file, and closes it when all is done."""
    text = text.strip()
    if text.endswith(("}\n}", "}}}")) or not text:
        return text
    return text.removesuffix(",") + "}}"


def _knobs(path: Path, params: Mapping[str, Any]) -> Iterator[RecordedKnob]:
    for name, values in params.items():
        plain = isinstance(values, list) and all(isinstance(v, Param) for v in values)
        if not plain or not values:
            raise LandscapeError(
                f"{path}, field tune_params, {name}: {values}; a list of numbers, texts and "
                "booleans is accepted"
            )
        yield RecordedKnob(name, tuple(values))


def _row(entry: TunerEntry, knobs: tuple[RecordedKnob, ...]) -> LandscapeRow:
    values = entry.values(knobs)
    known = {knob.name for knob in knobs} | ITS_TIMES | {"time"}
    facts = {
        name: float(value)
        for name, value in entry.fields.items()
        if name not in known and _is_number(value)
    }
    return LandscapeRow(values, _trial(entry), facts)


def _trial(entry: TunerEntry) -> SearchTrial:
    time_ms = entry.fields.get("time")
    error = entry.fields.get("__error__", time_ms if isinstance(time_ms, str) else None)
    if error is None:
        return entry.timed("time", time_ms, US_PER_MS)
    own = entry.fields.get(OWN)
    if own in tuple(TrialFailure):
        return SearchTrial(failure=TrialFailure(own))
    if error not in ERRORS:
        raise entry.error("__error__", error, ", ".join(ERRORS))
    return SearchTrial(failure=ERRORS[error])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
