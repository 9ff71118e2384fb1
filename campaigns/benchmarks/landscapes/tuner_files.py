"""Files of other tuners: caches of Kernel Tuner, in and out, and T4 results (schema 1.0.0).

A cache has `device_name`, `kernel_name`, `tune_params` and `cache`; its times are in ms. It keeps
failures by the name of a class, and has none for a wrong result or for one that came too late:
`kopt_outcome` beside it says which, and Kernel Tuner leaves that alone. Numbers that it does not
know are facts of the build. T4 is the common format of several tuners; it names neither kernel nor
device, and no values but those that occur.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.benchmarks.landscapes.landscape import (
    Landscape,
    LandscapeError,
    LandscapeHeader,
    LandscapeRow,
    RecordedKnob,
    read_text,
)
from campaigns.evaluator.contract import Param
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
# Of T4.
CORRECT = "correct"
INVALIDITY = {
    "timeout": TrialFailure.TIMED_OUT,
    "compile": TrialFailure.BUILD_FAILED,
    "runtime": TrialFailure.CRASHED,
    "correctness": TrialFailure.WRONG,
    "constraints": TrialFailure.PRUNED,
}
OBJECTIVE = "time"
US_PER = {"us": 1.0, "µs": 1.0, "microseconds": 1.0, "ms": 1e3, "milliseconds": 1e3, "s": 1e6}


@dataclass(frozen=True, slots=True)
class TunerEntry:
    """One tried point. where: the file and the entry, for errors."""

    where: str
    fields: Mapping[str, Any]

    def values(self, knobs: Iterable[RecordedKnob]) -> tuple[Param, ...]:
        """In the order of the knobs. Raises LandscapeError."""
        for knob in knobs:
            if self.fields.get(knob.name) not in knob.values:
                accepted = ", ".join(map(str, knob.values))
                raise self.error(knob.name, self.fields.get(knob.name), accepted)
        return tuple(self.fields[knob.name] for knob in knobs)

    def timed(self, field: str, time: object, in_us: float) -> SearchTrial:
        """in_us: how many µs its unit has. Raises LandscapeError."""
        try:
            return SearchTrial(time_us=float(time) * in_us)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise self.error(field, time, "a positive number") from error

    def error(self, field: str, found: object, accepted: str) -> LandscapeError:
        return LandscapeError(f"{self.where}, field {field}: {found!r}; accepted: {accepted}")


def _read_json(path: Path, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise LandscapeError(f"{path}, line {error.lineno}: {error.msg}") from error
    if not isinstance(data, dict):
        raise LandscapeError(f"{path}: a JSON object is accepted")
    return data


def _entries(path: Path, word: str, found: Iterable[tuple[object, object]]) -> Iterator[TunerEntry]:
    """Entries by name or number."""
    for name, fields in found:
        where = f"{path}, {word} {name}"
        if not isinstance(fields, dict):
            raise LandscapeError(f"{where}: an object is accepted")
        yield TunerEntry(where, fields)


def read_cache(path: Path) -> Landscape:
    """A cache, also one that was never closed. Raises LandscapeError, which names the entry."""
    text = read_text(path).strip()
    if text and not text.endswith(("}\n}", "}}}")):
        # Kernel Tuner appends to its file, and closes it when all is done.
        text = text.removesuffix(",") + "}}"
    data = _read_json(path, text)
    for field in ("tune_params", "cache"):
        if not isinstance(data.get(field), dict):
            raise LandscapeError(f"{path}, field {field}: an object is accepted")
    for name, values in data["tune_params"].items():
        plain = isinstance(values, list) and all(isinstance(v, Param) for v in values)
        if not plain or not values:
            raise LandscapeError(
                f"{path}, field tune_params, {name}: {values}; a list of numbers, texts and "
                "booleans is accepted"
            )
    knobs = tuple(RecordedKnob(name, tuple(each)) for name, each in data["tune_params"].items())
    known = {*data["tune_params"], *ITS_TIMES, "time"}
    rows = []
    for entry in _entries(path, "cache entry", data["cache"].items()):
        values = entry.values(knobs)
        facts = {
            name: float(value)
            for name, value in entry.fields.items()
            if name not in known and isinstance(value, int | float) and math.isfinite(value)
        }
        rows.append(LandscapeRow(values, _cached_trial(entry), facts))
    header = LandscapeHeader(
        kernel=str(data.get("kernel_name", "")),
        knobs=knobs,
        device=str(data.get("device_name", "")),
        cases=(str(data["problem_size"]),) if "problem_size" in data else (),
        made="a cache file of Kernel Tuner",
    )
    return Landscape.of(header, rows)


def _cached_trial(entry: TunerEntry) -> SearchTrial:
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


def write_cache(landscape: Landscape) -> str:
    """In the layout that Kernel Tuner takes for a closed cache."""
    names = landscape.header.names
    head = {
        "device_name": landscape.header.device,
        "kernel_name": landscape.header.kernel,
        "problem_size": [1],
        "tune_params_keys": names,
        "tune_params": {knob.name: list(knob.values) for knob in landscape.header.knobs},
        "objective": "time",
    }
    rows = []
    for row in landscape.rows():
        entry: dict[str, object] = {**dict(zip(names, row.values, strict=True)), **row.facts}
        failure = row.trial.failure
        if failure is None:
            entry["time"] = (row.trial.time_us or 0.0) / US_PER_MS
        else:
            error = NAMES[failure]
            entry |= {"time": error, "__error__": error, OWN: str(failure)}
        rows.append(f"{json.dumps(','.join(map(str, row.values)))}: {json.dumps(entry)}")
    entries = ",\n".join(rows)
    return f'{json.dumps(head, indent=0)[:-2]},\n"cache": {{\n{entries}}}\n}}'


def read_t4(path: Path) -> Landscape:
    """Raises LandscapeError, which names the result."""
    data = _read_json(path, read_text(path))
    if not isinstance(data.get("results"), list):
        raise LandscapeError(f"{path}, field results: a list is accepted")
    results = list(_entries(path, "result", enumerate(data["results"], 1)))
    # All values that occur, numbers in their order.
    found: dict[str, dict[Param, None]] = {}
    for result in results:
        fields = result.fields.get("configuration")
        if not isinstance(fields, dict):
            raise result.error("configuration", fields, "an object")
        for name, value in fields.items():
            if not isinstance(value, Param):
                raise result.error(f"configuration, {name}", value, "a number, a text, a boolean")
            found.setdefault(name, {})[value] = None
    knobs = tuple(
        RecordedKnob(name, tuple(each if any(isinstance(v, str) for v in each) else sorted(each)))
        for name, each in found.items()
    )
    rows = []
    for result in results:
        point = TunerEntry(f"{result.where}, configuration", result.fields["configuration"])
        rows.append(LandscapeRow(point.values(knobs), *_t4_trial(result)))
    header = LandscapeHeader(kernel=path.name.split(".")[0], knobs=knobs, made="a T4 results file")
    return Landscape.of(header, rows)


def _t4_trial(result: TunerEntry) -> tuple[SearchTrial, dict[str, float]]:
    """How it went, and the facts of the build."""
    trial, facts = None, {}
    invalidity = result.fields.get("invalidity")
    if invalidity in INVALIDITY:
        trial = SearchTrial(failure=INVALIDITY[invalidity])
    elif invalidity != CORRECT:
        raise result.error("invalidity", invalidity, ", ".join((CORRECT, *INVALIDITY)))
    for measured in result.fields.get("measurements", ()):
        if not isinstance(measured, dict):
            raise result.error("measurements", measured, "objects")
        name, value = measured.get("name"), measured.get("value")
        if name != OBJECTIVE:
            if isinstance(value, int | float):
                facts[str(name)] = float(value)
        elif trial is None:
            unit = measured.get("unit") or "ms"
            if unit not in US_PER:
                raise result.error(f"measurements, {OBJECTIVE}, unit", unit, ", ".join(US_PER))
            trial = result.timed(f"measurements, {OBJECTIVE}", value, US_PER[unit])
    if trial is None:
        raise result.error("measurements", None, f"one with the name {OBJECTIVE}")
    return trial, facts
