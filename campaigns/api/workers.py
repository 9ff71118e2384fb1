"""/api/v1/workers/: the workers and their noise passports; an engineer asks for a new one."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.models import Worker
from campaigns.records.device_waits import open_waits
from campaigns.records.passport.passports import passport_facts, state_of, worker_facts
from campaigns.steps.measuring.ask_for_passport import ask_for_passport
from campaigns.workers.notify import notify_worker
from knowledge.api.view import ApiView
from knowledge.curation.errors import Forbidden

MAY_ASK = "campaigns.change_campaign"


class Workers(ApiView):
    """GET: every worker, with what counts of its noise and who waits for its device."""

    def get(self, request: Request) -> Response:
        found = Worker.objects.select_related("platform")
        waits = open_waits()
        return Response({"results": [worker_facts(w, state_of(w), waits) for w in found]})


class OnePassport(ApiView):
    """GET: a worker's noise passport as it stands. POST: ask for a new one; 202."""

    def get(self, request: Request, pk: int) -> Response:
        return Response(passport_facts(state_of(_worker(pk))))

    def post(self, request: Request, pk: int) -> Response:
        if not request.user.has_perm(MAY_ASK):
            raise Forbidden("asking for a passport needs the engineer role")
        worker = _worker(pk)
        ask_for_passport(worker, request.user if isinstance(request.user, User) else None)
        notify_worker(worker)
        return Response(passport_facts(state_of(worker)), status=202)


def _worker(pk: int) -> Worker:
    return get_object_or_404(Worker.objects.select_related("platform"), pk=pk)
