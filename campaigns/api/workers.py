"""/api/v1/workers/: the workers and their noise passports; an engineer asks for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.models import Worker
from campaigns.records.device_waits import open_waits
from campaigns.records.passports import passport_facts, state_of, worker_facts
from campaigns.steps.measuring.take_passport import ask_for_passport
from campaigns.steps.notify import notify_worker
from knowledge.api.lists import ListView, OneView
from knowledge.curation.errors import Forbidden
from knowledge.models.token import Scope

MAY_ASK = "campaigns.change_campaign"


class TakenSerializer(fields.Serializer):
    """When, by whom, why and under what one passport was taken."""

    id = fields.IntegerField()
    taken_at = fields.DateTimeField()
    worker = fields.CharField()
    why = fields.CharField()
    backend = fields.CharField()
    host = fields.DictField()
    failures = fields.ListField(child=fields.CharField())
    error = fields.CharField()
    wall_s = fields.FloatField()


class PassportSerializer(fields.Serializer):
    """What is known of a worker's noise. lengths: by the length of a kernel."""

    state = fields.CharField()
    words = fields.CharField()
    doubts = fields.ListField(child=fields.CharField())
    noisy = fields.ListField(child=fields.CharField())
    passport = TakenSerializer(allow_null=True)
    last_try_failed = fields.CharField()
    asked_at = fields.DateTimeField(allow_null=True)
    lengths = fields.ListField(child=fields.DictField())
    conditions = fields.DictField(allow_null=True)


class WorkerSerializer(fields.Serializer):
    """A process that measures. waits: the campaigns that wait for its device."""

    id = fields.IntegerField()
    worker = fields.CharField()
    device = fields.CharField()
    platform = fields.CharField()
    process_id = fields.IntegerField()
    heartbeat_age_s = fields.FloatField()
    alive = fields.BooleanField()
    passport = PassportSerializer()
    waits = fields.ListField(child=fields.DictField())


WORKERS = Worker.objects.select_related("platform")


def _facts(worker: Worker) -> dict[str, Any]:
    return worker_facts(worker, state_of(worker), open_waits())


class Workers(ListView):
    """GET lists every worker, with what counts of its noise and who waits for its device."""

    queryset = WORKERS
    serializer_class = WorkerSerializer
    filter_backends = []
    order = "pk"

    def records(self, rows: Sequence[Worker]) -> list[dict[str, Any]]:
        waits = open_waits()
        return [worker_facts(worker, state_of(worker), waits) for worker in rows]


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
