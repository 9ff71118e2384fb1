"""/api/v1/problems/: the problems, and a kernel that somebody brings."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api import measured, reading
from campaigns.api.campaigns import MAY_START, checked
from campaigns.devices.turns import turn
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.problems.import_.collection import read_collection
from campaigns.problems.import_.draft import DraftError, Given, ProblemDraft
from campaigns.problems.import_.propose import propose
from campaigns.steps.problems import keep_problem
from campaigns.steps.propose_problem import propose_problem
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.models.token import Scope

LISTS = ("calls", "outputs", "keep")


def _text(about: str = "") -> fields.CharField:
    return fields.CharField(required=False, allow_blank=True, help_text=about or None)


def _texts(about: str = "") -> fields.ListField:
    accepted = {"accepted": "a list of at most 16 texts"}
    return fields.ListField(
        child=fields.CharField(),
        required=False,
        max_length=16,
        error_messages=accepted,
        help_text=about or None,
    )


class GivenSerializer(fields.Serializer):
    """What `problem new` takes; what is left out is read from the sources."""

    file_name = _text("the kernel's, with its ending: .py, .cu or .cpp")
    kernel = _text("its source; none: torch eager is v0")
    reference = _text("Python with the right answer")
    reference_file = _text()
    calls = _texts("example calls")
    entry = _text("the function that launches the kernel")
    function = _text("the reference's function")
    outputs = _texts()
    keep = _texts("sizes that hidden cases leave as they are, such as the width of a head")
    name = _text()
    title = _text()
    project = _text("whose members alone see it")
    files = fields.DictField(
        child=fields.CharField(),
        required=False,
        help_text="instead: name → text of the files of FlashInfer Trace, SOL-ExecBench, GPU MODE "
        "or Kernel Tuner (T1)",
    )


class BringProblem(reading.Problems):
    """GET lists every revision of every problem, the newest first."""

    scopes = {"POST": Scope.RUN}

    @extend_schema(request=GivenSerializer, responses={201: measured.ProblemSerializer})
    def post(self, request: Request) -> Response:
        """POST makes a problem of a kernel; 201. Its reference is run once on a small case."""
        if not request.user.has_perm(MAY_START):
            raise Forbidden("bringing a kernel needs the engineer role")
        try:
            body = self.body()
            with turn(request.user):
                found = propose_problem(_draft(body))
            problem = keep_problem(found.files, body.get("project", ""), request.user)
        except DraftError as error:
            raise CurationError(error.field, error.message) from None
        except ProblemError as error:
            raise CurationError("name", str(error)) from None
        return Response(measured.ProblemSerializer(problem).data, 201)


def _draft(body: dict[str, Any]) -> ProblemDraft:
    """Raises CurationError and DraftError, which name the field."""
    given = checked(body, GivenSerializer)
    values = {name: value for name, value in given.items() if name != "project"}
    if "files" in values:
        for other in values:
            if other not in ("files", "name"):
                raise CurationError(other, "accepted beside files: name")
        return read_collection(values["files"], values.get("name", ""))
    if not values.get("kernel") and not values.get("reference"):
        raise CurationError("kernel", "a kernel or a reference is needed, as a text")
    lists = {name: tuple(values[name]) for name in LISTS if name in values}
    return propose(Given(**({"file_name": "", "kernel": ""} | values | lists)))
