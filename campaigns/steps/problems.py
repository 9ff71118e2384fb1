"""Problems: bring one in, find one by its name, write one into files, its floors on a device."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction

from campaigns.devices.problem_code import work_model
from campaigns.devices.processes import tempdir
from campaigns.evaluator import contract
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.models import Case, Problem
from campaigns.problems.shipped import UnknownProblem, problem_folder, shipped_problems
from campaigns.records.problem_rows import read_problem
from campaigns.rules.target.ceilings import CampaignTarget, CaseTarget, Disputed
from campaigns.rules.target.roofline import Floor
from knowledge.curation.errors import CurationError
from knowledge.curation.projects import named_project, put_into
from knowledge.lookup.value import (
    bandwidth_ceilings,
    compute_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
    platform_for_device,
)
from knowledge.models import WorkKind, project_of


def materialise(problem: Problem, parent: Path) -> Path:
    """Write the problem's files into `parent/<slug>` and return that folder. Raises OSError."""
    return _write(problem.files, parent / problem.slug)


def _write(files: Mapping[str, str], folder: Path) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def import_problem(folder: Path) -> Problem:
    """Store `folder` whole and return its row. Raises ProblemError; then nothing was stored.

    The same files may belong to a project that is not seen here.
    """
    read, cases = read_problem(folder)
    stored = {field.name: getattr(read, field.name) for field in Problem._meta.concrete_fields}
    key = {"slug": stored.pop("slug"), "digest": stored.pop("digest")}
    del stored["id"]
    try:
        with transaction.atomic():
            problem, created = Problem.objects.get_or_create(**key, defaults=stored)
            if created:
                for case in cases:
                    case.problem = problem
                Case.objects.bulk_create(cases)
    except IntegrityError:
        taken = f"problem.toml: name: {read.slug!r} is taken; accepted: another"
        raise ProblemError(taken) from None
    return problem


def keep_problem(files: Mapping[str, str], project: str = "", by: Any = None) -> Problem:
    """Store a new revision, or find the same one. Raises ProblemError, OSError.

    project: whose members alone see it; a revision is where the one before it is. by: the user.
    """
    with tempdir("problem") as place, transaction.atomic():
        folder = written_files(files, place)
        name = load_problem(folder).name
        refuse_shipped(name)
        before = Problem.objects.filter(slug=name).order_by("created_at", "pk").last()
        problem = import_problem(folder)
        try:
            wanted = named_project(project, by)
        except CurationError as error:
            raise ProblemError(str(error)) from None
        own = project_of(WorkKind.PROBLEM, before.pk) if before else wanted
        if wanted and own != wanted:
            raise ProblemError(f"project: {name!r} is seen by {own or 'everybody'}; name another")
        put_into(own, WorkKind.PROBLEM, problem.pk, by)
    return problem


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
    for name in files:
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise ProblemError(f"{name}: leaves the problem folder")
    return _write(files, folder)


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


Floors = tuple[dict[str, Floor], dict[str, Floor]]


def floors_here(name: str, spec: ProblemSpec, cases: Sequence[contract.Case]) -> Floors:
    """The physical floors of a problem of no campaign, and those of lesser precisions (law 6).

    On the platform of that device name, as cited now.

    Empty where the platform or its ceilings are unknown, or there is no database. Runs the
    problem's code; raises ProblemError.
    """
    try:
        platform = platform_for_device(name)
        if platform is None:
            return {}, {}
        bandwidths = bandwidth_ceilings(platform)
        computes = compute_ceilings(platform, spec.dtype, accumulate=spec.accumulate)
        if not bandwidths and not computes:
            return {}, {}
        target = CampaignTarget(
            bandwidths=tuple(bandwidths),
            computes=tuple(computes),
            disputed=Disputed(
                tuple(higher_rivals(platform, bandwidths)), tuple(higher_rivals(platform, computes))
            ),
            lessers=tuple(lesser_ceilings(platform, spec.dtype)),
            busy=host_busy_share(platform),
        )
    except DatabaseError:
        return {}, {}
    works = work_model(spec.folder, cases)
    known = {case: CaseTarget(flops, moved) for case, (flops, moved) in works.items()}
    target = replace(target, cases=known)
    return target.floors, target.lesser_floors
