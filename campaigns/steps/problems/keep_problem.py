"""Files of a problem that somebody brings become a row, once they are a problem's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from campaigns.evaluator.problem import ProblemError, load_problem
from campaigns.models import Problem
from campaigns.problems.shipped import shipped_problems
from campaigns.steps.problems.import_problem import import_problem
from campaigns.workers.tempdirs import tempdir


def keep_problem(files: Mapping[str, str]) -> Problem:
    """Store a new revision, or find the same one. Raises ProblemError, OSError."""
    with tempdir("problem") as place:
        folder = written_files(files, place)
        refuse_shipped(load_problem(folder).name)
        return import_problem(folder)


def refuse_shipped(name: str) -> None:
    """Raise ProblemError where a problem that comes with kopt has this name."""
    if any(spec.name == name for spec in shipped_problems()):
        raise ProblemError(
            f"problem.toml: name: {name!r} is a shipped problem's; accepted: another name"
        )


def written_files(files: Mapping[str, str], place: Path) -> Path:
    """Write a problem's files into a new folder in `place`. Raises ProblemError, OSError."""
    folder = place / "problem"
    folder.mkdir()
    for name, text in files.items():
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise ProblemError(f"{name}: leaves the problem folder")
        path = folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
