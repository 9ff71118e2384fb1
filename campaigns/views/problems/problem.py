"""A problem's page: its cases with their classes, tolerance, reference and v0 sources, as stored.

A campaign keeps the version that it was created with; by its name a problem is shown as it is now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from campaigns.evaluator.problem import ProblemError
from campaigns.models import Campaign, Case, Problem
from campaigns.records.problem_rows import read_problem
from campaigns.reports.diff import highlighted
from campaigns.steps.problems import known_problems

CAMPAIGNS_SHOWN = 20
DESCRIPTION, REFERENCE = "problem.toml", "ref.py"


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case. config_class: the values that name its class; empty where all are one class."""

    case: Case
    params: dict[str, object]
    config_class: str
    stands_for_others: bool


@dataclass(frozen=True, slots=True)
class File:
    """One file of the problem. role: what it is for."""

    name: str
    role: str
    lines: list[SafeString]


@require_safe
def problem(request: HttpRequest, problem_id: int) -> HttpResponse:
    """The version that campaigns were created with."""
    found = get_object_or_404(Problem, pk=problem_id)
    can_start = any(spec.name == found.slug for spec in known_problems())
    return _page(request, found, found.cases.all(), can_start=can_start)


@require_safe
def problem_by_name(request: HttpRequest, name: str) -> HttpResponse:
    """A problem as it is now, shipped or brought; no campaign needs to have it."""
    spec = next((one for one in known_problems() if one.name == name), None)
    if spec is None:
        raise Http404(f"problem: {name!r} is not known")
    try:
        read, cases = read_problem(spec.folder)
    except ProblemError as error:
        raise Http404(str(error)) from error
    stored = Problem.objects.filter(slug=read.slug, digest=read.digest).first()
    return _page(request, stored or read, cases, can_start=True)


def _page(
    request: HttpRequest, found: Problem, cases: Iterable[Case], *, can_start: bool
) -> HttpResponse:
    campaigns = Campaign.objects.filter(problem=found.pk) if found.pk else Campaign.objects.none()
    context = {
        "problem": found,
        "cases": [_line(found, case) for case in cases],
        "files": _files(found),
        "campaigns": campaigns.for_list()[:CAMPAIGNS_SHOWN],
        "used": campaigns.count(),
        "can_start": can_start,
        "versions": Problem.objects.filter(slug=found.slug).exclude(pk=found.pk),
    }
    return render(request, "campaigns/problem.html", context)


def _line(found: Problem, case: Case) -> CaseLine:
    values = [f"{name}={case.params[name]}" for name in found.config_class if name in case.params]
    return CaseLine(case, case.params, ", ".join(values), case.name in found.representative)


def _files(found: Problem) -> list[File]:
    """The description first, then the reference, then v0 by backend, then whatever else it has."""
    roles = {DESCRIPTION: "what it is", REFERENCE: "reference and inputs; no candidate sees it"}
    for backend, name in sorted(found.backends.items()):
        roles[name] = f"v0, {backend}"
    named = [name for name in roles if name in found.files]
    rest = sorted(name for name in found.files if name not in roles)
    return [
        File(name, roles.get(name, ""), highlighted(found.files[name], name))
        for name in (*named, *rest)
    ]
