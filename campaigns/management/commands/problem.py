"""`problem list|show|check|new|import`: what a kernel must compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from campaigns.devices.problem_code import described_problem, problem_notes
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.management.base_command import ExitCode, Verb, argument
from campaigns.management.new_problem import DEFINITION, NEW, NewProblem
from campaigns.problems.shipped import shipped_folders
from campaigns.steps.problems import find_problem, known_problems

T = TypeVar("T")


class Command(NewProblem):
    help = "Problems: what a kernel must compute"

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("list", "list the problems that can be chosen", self.list_known),
            Verb(
                "show",
                "show one problem as kopt reads it; runs its ref.py on its smallest case",
                self.show,
                (argument("problem", help="a problem's name or a problem folder"),),
            ),
            Verb(
                "check",
                "say what a kernel could get away with; draws the smallest case three times",
                self.check_folder,
                (argument("problem", help="a problem's name or a problem folder"),),
            ),
            Verb("new", "make a problem of a kernel and a reference", self.new, NEW),
            Verb("import", "make a problem of a definition", self.bring, DEFINITION),
        )

    def list_known(self) -> None:
        for folder in shipped_folders():
            load_problem(folder)
        specs = known_problems()
        rows = [f"{s.name:12} {s.title:20} {', '.join(sorted(s.files))}" for s in specs]
        self.emit([_facts(spec) for spec in specs], "\n".join(rows))

    def show(self, *, problem: str) -> None:
        spec, read = self._described(problem, described_problem)
        self.emit(_facts(spec) | {"read": read}, "\n".join(_lines(spec, read)))

    def check_folder(self, *, problem: str) -> None:
        spec, notes = self._described(problem, problem_notes)
        lines = [f"  note: {note}" for note in notes] or ["  nothing to note"]
        text = "\n".join([f"{spec.name}: it can be used", *lines])
        self.emit({"name": spec.name, "notes": notes}, text)

    def _described(self, problem: str, ask: Callable[[Path, Case], T]) -> tuple[ProblemSpec, T]:
        """The problem, and what its own code says of its smallest case."""
        try:
            spec = load_problem(find_problem(problem))
            return spec, ask(spec.folder, min(spec.cases, key=lambda case: case.size).case)
        except ProblemError as error:
            self.fail(ExitCode.USAGE, f"problem: {error}")


def _lines(spec: ProblemSpec, read: Mapping[str, Any]) -> list[str]:
    work, tolerance = read["work"], spec.bounds[""]
    norm = f", norm {tolerance.norm:g}" if tolerance.norm is not None else ""
    source = "counted while the reference runs" if work["counted"] else "by work() in ref.py"
    lines = [f"{spec.name}: {spec.title} ({spec.dtype})", spec.summary, "", "files"]
    lines += [
        f"  {backend:8} {' '.join((name, *spec.flags.get(backend, ())))}"
        for backend, name in sorted(spec.files.items())
    ]
    lines += ["cases"]
    lines += [f"  {c.name:16} {', '.join(c.on):10} {dict(c.params)}" for c in spec.cases]
    lines += [f"arguments in case {read['case']}, in call order"]
    lines += [f"  {arg['name']:8} {arg['role']:10} {_value(arg)}" for arg in read["arguments"]]
    lines += [f"tolerance: atol {spec.atol:g}, rtol {spec.rtol:g}{norm}"]
    lines += [
        f"least work of case {read['case']}: {work['operations']:,.0f} operations, "
        f"{work['bytes']:,.0f} bytes ({source})"
    ]
    return lines


def _value(arg: Mapping[str, Any]) -> str:
    if "value" in arg:
        return str(arg["value"])
    return f"{arg['dtype']} {' × '.join(map(str, arg['shape'])) or 'scalar'}"


def _facts(spec: ProblemSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "op": spec.op,
        "dtype": spec.dtype,
        "summary": spec.summary,
        "folder": str(spec.folder),
        "files": dict(spec.files),
        "flags": {backend: list(flags) for backend, flags in spec.flags.items()},
        "tolerance": {"atol": spec.atol, "rtol": spec.rtol},
        "cases": [
            {"name": c.name, "on": list(c.on), "params": dict(c.params), "protected": c.protected}
            for c in spec.cases
        ],
    }
