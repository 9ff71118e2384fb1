"""`problem list|show`: what a kernel must compute."""

from __future__ import annotations

from typing import Any

from campaigns.evaluator.problem import ProblemError, ProblemSpec, load_problem
from campaigns.management.base_command import Door, ExitCode, Verb, argument
from campaigns.problems.shipped import UnknownProblem, problem_folder, shipped_folders


class Command(Door):
    help = "Problems: what a kernel must compute"

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("list", "list the shipped problems", self.list_shipped),
            Verb("show", "show one problem with its cases", self.show, (argument("problem"),)),
        )

    def list_shipped(self) -> None:
        try:
            specs = [load_problem(folder) for folder in shipped_folders()]
        except ProblemError as error:
            self.fail(ExitCode.USAGE, str(error))
        rows = [f"{s.name:12} {s.title:20} {', '.join(sorted(s.files))}" for s in specs]
        self.emit([_facts(spec) for spec in specs], "\n".join(rows))

    def show(self, *, problem: str) -> None:
        try:
            spec = load_problem(problem_folder(problem))
        except UnknownProblem as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except ProblemError as error:
            self.fail(ExitCode.USAGE, str(error))
        lines = [f"{spec.name}: {spec.title} ({spec.dtype})", spec.summary, ""]
        lines += [f"  {backend:8} {name}" for backend, name in sorted(spec.files.items())]
        lines += [f"  {c.name:16} {', '.join(c.on):10} {dict(c.params)}" for c in spec.cases]
        self.emit(_facts(spec), "\n".join(lines))


def _facts(spec: ProblemSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "op": spec.op,
        "dtype": spec.dtype,
        "summary": spec.summary,
        "folder": str(spec.folder),
        "files": dict(spec.files),
        "tolerance": {"atol": spec.atol, "rtol": spec.rtol},
        "cases": [
            {"name": c.name, "on": list(c.on), "params": dict(c.params), "protected": c.protected}
            for c in spec.cases
        ],
    }
