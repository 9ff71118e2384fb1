"""/api/v1/problems/: the problems, and a kernel that somebody brings."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api import measured, reading
from campaigns.api.campaigns import MAY_START
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.problems.import_.collection import read_collection
from campaigns.problems.import_.draft import DraftError, Given, ProblemDraft
from campaigns.problems.import_.propose import propose
from campaigns.steps.problems import keep_problem
from campaigns.steps.propose_problem import propose_problem
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.models.token import Scope

MOST_CALLS = 16
TEXTS = (
    *("file_name", "kernel", "reference_file", "reference", "entry", "function", "name", "title"),
)
LISTS = ("calls", "outputs", "keep")


class GivenSerializer(fields.Serializer):
    """What `problem new` takes; what is left out is read from the sources."""

    file_name = fields.CharField(
        required=False, help_text="the kernel's, with its ending: .py, .cu or .cpp"
    )
    kernel = fields.CharField(required=False, help_text="its source; none: torch eager is v0")
    reference = fields.CharField(required=False, help_text="Python with the right answer")
    reference_file = fields.CharField(required=False)
    calls = fields.ListField(child=fields.CharField(), required=False, help_text="example calls")
    entry = fields.CharField(required=False, help_text="the function that launches the kernel")
    function = fields.CharField(required=False, help_text="the reference's function")
    outputs = fields.ListField(child=fields.CharField(), required=False)
    keep = fields.ListField(
        child=fields.CharField(),
        required=False,
        help_text="sizes that hidden cases leave as they are, such as the width of a head",
    )
    name = fields.CharField(required=False)
    title = fields.CharField(required=False)
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
            found = propose_problem(_draft(self.body()))
            problem = keep_problem(found.files)
        except DraftError as error:
            raise CurationError(error.field, error.message) from None
        except ProblemError as error:
            raise CurationError("name", str(error)) from None
        return Response(measured.ProblemSerializer(problem).data, 201)


def _draft(body: dict[str, object]) -> ProblemDraft:
    """Raises CurationError and DraftError, which name the field."""
    if "files" not in body:
        return propose(_given(body))
    for other in body:
        if other not in ("files", "name"):
            raise CurationError(other, "accepted beside files: name")
    files, name = body["files"], body.get("name", "")
    if not isinstance(name, str):
        raise CurationError("name", "accepted: a text")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise CurationError("files", "accepted: an object of names and texts")
    return read_collection(files, name)


def _given(body: dict[str, object]) -> Given:
    """Raises CurationError, which names the field."""
    for name, value in body.items():
        if name not in (*TEXTS, *LISTS):
            raise CurationError(name, f"accepted: {', '.join((*TEXTS, *LISTS))}")
        if name in TEXTS and not isinstance(value, str):
            raise CurationError(name, "is needed, as a text")
        if name in LISTS:
            _require_texts(name, value)
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in body.items()}
    if not given.get("kernel") and not given.get("reference"):
        raise CurationError("kernel", "a kernel or a reference is needed, as a text")
    return Given(**({"file_name": "", "kernel": ""} | given))  # type: ignore[arg-type]


def _require_texts(name: str, value: object) -> None:
    texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if not texts or (isinstance(value, list) and len(value) > MOST_CALLS):
        raise CurationError(name, f"accepted: a list of at most {MOST_CALLS} texts")
