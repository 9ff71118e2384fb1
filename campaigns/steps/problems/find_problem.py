"""The problems that can be chosen: the shipped ones, and the last revision of each brought one."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from campaigns.evaluator.problem import ProblemError, ProblemSpec, load_problem
from campaigns.models import Problem
from campaigns.problems.shipped import UnknownProblem, problem_folder, shipped_problems
from campaigns.steps.measuring.materialise import materialise


def find_problem(name: str) -> Path:
    """The folder of a problem: a shipped one's name, a brought one's, or a folder's own path.

    Raises UnknownProblem, which lists what is accepted.
    """
    try:
        return problem_folder(name)
    except UnknownProblem:
        own = next((problem for problem in _brought() if problem.slug == name), None)
        if own is not None:
            return _folder_of(own)
        known = ", ".join(spec.name for spec in known_problems())
        raise UnknownProblem(f"problem: {name!r}; accepted: {known}, or a problem folder") from None


def known_problems() -> tuple[ProblemSpec, ...]:
    """Shipped ones first; one whose files are no problem any more is left out."""
    found = list(shipped_problems())
    seen = {spec.name for spec in found}
    for problem in _brought():
        if problem.slug not in seen:
            seen.add(problem.slug)
            with contextlib.suppress(ProblemError):
                found.append(load_problem(_folder_of(problem)))
    return tuple(found)


def _brought() -> list[Problem]:
    """Every stored revision, the newest of each first; none without a database.

    A shipped problem's are among them: it is known by its folder before it is looked for here.
    """
    found = Problem.objects.defer("files")
    try:
        return list(found.order_by("slug", "-created_at", "-pk"))
    except DatabaseError:
        return []


def _folder_of(problem: Problem) -> Path:
    """Its files as a folder, which is there whole or not at all. Raises OSError."""
    place = Path(settings.DATA_DIR) / "problems" / problem.digest[:32]
    folder = place / problem.slug
    if not folder.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
        materialise(problem, made)
        try:
            made.rename(place)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            if not folder.is_dir():
                raise
    return folder
