"""Figures: all of a campaign on one page; each alone at an address of its own, and as files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from campaigns.charts import passport
from campaigns.charts.marks import NoChart
from campaigns.models import Campaign, ImportedCampaign, Problem, Worker
from campaigns.records.passports import state_of
from campaigns.records.sweeps import sweep_of
from campaigns.reports.figures.files import THEMES, drawing_of
from campaigns.reports.figures.registry import FIGURES, AnyChart, FigureQuery, table_of
from campaigns.reports.figures.trend import trend_of
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.sweeps import sweep_sheet
from campaigns.views.imported import claims_of
from campaigns.views.lookup import campaign_at, round_at
from knowledge.views.tables import table_answer


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


ENDINGS = ("svg", "csv")
# A drawing brings its own rules, and asks nobody for anything.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure with where it belongs. crumbs: address and words of each page above its own.

    figures: what the address of every figure beside it begins with. choices: parameter, what is
    chosen, and what may be.
    """

    chart: AnyChart | None
    crumbs: tuple[tuple[str, str], ...]
    figures: str
    kinds: Collection[str]
    choices: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


@require_safe
@_refusing
def figures(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Every figure of a campaign; `?case=` and `?x=` as each of them has."""
    campaign = campaign_at(campaign_id)
    asked = _asked(request, campaign)
    context = {
        "campaign": campaign,
        "tab": "figures",
        "charts": [(kind.name, kind.draw(asked)) for kind in FIGURES.values()],
        "kinds": FIGURES,
        "figures": reverse("figures", args=[campaign.pk]),
        "query": _query(request),
    }
    return render(request, "campaigns/figures.html", context)


@require_safe
@_refusing
def figure(request: HttpRequest, of: str, name: str, **keys: int) -> HttpResponse:
    """One figure alone. of: what it belongs to."""
    shown = SOURCES[of](request, name, **keys)
    context = {"shown": shown, "chart": _drawn(shown), "name": name, "kinds": shown.kinds}
    context |= {"figures": shown.figures, "query": _query(request)}
    return render(request, "campaigns/figure.html", context)


@require_safe
@_refusing
def figure_file(request: HttpRequest, of: str, name: str, ending: str, **keys: int) -> HttpResponse:
    """The same as `.svg` (`?theme=dark`) or `.csv`."""
    _known(ending, ENDINGS)
    shown = SOURCES[of](request, name, **keys)
    numbers = "-".join(f"{key.removesuffix('_id')}-{value}" for key, value in keys.items())
    return figure_answer(request, _drawn(shown), f"{numbers}-{name}", ending)


def _drawn(shown: Shown) -> AnyChart:
    if shown.chart is None:
        raise _WrongAddress("There is nothing to draw yet.")
    return shown.chart


def _of_campaign(request: HttpRequest, name: str, campaign_id: int) -> Shown:
    campaign = campaign_at(campaign_id)
    asked = _asked(request, campaign)
    kind = FIGURES[_known(name, FIGURES)]
    choices = tuple(
        (option, asked.chosen(option), asked.options[option])
        for option in kind.options
        if len(asked.options[option]) > 1
    )
    base = reverse("figures", args=[campaign.pk])
    crumbs = (*_above(campaign), (base, "figures"))
    return Shown(kind.draw(asked), crumbs, base, FIGURES, choices)


def _above(campaign: Campaign) -> tuple[tuple[str, str], ...]:
    there = reverse("campaign", args=[campaign.pk])
    return (reverse("campaigns"), "Campaigns"), (there, campaign.title)


def _of_sweep(request: HttpRequest, name: str, campaign_id: int, number: int) -> Shown:
    _known(name, ("course", "strips"))
    campaign = campaign_at(campaign_id)
    record = sweep_of(round_at(campaign, number))
    if record is None:
        raise _WrongAddress(f"Round {number} has no sweep.")
    table = reverse("sweep", args=[campaign.pk, number])
    chart = sweep_sheet(record, timezone.now(), table)[name]
    crumbs = (*_above(campaign), (table, f"sweep of round {number}"))
    return Shown(chart, crumbs, f"{table}figures/", ("course", "strips"))


def _of_problem(request: HttpRequest, name: str, problem_id: int) -> Shown:
    _known(name, ("trend",))
    problem = get_object_or_404(Problem, pk=problem_id)
    chart = trend_of(problem, lambda key: reverse("campaign", args=[key]))
    crumbs = (reverse("campaigns"), "Campaigns"), (problem.get_absolute_url(), problem.title)
    return Shown(chart, crumbs, f"{problem.get_absolute_url()}figures/", ("trend",))


def _of_import(request: HttpRequest, name: str, key: int) -> Shown:
    _known(name, ("claimed",))
    campaign = get_object_or_404(ImportedCampaign, pk=key)
    there = reverse("imported_campaign", args=[key])
    crumbs = (reverse("imported"), "Imported"), (there, campaign.heading)
    chart = claims_of(campaign, campaign.rounds.defer("claims"))
    return Shown(chart, crumbs, f"{there}figures/", ("claimed",))


def _of_worker(request: HttpRequest, name: str, worker_id: int) -> Shown:
    _known(name, ("passport",))
    worker = get_object_or_404(Worker, pk=worker_id)
    there = reverse("workers")
    crumbs = ((there, "Workers"), (f"{there}#worker-{worker.pk}", worker.name))
    chart = passport.build(state_of(worker).lengths)
    return Shown(chart, crumbs, f"{there}{worker.pk}/figures/", ("passport",))


SOURCES: Mapping[str, Callable[..., Shown]] = {
    "campaign": _of_campaign,
    "sweep": _of_sweep,
    "problem": _of_problem,
    "import": _of_import,
    "worker": _of_worker,
}


def figure_answer(
    request: HttpRequest, chart: AnyChart, file_name: str, ending: str
) -> HttpResponse:
    """A figure as a file, in the browser where it can show it."""
    theme = request.GET.get("theme", "") or THEMES[0]
    if theme not in THEMES:
        raise _WrongAddress(f"theme: {theme[:80]!r}; accepted: {', '.join(THEMES)}", 400)
    if isinstance(chart, NoChart):
        raise _WrongAddress(chart.sentence)
    if ending == "csv":
        return table_answer(file_name, table_of(chart))
    drawn = drawing_of(chart, theme, request.build_absolute_uri("/"))
    answer = HttpResponse(drawn, content_type="image/svg+xml; charset=utf-8")
    answer.headers["Content-Disposition"] = f'inline; filename="{file_name}.{ending}"'
    answer.headers["Content-Security-Policy"] = DRAWING_POLICY
    return answer


def _known(name: str, known: Collection[str]) -> str:
    if name not in known:
        raise _WrongAddress(f"{name[:80]!r}; accepted: {', '.join(known)}")
    return name


def _asked(request: HttpRequest, campaign: Campaign) -> FigureQuery:
    """What the address asks of the campaign's figures."""
    asked = {name: request.GET.get(name, "") for name in ("x", "case")}
    sheet = campaign_sheet(campaign, timezone.now())
    try:
        return FigureQuery(sheet, lambda n: reverse("round", args=[campaign.pk, n]), **asked)
    except ValueError as error:
        raise _WrongAddress(str(error), 400) from None


def _query(request: HttpRequest) -> str:
    """What every link to a file takes along."""
    return f"?{request.GET.urlencode()}" if request.GET else ""
