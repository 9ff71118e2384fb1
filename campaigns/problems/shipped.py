"""The problems that come with kopt, and how a problem is named: by its name or by its folder."""

from __future__ import annotations

from pathlib import Path

from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem

SHIPPED = Path(__file__).resolve().parent


class UnknownProblem(LookupError):
    """No shipped problem and no folder of that name; the message lists what is accepted."""


def shipped_folders() -> list[Path]:
    """The shipped problem folders, sorted by name."""
    return sorted(path.parent for path in SHIPPED.glob("*/problem.toml"))


def shipped_problems() -> tuple[ProblemSpec, ...]:
    """The shipped problems that can be read, sorted by name."""
    found = []
    for folder in shipped_folders():
        try:
            found.append(load_problem(folder))
        except ProblemError:
            # A folder that is still being written; `problem list` names what is wrong with it.
            continue
    return tuple(found)


def problem_folder(name: str) -> Path:
    """Find a problem by shipped name, else as a folder. Raises UnknownProblem."""
    named = SHIPPED / name
    if name.isidentifier() and (named / "problem.toml").is_file():
        return named
    folder = Path(name)
    if folder.is_dir():
        return folder
    known = ", ".join(path.name for path in shipped_folders())
    raise UnknownProblem(f"problem: {name!r}; accepted: {known}, or a problem folder")


def is_shipped(folder: Path) -> bool:
    """Whether the code of the problem in `folder` is that of a problem that comes with kopt."""
    ours = SHIPPED / folder.name / "ref.py"
    try:
        return ours.read_bytes() == (folder / "ref.py").read_bytes()
    except OSError:
        return False
