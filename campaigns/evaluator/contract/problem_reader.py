"""Read a problem folder: `problem.toml` beside `ref.py` and the shipped v0 files.

Only the description is read here; `ref.py` is code, and is loaded in a box of its own.
"""

from __future__ import annotations

import ast
import base64
import errno
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any

from campaigns.evaluator.contract.problem import (
    ACCUMULATES,
    ALIGN,
    USUAL_SETS,
    Bounds,
    CheckSpec,
    ProblemCase,
    ProblemError,
    ProblemSpec,
)
from campaigns.evaluator.contract.problem_words import (
    ALIGNMENTS,
    BITS,
    CASE_KINDS,
    CHECKS,
    DEVICE_KINDS,
    DIRECTIONS,
    DISTRIBUTIONS,
    DTYPES,
    GROUPED_WORDS,
    MOST_STEPS,
    NAME,
    OF_A_CASE,
    OPTIONAL,
    PARAM,
    REFRESHES,
    REQUIRED,
    SCHEMA,
    SETS,
    TOLERANCES,
    distribution_of,
    is_grouped,
    missing,
)
from campaigns.evaluator.contract.programs import TUNING, is_tuning

# Of a problem's folder; what is larger holds more than a description and code.
MOST_FILES_BYTES = 32 << 20
# As `load_problem` names a place: `problem.toml: [[case]] 2: params: …`.
PLACE = re.compile(r"(?:[^:]*/)?problem\.toml: (?:(\[+[\w.]+\]+)(?: (\d+))?:? ?)?(\w+)?")


def load_problem(folder: Path) -> ProblemSpec:
    """Read and check `folder`. Raises ProblemError; touches nothing but the folder itself."""
    root = folder.resolve()
    path = root / "problem.toml"
    where = f"{root.name}/problem.toml"
    if not path.is_file():
        raise ProblemError(f"{where}: no such file; a problem folder has problem.toml and ref.py")
    try:
        text = path.read_text()
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProblemError(f"{where}: {error}") from None
    try:
        return _spec(root, where, data)
    except ProblemError as error:
        raise ProblemError(with_line(f"{error}", text)) from None


def _spec(root: Path, where: str, data: dict[str, Any]) -> ProblemSpec:
    _known(where, data, set(REQUIRED) | OPTIONAL)
    for name, kind in REQUIRED.items():
        if not isinstance(data.get(name), kind) or not data[name]:
            raise ProblemError(f"{where}: {name}: a text is needed, found {data.get(name)!r}")
    if data.get("schema") != SCHEMA:
        raise ProblemError(f"{where}: schema: {SCHEMA} is accepted, found {data.get('schema')!r}")
    _inside(root, where, "ref.py", "ref.py")
    bounds = _tolerance(where, data.get("tolerance"))
    cases = _cases(where, data.get("case"))
    _try_distributions(where, data, cases)
    return ProblemSpec(
        folder=root,
        name=_name(where, "name", data["name"]),
        title=data["title"],
        op=data["op"],
        dtype=_one_of(where, "dtype", data["dtype"], DTYPES),
        summary=str(data.get("summary", "")),
        refresh=_one_of(where, "refresh", data.get("refresh", "setup"), REFRESHES),
        atol=bounds[""].atol or 0.0,
        rtol=bounds[""].rtol or 0.0,
        files=_files(root, where, data.get("files")),
        config_class=tuple(map(str, data.get("config_class", ()))),
        cases=cases,
        representative=_representative(where, data.get("representative", []), cases),
        accumulate=_accumulate(where, data),
        bounds=bounds,
        check=_check(where, data.get("check", {}), cases),
        weights=_weights(where, data.get("weights", [])),
        flags=_flags(where, data.get("flags", {}), data["files"]),
        call_of_library=_library(where, data.get("library", "")),
    )


def _known(where: str, found: Mapping[str, Any], accepted: set[str]) -> None:
    for key in found:
        if key not in accepted:
            raise ProblemError(f"{where}: {key}: unknown; accepted: {', '.join(sorted(accepted))}")


def _one_of(where: str, field: str, value: Any, accepted: tuple[str, ...]) -> str:
    if value not in accepted:
        raise ProblemError(f"{where}: {field}: {value!r}; accepted: {', '.join(accepted)}")
    return str(value)


def _accumulate(where: str, data: Mapping[str, Any]) -> str:
    found = _one_of(where, "accumulate", data.get("accumulate", ACCUMULATES[0]), ACCUMULATES)
    if found != ACCUMULATES[0] and data["dtype"] != found:
        raise ProblemError(
            f"{where}: accumulate: {found!r} of {data['dtype']}; accepted: {ACCUMULATES[0]}"
        )
    return found


def _name(where: str, field: str, value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ProblemError(f"{where}: {field}: {value!r}; letters, digits and _ . = , x - only")
    return value


def _inside(root: Path, where: str, field: str, name: Any) -> str:
    """A file name that stays inside the problem folder, links followed."""
    pure = PurePosixPath(str(name))
    if pure.is_absolute() or ".." in pure.parts or not isinstance(name, str):
        raise ProblemError(f"{where}: {field}: {name!r} leaves the problem folder")
    path = root / pure
    if not path.is_file():
        raise ProblemError(f"{where}: {field}: {name!r}: no such file in the problem folder")
    if not path.resolve().is_relative_to(root):
        raise ProblemError(f"{where}: {field}: {name!r} is a link that leaves the problem folder")
    return str(pure)


def _files(root: Path, where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ProblemError(f'{where}: [files]: name at least one, such as cpp = "v0.cpp"')
    return {
        _name(where, "[files]", backend): _inside(root, where, f"[files] {backend}", name)
        for backend, name in value.items()
    }


def _flags(where: str, value: Any, files: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ProblemError(f'{where}: [flags]: a table such as cpp = ["-fopenmp"] is needed')
    for backend, flags in value.items():
        _one_of(where, "[flags]", backend, tuple(files))
        if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
            raise ProblemError(f'{where}: [flags] {backend}: a list such as ["-fopenmp"] is needed')
        if refused := next((flag for flag in flags if not is_tuning(flag)), None):
            raise ProblemError(f"{where}: [flags] {backend}: {refused!r}; accepted: {TUNING}")
    return {backend: tuple(flags) for backend, flags in value.items()}


def _tolerance(where: str, value: Any) -> dict[str, Bounds]:
    found = value if isinstance(value, dict) else {}
    own = found.get("outputs", {})
    if not isinstance(own, dict) or not all(isinstance(item, dict) for item in own.values()):
        raise ProblemError(f"{where}: [tolerance] outputs: a table per output is needed")
    table = f"{where}: [tolerance]"
    _known(table, found, {*TOLERANCES, "outputs"})
    bounds = {"": _bounds(table, found, ("atol", "rtol"))}
    for name, item in own.items():
        table = f"{where}: [tolerance.outputs.{name}]"
        if "steps" in item or "bits" in item:
            bounds[name] = _steps(table, item)
            continue
        _known(table, item, set(TOLERANCES))
        bounds[name] = _bounds(table, item, ())
    return bounds


def _steps(where: str, found: Mapping[str, Any]) -> Bounds:
    _known(where, found, {"steps", "bits"})
    steps = found.get("steps")
    if type(steps) is not int or not 0 <= steps <= MOST_STEPS:
        raise ProblemError(
            f"{where} steps: a whole number from 0 to {MOST_STEPS} is needed, found {steps!r:.60}"
        )
    bits = _one_of(where, "bits", found["bits"], BITS) if "bits" in found else ""
    return Bounds(steps=steps, bits=bits)


def _bounds(where: str, found: Mapping[str, Any], needed: tuple[str, ...]) -> Bounds:
    numbers: dict[str, float] = {}
    for name in TOLERANCES:
        number: Any = found.get(name)
        if number is None and name not in needed:
            continue
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not 0 <= number < inf or (name == "norm" and not number):
            least = "above 0" if name == "norm" else "of at least 0"
            raise ProblemError(f"{where} {name}: a number {least} is needed, found {number!r:.60}")
        numbers[name] = float(number)
    return Bounds(numbers.get("atol"), numbers.get("rtol"), numbers.get("norm"))


def _check(where: str, value: Any, cases: tuple[ProblemCase, ...]) -> CheckSpec:
    table = f"{where}: [check]"
    if not isinstance(value, dict):
        raise ProblemError(f"{table}: a table is needed, found {value!r:.60}")
    _known(table, value, set(CHECKS))
    for name in ("sets", "free"):
        if not isinstance(value.get(name, []), list):
            raise ProblemError(f"{table} {name}: a list of names is needed")
    sets = tuple(_one_of(table, "sets", name, SETS) for name in value.get("sets", USUAL_SETS))
    align = value.get("align", ALIGN)
    if align not in ALIGNMENTS or isinstance(align, bool):
        listed = ", ".join(map(str, ALIGNMENTS))
        raise ProblemError(f"{table} align: {align!r}; accepted: {listed}")
    # An unknown name would switch off the hidden sizes unnoticed.
    known = tuple(dict.fromkeys(name for case in cases for name in case.params))
    free = tuple(_one_of(table, "free", name, known) for name in value.get("free", ()))
    return CheckSpec(sets, "sets" in value, free if "free" in value else None, align)


def _library(where: str, value: Any) -> str:
    """One expression; what it does is judged like any candidate's code."""
    if value == "":
        return ""
    try:
        if isinstance(value, str) and isinstance(ast.parse(value, mode="eval").body, ast.Call):
            return value
    except (SyntaxError, ValueError):
        pass
    raise ProblemError(
        f"{where}: library: {value!r:.80}; accepted: a call such as torch.mm(A, B, out=C)"
    )


def _weights(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ProblemError(f"{where}: weights: a list of names of inputs is needed")
    return tuple(value)


def _cases(where: str, value: Any) -> tuple[ProblemCase, ...]:
    if not isinstance(value, list) or not value:
        raise ProblemError(f"{where}: [[case]]: at least one case is needed")
    cases = tuple(_case(f"{where}: [[case]] {i}", item) for i, item in enumerate(value, 1))
    names = [case.name for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise ProblemError(f"{where}: [[case]]: the name {name!r} is used twice")
    _require_halves(where, cases)
    return cases


def _representative(where: str, value: Any, cases: tuple[ProblemCase, ...]) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ProblemError(
            f"{where}: representative: a list of names is needed, found {value!r:.60}"
        )
    names = tuple(case.name for case in cases)
    return tuple(_one_of(where, "representative", name, names) for name in value)


def _try_distributions(where: str, data: Mapping[str, Any], cases: tuple[ProblemCase, ...]) -> None:
    """A grouped operator is tried on every distribution, on each kind of device (R22)."""
    declared = data.get("grouped", False)
    if not isinstance(declared, bool):
        raise ProblemError(f"{where}: grouped: true or false is needed, found {declared!r:.60}")
    if not is_grouped(data["op"], declared):
        return
    for kind in DEVICE_KINDS:
        own = [case for case in cases if kind in case.on]
        lacking = missing(distribution_of(case.params) for case in own)
        if own and lacking:
            raise ProblemError(
                f"{where}: [[case]]: op {data['op']!r} is grouped, and no case on {kind} has "
                f"{PARAM} {', '.join(map(repr, lacking))}; needed: {', '.join(DISTRIBUTIONS)}, "
                f'each as {PARAM} = "…" of a [[case]], '
                f"or an op without {', '.join(sorted(GROUPED_WORDS))}"
            )


def _case(where: str, item: Any) -> ProblemCase:
    if not isinstance(item, dict):
        raise ProblemError(f"{where}: a table is needed, found {item!r:.60}")
    _known(where, item, set(OF_A_CASE))
    params = item.get("params")
    if not isinstance(params, dict) or not params:
        raise ProblemError(f"{where}: params: a table such as {{ N = 1024 }} is needed")
    for key, param in params.items():
        if not isinstance(param, int | float | str | bool):
            raise ProblemError(f"{where}: params.{key}: {param!r} is not a number or a text")
    if PARAM in params:
        raise ProblemError(f"{where}: params.{PARAM}: accepted: {PARAM} beside params")
    if PARAM in item:
        name = _one_of(where, PARAM, item[PARAM], DISTRIBUTIONS)
        params = {**params, PARAM: name}
    on = item.get("on", list(DEVICE_KINDS))
    if not isinstance(on, list) or not on:
        raise ProblemError(f"{where}: on: a list of {', '.join(CASE_KINDS)} is needed")
    return ProblemCase(
        name=_name(where, "name", item.get("name")),
        params=params,
        on=tuple(_one_of(where, "on", kind, CASE_KINDS) for kind in on),
        protected=bool(item.get("protected", True)),
        step=_name(where, "step", item["step"]) if "step" in item else "",
        direction=_direction(where, item),
    )


def _direction(where: str, item: Mapping[str, Any]) -> str:
    if ("step" in item) != ("direction" in item):
        raise ProblemError(f"{where}: step, direction: both or neither are needed")
    if "direction" not in item:
        return ""
    return _one_of(where, "direction", item["direction"], DIRECTIONS)


def _require_halves(where: str, cases: tuple[ProblemCase, ...]) -> None:
    """A step has each direction once, on the same kinds of device."""
    for step in {case.step for case in cases if case.step}:
        halves = [case for case in cases if case.step == step]
        if sorted(case.direction for case in halves) != sorted(DIRECTIONS):
            listed = " and one ".join(DIRECTIONS)
            raise ProblemError(f"{where}: [[case]]: step {step!r}: one {listed} case are needed")
        if halves[0].on != halves[1].on:
            raise ProblemError(f"{where}: [[case]]: step {step!r}: on: the same in both directions")


def with_line(message: str, text: str) -> str:
    """The message with the line of the key or the table that it names, where `text` has it."""
    found = PLACE.match(message)
    if found is None:
        return message
    table, number, key = found.groups()
    lines = text.splitlines()
    first = 0
    if table:
        heads = [place for place, line in enumerate(lines, 1) if line.strip() == table]
        if len(heads) < int(number or 1):
            return message
        first = heads[int(number or 1) - 1]
    line = _line_of(key, lines, first) or first
    return message.replace("problem.toml:", f"problem.toml, line {line}:", 1) if line else message


def _line_of(key: str | None, lines: list[str], first: int) -> int:
    """The line of a key of the table that begins after line `first`; 0 where it has none."""
    for place, line in enumerate(lines[first:], first + 1):
        if line.lstrip().startswith("["):
            break
        if key and re.match(rf"\s*{key}\s*=", line):
            return place
    return 0


def problem_files(folder: Path) -> dict[str, str]:
    """The files of a problem by their paths in its folder, as base64. Raises OSError."""
    found, left = {}, MOST_FILES_BYTES
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or "__pycache__" in path.parts:
            continue
        left -= path.stat().st_size
        if left < 0:
            words = f"over {MOST_FILES_BYTES >> 20} MiB of files"
            raise OSError(errno.EFBIG, words, folder.name)
        found[str(path.relative_to(folder))] = base64.b64encode(path.read_bytes()).decode()
    return found


@dataclass(frozen=True, slots=True)
class ProblemOrder:
    """what: "works", "described", "built" or "compiled". files: of the problem, as base64.

    shipped: whether it came with kopt. kernels: to be built, backend → file name, for `arguments`
    as "described" gives them. target: what Inductor writes Triton for; "" is C++.
    """

    what: str
    folder: str
    files: Mapping[str, str]
    cases: tuple[Mapping[str, Any], ...]
    shipped: bool
    limit_s: float
    kernels: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[Mapping[str, Any], ...] = ()
    target: str = ""
