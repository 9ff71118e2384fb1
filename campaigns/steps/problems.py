"""Problems: bring one in, find one by its name, write one into files, its floors on a device."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import OuterRef, Subquery

from campaigns.devices.problem_code import work_model
from campaigns.devices.processes import tempdir
from campaigns.evaluator import contract
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.problem_words import NAME
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
from knowledge.models import Project, ProjectWork, WorkKind, project_of
from knowledge.models.project import eyes_of_project
from knowledge.models.sight import seeing


def materialise(problem: Problem, parent: Path) -> Path:
    """Write the problem's files into `parent/<slug>` and return that folder. Raises OSError."""
    return write_files(problem.files, parent / problem.slug)


def write_files(files: Mapping[str, str], folder: Path) -> Path:
    """Write a problem's files into this folder, and return it. Raises OSError."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def import_problem(folder: Path, project: Project | None = None, by: Any = None) -> Problem:
    """Store `folder` whole and return its row. Raises ProblemError; then nothing was stored.

    project: whose members alone see it where it is new. The same files may belong to a project that
    is not seen here.
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
                # What comes with kopt is everybody's, whoever uses it first.
                if project and read.digest not in {one.digest for one in _shipped(read.slug)}:
                    refuse_shipped(read.slug)
                    put_into(project, WorkKind.PROBLEM, problem.pk, by)
    except IntegrityError:
        taken = f"problem.toml: name: {read.slug!r} is taken; accepted: another"
        raise ProblemError(taken) from None
    return problem


def keep_problem(files: Mapping[str, str], project: str = "", by: Any = None) -> Problem:
    """Store a new revision, or find the same one. Raises ProblemError, OSError.

    project: whose members alone see it; "": everybody, unless the name is in a project of theirs.
    by: the user; None is a command.
    """
    with tempdir("problem") as place, transaction.atomic():
        folder = written_files(files, place)
        name = load_problem(folder).name
        refuse_shipped(name)
        try:
            wanted = named_project(project, by)
        except CurationError as error:
            raise ProblemError(str(error)) from None
        there = [] if wanted else [*filter(None, places_of(name, by))]
        if there:
            accepted = f"{', '.join(there)}, or another name"
            raise ProblemError(f"project: {name!r} is in {there[0]}; accepted: {accepted}")
        problem = import_problem(folder, wanted, by)
        own = project_of(WorkKind.PROBLEM, problem.pk)
        if own != wanted:
            raise ProblemError(f"project: {name!r} is seen by {own or 'everybody'}; name another")
    return problem


def refuse_shipped(name: str) -> None:
    """Raise ProblemError where a problem that comes with kopt has this name, in any case."""
    if any(spec.name.casefold() == name.casefold() for spec in shipped_problems()):
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
    return write_files(files, folder)


@dataclass(frozen=True, slots=True)
class KnownProblem:
    """A problem that can be chosen.

    name: what finds it: its own, or `name@digest` of an older revision and where several projects
    that are seen have the name. project: the name of that whose members alone see it; "" for
    everybody's.
    """

    name: str
    spec: ProblemSpec
    project: str


# A version's project, "" for everybody's, and its row; a shipped one's need not be stored.
Version = tuple[str, Problem]


def find_problem(name: str, by: Any = None, project: str = "") -> KnownProblem:
    """The problem that this user means by a name, or by `name@digest`.

    The project that is chosen goes first, then those that the user is a member of. What the user
    does not see does not exist. by: None is a command. Raises UnknownProblem, which lists what is
    accepted, and ProblemError where the name has several meanings.
    """
    slug, is_exact, digest = name.partition("@")
    versions = _versions(slug) if NAME.fullmatch(slug) else []
    homes = _newest(versions)
    if is_exact:
        # A shipped one may be stored as well.
        fits = {row.digest: (home, row) for home, row in reversed(versions)}
        found = [one for key, one in fits.items() if key.startswith(digest)]
    else:
        found = [(home, homes[home]) for home in _meant(homes, by, project)]
    if not found:
        known = ", ".join(one.name for one in known_problems())
        raise UnknownProblem(f"problem: {name!r}; accepted: {known}")
    if len(found) > 1:
        forms = (
            f"{f'{slug}@{row.digest}' if is_exact else row} "
            f"({f'project {home}' if home else 'seen by everybody'})"
            for home, row in found
        )
        raise ProblemError(f"problem: {name!r} is ambiguous; accepted: {', '.join(forms)}")
    return _known(*found[0], homes)


def problem_here(name: str, project: str = "") -> ProblemSpec:
    """What a command means: as `find_problem`, or a folder, which a shipped name goes before."""
    if Path(name).is_dir() and not _shipped(name):
        return load_problem(Path(name))
    try:
        return find_problem(name, project=project).spec
    except UnknownProblem as error:
        raise UnknownProblem(f"{error}, or a problem folder") from None


def public_problem(name: str) -> ProblemSpec:
    """What everybody means by the name. Raises as `find_problem`."""
    with seeing(eyes_of_project(None)):
        return find_problem(name).spec


def known_problems() -> tuple[KnownProblem, ...]:
    """The newest of each name and project, shipped ones first.

    One whose files are no problem any more is left out.
    """
    versions = defaultdict(list)
    for version in _versions():
        versions[version[1].slug].append(version)
    found = []
    for homes in map(_newest, versions.values()):
        for home, row in homes.items():
            with contextlib.suppress(ProblemError):
                found.append(_known(home, row, homes))
    return tuple(found)


def places_of(name: str, by: Any) -> list[str]:
    """The projects in which this user means a problem by the name, "" for everybody's."""
    return _meant(_newest(_versions(name)), by, "")


def other_versions(problem: Problem) -> list[Problem]:
    """The stored revisions of the same problem, which are where it is; the newest first."""
    own = project_of(WorkKind.PROBLEM, problem.pk) if problem.pk else None
    versions = (row for home, row in _versions(problem.slug) if home == str(own or "") and row.pk)
    return [row for row in versions if row.pk != problem.pk]


def _shipped(name: str = "") -> list[Problem]:
    return [_read(spec.folder) for spec in shipped_problems() if name in ("", spec.name)]


@cache
def _read(shipped: Path) -> Problem:
    return read_problem(shipped)[0]


def _versions(name: str = "") -> list[Version]:
    """All that are seen: shipped ones, then the newest of a name first. Needs no database."""
    works = ProjectWork.objects.filter(kind=WorkKind.PROBLEM, key=OuterRef("pk"))
    rows = Problem.objects.annotate(home=Subquery(works.values("project__name"))).defer("files")
    rows = rows.filter(slug=name) if name else rows
    found: list[Version] = [("", row) for row in _shipped(name)]
    with contextlib.suppress(DatabaseError):
        found += [(row.home or "", row) for row in rows.order_by("slug", "-created_at", "-pk")]
    return found


def _newest(versions: Iterable[Version]) -> dict[str, Problem]:
    """Project → its newest version of a name, a shipped one before any other."""
    found: dict[str, Problem] = {}
    for home, row in versions:
        found.setdefault(home, row)
    return found


def _meant(homes: Iterable[str], by: Any, project: str) -> list[str]:
    """The one of these projects that a user means."""
    if project and project in homes:
        return [project]
    own = set(by.projects.values_list("name", flat=True)) if by else set()
    return [home for home in homes if home in own] or [*homes]


def _known(home: str, row: Problem, homes: Mapping[str, Problem]) -> KnownProblem:
    is_only = len(homes) == 1 and row == homes[home]
    folder = _folder_of(row) if row.pk else problem_folder(row.slug)
    return KnownProblem(row.slug if is_only else str(row), load_problem(folder), home)


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
