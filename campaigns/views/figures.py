"""Figures: all of a campaign on one page, each alone at an address of its own, and as a file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from campaigns.charts.marks import NoChart
from campaigns.models import Campaign, Problem
from campaigns.reports.figures.files import THEMES, drawing_of, picture_of
from campaigns.reports.figures.registry import FIGURES, AnyChart, Asked, table_of
from campaigns.reports.figures.trend import trend_of
from campaigns.reports.sheet import campaign_sheet
from campaigns.views.lookup import campaign_at, csv


class _WrongAddress(Exception):
    """What is wrong with an address, and what is accepted."""

    def __init__(self, message: str, status: int = 404) -> None:
        super().__init__(message)
        self.status = status


View = Callable[..., HttpResponse]


def _refusing(view: View) -> View:
    """Answer with a page that says so where the address asks for what is not there."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except _WrongAddress as error:
            shown = {"title": "No such figure", "message": str(error), "status": error.status}
            return render(request, "refused.html", {"refusal": shown}, status=error.status)

    return answer


ENDINGS = ("svg", "png", "csv")
# A drawing brings its own rules, and asks nobody for anything.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
OF_A_PROBLEM = ("trend",)


@require_safe
@_refusing
def figures(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Every figure of a campaign; `?case=`, `?against=` and `?x=` as each of them has."""
    campaign = campaign_at(campaign_id)
    asked = _asked(request, campaign)
    charts = [(kind.name, kind.draw(asked)) for kind in FIGURES.values()]
    context = _context(campaign) | {"charts": charts, "query": _query(request)}
    return render(request, "campaigns/figures.html", context)


@require_safe
@_refusing
def figure(request: HttpRequest, campaign_id: int, name: str) -> HttpResponse:
    """One of them with its choices."""
    campaign = campaign_at(campaign_id)
    asked = _asked(request, campaign)
    kind = FIGURES[_known(name, FIGURES)]
    choices = [
        (option, asked.chosen(option), asked.options[option])
        for option in kind.options
        if len(asked.options[option]) > 1
    ]
    context = _context(campaign) | {"chart": kind.draw(asked), "name": name, "choices": choices}
    context["query"] = _query(request)
    return render(request, "campaigns/figure.html", context)


@require_safe
@_refusing
def figure_file(request: HttpRequest, campaign_id: int, name: str, ending: str) -> HttpResponse:
    """One of them as `.svg`, `.png` (`?theme=dark`) or `.csv`."""
    campaign = campaign_at(campaign_id)
    asked = _asked(request, campaign)
    chart = FIGURES[_known(name, FIGURES)].draw(asked)
    return figure_answer(request, chart, f"campaign-{campaign.pk}-{name}", ending)


@require_safe
@_refusing
def problem_figure(request: HttpRequest, problem_id: int, name: str) -> HttpResponse:
    """The trend over the campaigns of one problem."""
    problem = get_object_or_404(Problem, pk=problem_id)
    context = {
        "problem": problem,
        "chart": _of_problem(problem, name),
        "name": name,
        "files": reverse("problem", args=[problem.pk]) + "figures/",
    }
    return render(request, "campaigns/problem_figure.html", context)


@require_safe
@_refusing
def problem_figure_file(
    request: HttpRequest, problem_id: int, name: str, ending: str
) -> HttpResponse:
    """The same as a file."""
    problem = get_object_or_404(Problem, pk=problem_id)
    chart = _of_problem(problem, name)
    return figure_answer(request, chart, f"problem-{problem.pk}-{name}", ending)


def figure_answer(
    request: HttpRequest, chart: AnyChart, file_name: str, ending: str
) -> HttpResponse:
    """A figure as a file, in the browser where it can show it."""
    _known(ending, ENDINGS)
    theme = request.GET.get("theme", "") or THEMES[0]
    if theme not in THEMES:
        raise _WrongAddress(f"theme: {theme[:80]!r}; accepted: {', '.join(THEMES)}", 400)
    if isinstance(chart, NoChart):
        raise _WrongAddress(chart.sentence)
    if ending == "csv":
        return csv(table_of(chart), file_name)
    drawn = drawing_of(chart, theme, request.build_absolute_uri("/"))
    content: str | bytes = drawn if ending == "svg" else picture_of(drawn)
    kind = "image/svg+xml; charset=utf-8" if ending == "svg" else "image/png"
    answer = HttpResponse(content, content_type=kind)
    answer.headers["Content-Disposition"] = f'inline; filename="{file_name}.{ending}"'
    answer.headers["Content-Security-Policy"] = DRAWING_POLICY
    return answer


def _known(name: str, known: Collection[str]) -> str:
    if name not in known:
        raise _WrongAddress(f"{name[:80]!r}; accepted: {', '.join(known)}")
    return name


def _asked(request: HttpRequest, campaign: Campaign) -> Asked:
    """What the address asks of the campaign's figures."""
    asked = {name: request.GET.get(name, "") for name in ("against", "x", "case")}
    sheet = campaign_sheet(campaign, timezone.now())
    try:
        return Asked(sheet, lambda n: reverse("round", args=[campaign.pk, n]), **asked)
    except ValueError as error:
        raise _WrongAddress(str(error), 400) from None


def _query(request: HttpRequest) -> str:
    """What every link to a file takes along."""
    return f"?{request.GET.urlencode()}" if request.GET else ""


def _context(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "kinds": FIGURES,
        "files": reverse("figures", args=[campaign.pk]),
    }


def _of_problem(problem: Problem, name: str) -> AnyChart:
    _known(name, OF_A_PROBLEM)
    return trend_of(problem, lambda key: reverse("campaign", args=[key]))
