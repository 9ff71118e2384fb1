"""Jobs and reports as the JSON files that cross the border."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract.job import SCHEMA, Job, Protocol, Source
from campaigns.evaluator.contract.reading import ContractError, T, build
from campaigns.evaluator.contract.report import MachineCode, Profile, Report, Sanitized
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult, VariantOrder


def dump(value: Job | Report) -> str:
    """Serialise to JSON; non-finite floats are refused because JSON has none."""
    return json.dumps(asdict(value), default=str, allow_nan=False, indent=1)


def dump_line(value: VariantOrder | BuildResult | ScreenResult | Source) -> str:
    """Serialise to JSON in one line."""
    return json.dumps(asdict(value), default=str, allow_nan=False)


def load_line(kind: type[T], line: str) -> T:
    """Read what `dump_line` wrote. Raises ContractError naming the field."""
    return build(kind, json.loads(line, parse_constant=_refuse_constant), "")


def load_job(text: str) -> Job:
    """Read a job file. Raises ContractError naming the field."""
    return _load(Job, text)


def load_report(text: str) -> Report:
    """Read a report file. Raises ContractError naming the field."""
    return _load(Report, text)


def load_sanitized(text: str) -> tuple[Sanitized, ...]:
    """Read what `json.dumps` made of such values. Raises ContractError naming the field."""
    found = json.loads(text)
    return tuple(build(Sanitized, each, f"sanitized[{i}]") for i, each in enumerate(found))


def load_machine_code(text: str) -> MachineCode:
    """Read what `json.dumps` made of one. Raises ContractError naming the field."""
    return build(MachineCode, json.loads(text), "machine_code")


def load_profile(text: str) -> Profile:
    """The same of a profile. Raises ContractError naming the field."""
    return build(Profile, json.loads(text), "profile")


def protocol_from(value: Mapping[str, Any]) -> Protocol:
    """Rebuild a stored protocol. Raises ContractError naming the field."""
    return build(Protocol, value, "protocol")


def _load(kind: type[T], text: str) -> T:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ContractError(f"line {error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else type(value).__name__
        raise ContractError(f"schema: found {found!r}, this version reads {SCHEMA}")
    return build(kind, value, "")


def _refuse_constant(name: str) -> Any:
    """Python reads NaN and Infinity, which JSON has not, and which compare as no time does."""
    raise ContractError(f"{name}: accepted: finite numbers")


def keep_whole(place: Path, files: Mapping[str, bytes]) -> None:
    """Write the files by name; what another process has made meanwhile stays. Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
    try:
        for name, data in files.items():
            (made / name).write_bytes(data)
        made.rename(place)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not place.is_dir():
            raise
