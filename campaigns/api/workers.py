"""/api/v1/workers/: the workers and their noise passports; an engineer asks for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.models import Worker
from campaigns.records.device_waits import open_waits
from campaigns.records.passports import (
    PassportFacts,
    TakenFacts,
    WorkerFacts,
    passport_facts,
    state_of,
    worker_facts,
)
from campaigns.steps.measuring.take_passport import ask_for_passport
from campaigns.steps.notify import notify_worker
from knowledge.api.lists import ListView, OneView
from knowledge.api.shapes import shape_of
from knowledge.curation.errors import Forbidden
from knowledge.models.token import Scope

MAY_ASK = "campaigns.change_campaign"


TakenSerializer = shape_of("Taken", TakenFacts, taken_at=datetime)
PassportSerializer = shape_of("Passport", PassportFacts, asked_at=datetime | None)
WorkerSerializer = shape_of("Worker", WorkerFacts)
WORKERS = Worker.objects.select_related("platform")


def _facts(worker: Worker) -> WorkerFacts:
    return worker_facts(worker, state_of(worker), open_waits())


def worker_records(rows: Sequence[Worker]) -> list[WorkerFacts]:
    """What the serializer reads of several workers."""
    waits = open_waits()
    return [worker_facts(worker, state_of(worker), waits) for worker in rows]


class Workers(ListView):
    """GET lists every worker, with what counts of its noise and who waits for its device."""

    queryset = WORKERS
    serializer_class = WorkerSerializer
    filter_backends = []
    order = "pk"

    def records(self, rows: Sequence[Worker]) -> list[WorkerFacts]:
        return worker_records(rows)


class OneWorker(OneView):
    """GET one worker."""

    queryset = WORKERS
    serializer_class = WorkerSerializer
    record = staticmethod(_facts)


class OnePassport(OneView):
    """GET a worker's noise passport as it stands."""

    queryset = WORKERS
    serializer_class = PassportSerializer
    record = staticmethod(lambda worker: passport_facts(state_of(worker)))
    scopes = {"POST": Scope.RUN}

    @extend_schema(request=None, responses={202: PassportSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """POST asks for a new one, which is taken when no campaign needs the device."""
        if not request.user.has_perm(MAY_ASK):
            raise Forbidden("asking for a passport needs the engineer role")
        worker = get_object_or_404(WORKERS, pk=pk)
        ask_for_passport(worker, request.user if isinstance(request.user, User) else None)
        notify_worker(worker)
        return Response(self.get_serializer(passport_facts(state_of(worker))).data, 202)
