"""T4 results, the common format of several tuners, in and out (schema version 1.0.0).

It names neither kernel nor device, and no values but those that occur.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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

MEASURED = "correct"
INVALIDITY = {
    "timeout": TrialFailure.TIMED_OUT,
    "compile": TrialFailure.BUILD_FAILED,
    "runtime": TrialFailure.CRASHED,
    "correctness": TrialFailure.WRONG,
    "constraints": TrialFailure.PRUNED,
}
NAMES = {failure: name for name, failure in INVALIDITY.items()}
OBJECTIVE = "time"
US_PER = {"us": 1.0, "µs": 1.0, "microseconds": 1.0, "ms": 1e3, "milliseconds": 1e3, "s": 1e6}


def read_t4(path: Path) -> Landscape:
    """Raises LandscapeError, which names the result."""
    data = read_json(path, read_text(path))
    if not isinstance(data.get("results"), list):
        raise LandscapeError(f"{path}, field results: a list is accepted")
    results = list(objects_in(path, "result", enumerate(data["results"], 1)))
    points = [_configuration(each) for each in results]
    knobs = _knobs(points)
    rows = [
        LandscapeRow(point.values(knobs), _trial(result), _facts(result))
        for result, point in zip(results, points, strict=True)
    ]
    header = LandscapeHeader(kernel=path.name.split(".")[0], knobs=knobs, made="a T4 results file")
    return Landscape.of(header, rows)


def write_t4(landscape: Landscape) -> str:
    names = [knob.name for knob in landscape.header.knobs]
    results = [_result(names, row) for row in landscape.rows()]
    data = {"schema_version": "1.0.0", "metadata": {"timeunit": "us"}, "results": results}
    return json.dumps(data, indent=1)


def _result(names: Sequence[str], row: LandscapeRow) -> dict[str, object]:
    measured = [{"name": name, "value": value, "unit": ""} for name, value in row.facts.items()]
    failure, time_us = row.trial.failure, row.trial.time_us
    if time_us is not None:
        measured.append({"name": OBJECTIVE, "value": time_us, "unit": "us"})
    return {
        "configuration": dict(zip(names, row.values, strict=True)),
        "times": {"runtimes": []},
        "invalidity": NAMES[failure] if failure else MEASURED,
        "correctness": 0 if failure is TrialFailure.WRONG else 1,
        "measurements": measured,
        "objectives": [OBJECTIVE],
    }


def _configuration(result: TunerEntry) -> TunerEntry:
    fields = result.fields.get("configuration")
    if not isinstance(fields, dict):
        raise result.error("configuration", fields, "an object")
    for name, value in fields.items():
        if not isinstance(value, Param):
            raise result.error(f"configuration, {name}", value, "a number, a text, a boolean")
    return TunerEntry(f"{result.where}, configuration", fields)


def _knobs(points: Sequence[TunerEntry]) -> tuple[RecordedKnob, ...]:
    """All values that occur, numbers in their order."""
    found: dict[str, dict[Param, None]] = {}
    for point in points:
        for name, value in point.fields.items():
            found.setdefault(name, {})[value] = None
    return tuple(RecordedKnob(name, tuple(_ordered(list(found[name])))) for name in found)


def _ordered(values: list[Param]) -> list[Param]:
    return values if any(isinstance(v, str) for v in values) else sorted(values, key=float)


def _trial(result: TunerEntry) -> SearchTrial:
    invalidity = result.fields.get("invalidity")
    if invalidity in INVALIDITY:
        return SearchTrial(failure=INVALIDITY[invalidity])
    if invalidity != MEASURED:
        raise result.error("invalidity", invalidity, ", ".join((MEASURED, *INVALIDITY)))
    for measured in _measurements(result):
        if measured.get("name") == OBJECTIVE:
            unit = measured.get("unit") or "ms"
            if unit not in US_PER:
                raise result.error(f"measurements, {OBJECTIVE}, unit", unit, ", ".join(US_PER))
            return result.timed(f"measurements, {OBJECTIVE}", measured.get("value"), US_PER[unit])
    raise result.error("measurements", None, f"one with the name {OBJECTIVE}")


def _facts(result: TunerEntry) -> dict[str, float]:
    return {
        str(measured.get("name")): float(measured["value"])
        for measured in _measurements(result)
        if measured.get("name") != OBJECTIVE and isinstance(measured.get("value"), int | float)
    }


def _measurements(result: TunerEntry) -> Iterator[Mapping[str, Any]]:
    for measured in result.fields.get("measurements", ()):
        if not isinstance(measured, dict):
            raise result.error("measurements", measured, "objects")
        yield measured
