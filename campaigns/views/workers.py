"""The workers, their devices, and what each device shows against itself."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from campaigns.api.workers import WorkerSerializer, worker_records
from campaigns.charts import passport as chart
from campaigns.models import Worker
from campaigns.records.device_waits import open_waits, waits_on
from campaigns.records.passports import found_words, lengths_in, of_device, state_of
from campaigns.reports.case_table import conditions_words, floors_words
from campaigns.steps.measuring.take_passport import ask_for_passport
from campaigns.steps.notify import notify_worker
from campaigns.views.lookup import may_change
from knowledge.lookup.listing import slug_meant
from knowledge.models import Platform
from knowledge.views.formats import list_file

SHOWN = 10


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """Every worker, those that live first; `?platform=` says how one is started for it."""
    found = Worker.objects.select_related("platform")
    waits, cards = open_waits(), []
    living = sorted(found, key=lambda worker: (not worker.is_alive, worker.name))
    if file := list_file(request, "workers", lambda: worker_records(living), WorkerSerializer):
        return file
    for worker in living:
        state = state_of(worker)
        rows = of_device(worker).select_related("worker")[:SHOWN]
        cards.append(
            {
                "worker": worker,
                "state": state,
                "chart": chart.build(state.lengths),
                "chart_id": f"noise-{worker.pk}",
                "figures": reverse("workers") + f"{worker.pk}/figures/",
                "seen": conditions_words(state.conditions) if state.passport else (),
                "waits": waits_on(worker.card, waits),
                "history": [(row, floors_words(lengths_in(row)), found_words(row)) for row in rows],
            }
        )
    slug = slug_meant(request.GET.get("platform", ""))
    wanted = Platform.objects.filter(slug=slug).first()
    return render(request, "campaigns/workers.html", {"cards": cards, "wanted": wanted})


@may_change
@require_POST
def ask_passport(request: HttpRequest, worker_id: int) -> HttpResponse:
    """Ask one worker for a new passport."""
    worker = get_object_or_404(Worker.objects.select_related("platform"), pk=worker_id)
    # The permission is only ever given to stored users.
    ask_for_passport(worker, request.user if isinstance(request.user, User) else None)
    notify_worker(worker)
    asked_words = f"Asked {worker.name} for a new noise passport."
    messages.success(request, f"{asked_words} It is taken as soon as no campaign needs the device.")
    return redirect("workers")
