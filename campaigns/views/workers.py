"""The workers, their devices, and what each device shows against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from campaigns.charts import passport as chart
from campaigns.charts.marks import NoChart
from campaigns.models import DeviceWait, Passport, Worker
from campaigns.records.device_waits import open_waits, waits_on
from campaigns.records.passports import PassportState, found_words, lengths_in, of_device, state_of
from campaigns.reports.case_table import conditions_words, floors_words
from campaigns.steps.measuring.take_passport import ask_for_passport
from campaigns.steps.notify import notify_worker
from campaigns.views.lookup import may_change
from knowledge.models import Platform

Waits = Sequence[DeviceWait]

SHOWN = 10
ASKED = "Asked {} for a new noise passport. It is taken as soon as no campaign needs the device."


@dataclass(frozen=True, slots=True)
class Card:
    """One worker on the page. seen: around the passport. history: each with floors and faults.

    waits: the campaigns that wait for its device.
    """

    worker: Worker
    state: PassportState
    chart: chart.PassportChart | NoChart
    chart_id: str
    seen: tuple[tuple[str, str], ...]
    history: tuple[tuple[Passport, str, str], ...]
    waits: Waits


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """Every worker, those that live first; `?platform=` says how one is started for it."""
    found = Worker.objects.select_related("platform")
    waits = open_waits()
    cards = [_card(worker, waits_on(worker.card, waits)) for worker in found]
    cards.sort(key=lambda card: (not card.worker.is_alive, card.worker.name))
    wanted = Platform.objects.filter(slug=request.GET.get("platform", "")).first()
    return render(request, "campaigns/workers.html", {"cards": cards, "wanted": wanted})


@may_change
@require_POST
def ask_passport(request: HttpRequest, worker_id: int) -> HttpResponse:
    """Ask one worker for a new passport."""
    worker = get_object_or_404(Worker.objects.select_related("platform"), pk=worker_id)
    # The permission is only ever given to stored users.
    ask_for_passport(worker, request.user if isinstance(request.user, User) else None)
    notify_worker(worker)
    messages.success(request, ASKED.format(worker.name))
    return redirect("workers")


def _card(worker: Worker, waits: Waits) -> Card:
    state = state_of(worker)
    rows = of_device(worker).select_related("worker")[:SHOWN]
    return Card(
        worker=worker,
        state=state,
        chart=chart.build(state.lengths),
        chart_id=f"noise-{worker.pk}",
        seen=tuple(conditions_words(state.conditions)) if state.passport else (),
        waits=waits,
        history=tuple((row, floors_words(lengths_in(row)), found_words(row)) for row in rows),
    )
