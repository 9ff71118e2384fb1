"""Read a problem folder: `problem.toml` beside `ref.py` and the shipped v0 files.

Only the description is read here; `ref.py` is code and is loaded by the judge (reference.py).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from campaigns.evaluator.contract import Case, Param

SCHEMA = 1
DEVICE_KINDS = ("cpu", "gpu")
REFRESHES = ("setup", "shift")
# The precision that an answer has to have. tfloat32: float32 tensors whose products may be in TF32.
DTYPES = (
    *("float64", "float32", "tfloat32", "float16", "bfloat16"),
    *("int64", "int32", "int16", "int8", "uint8"),
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=,x-]{0,79}")
REQUIRED = {"name": str, "title": str, "op": str, "dtype": str}
OPTIONAL = {"schema", "summary", "refresh", "config_class", "files", "tolerance", "case"}


class ProblemError(ValueError):
    """A problem folder that can not be used; one line naming file and field."""


@dataclass(frozen=True, slots=True)
class ProblemCase:
    """One case with the device kinds it is meant for; `protected` cases may not regress (R13)."""

    name: str
    params: Mapping[str, Param]
    on: tuple[str, ...]
    protected: bool

    @property
    def case(self) -> Case:
        return Case(name=self.name, params=self.params)


@dataclass(frozen=True, slots=True)
class ProblemSpec:
    """What problem.toml says. refresh: how the judge makes each timed call's inputs new."""

    folder: Path
    name: str
    title: str
    op: str
    dtype: str
    summary: str
    refresh: str
    atol: float
    rtol: float
    files: Mapping[str, str]
    config_class: tuple[str, ...]
    cases: tuple[ProblemCase, ...]

    def cases_on(self, kind: str) -> tuple[ProblemCase, ...]:
        return tuple(case for case in self.cases if kind in case.on)


def load_problem(folder: Path) -> ProblemSpec:
    """Read and check `folder`. Raises ProblemError; touches nothing but the folder itself."""
    root = folder.resolve()
    path = root / "problem.toml"
    where = f"{root.name}/problem.toml"
    if not path.is_file():
        raise ProblemError(f"{where}: no such file; a problem folder has problem.toml and ref.py")
    try:
        data = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProblemError(f"{where}: {error}") from None
    _known(where, data, set(REQUIRED) | OPTIONAL)
    for field, kind in REQUIRED.items():
        if not isinstance(data.get(field), kind) or not data[field]:
            raise ProblemError(f"{where}: {field}: a text is needed, found {data.get(field)!r}")
    if data.get("schema") != SCHEMA:
        raise ProblemError(f"{where}: schema: {SCHEMA} is accepted, found {data.get('schema')!r}")
    _inside(root, where, "ref.py", "ref.py")
    atol, rtol = _tolerance(where, data.get("tolerance"))
    return ProblemSpec(
        folder=root,
        name=_name(where, "name", data["name"]),
        title=data["title"],
        op=data["op"],
        dtype=_one_of(where, "dtype", data["dtype"], DTYPES),
        summary=str(data.get("summary", "")),
        refresh=_one_of(where, "refresh", data.get("refresh", "setup"), REFRESHES),
        atol=atol,
        rtol=rtol,
        files=_files(root, where, data.get("files")),
        config_class=tuple(map(str, data.get("config_class", ()))),
        cases=_cases(where, data.get("case")),
    )


def _known(where: str, found: Mapping[str, Any], accepted: set[str]) -> None:
    for key in found:
        if key not in accepted:
            raise ProblemError(f"{where}: {key}: unknown; accepted: {', '.join(sorted(accepted))}")


def _one_of(where: str, field: str, value: Any, accepted: tuple[str, ...]) -> str:
    if value not in accepted:
        raise ProblemError(f"{where}: {field}: {value!r}; accepted: {', '.join(accepted)}")
    return str(value)


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


def _tolerance(where: str, value: Any) -> tuple[float, float]:
    found = value if isinstance(value, dict) else {}
    for field in ("atol", "rtol"):
        number = found.get(field)
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            raise ProblemError(f"{where}: [tolerance] {field}: a number of at least 0 is needed")
    _known(f"{where}: [tolerance]", found, {"atol", "rtol"})
    return float(found["atol"]), float(found["rtol"])


def _cases(where: str, value: Any) -> tuple[ProblemCase, ...]:
    if not isinstance(value, list) or not value:
        raise ProblemError(f"{where}: [[case]]: at least one case is needed")
    cases = tuple(_case(f"{where}: [[case]] {i}", item) for i, item in enumerate(value, 1))
    names = [case.name for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise ProblemError(f"{where}: [[case]]: the name {name!r} is used twice")
    return cases


def _case(where: str, item: Any) -> ProblemCase:
    if not isinstance(item, dict):
        raise ProblemError(f"{where}: a table is needed, found {item!r:.60}")
    _known(where, item, {"name", "on", "params", "protected"})
    params = item.get("params")
    if not isinstance(params, dict) or not params:
        raise ProblemError(f"{where}: params: a table such as {{ N = 1024 }} is needed")
    for key, param in params.items():
        if not isinstance(param, int | float | str | bool):
            raise ProblemError(f"{where}: params.{key}: {param!r} is not a number or a text")
    on = item.get("on", list(DEVICE_KINDS))
    if not isinstance(on, list) or not on:
        raise ProblemError(f"{where}: on: a list of {', '.join(DEVICE_KINDS)} is needed")
    return ProblemCase(
        name=_name(where, "name", item.get("name")),
        params=params,
        on=tuple(_one_of(where, "on", kind, DEVICE_KINDS) for kind in on),
        protected=bool(item.get("protected", True)),
    )
