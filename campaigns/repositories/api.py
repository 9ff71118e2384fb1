"""/api/v1/repositories/ and repository-rounds/: code that is made faster by its own harness."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import django_filters as filters
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api.filters import Key
from campaigns.api.measured import GainSerializer
from campaigns.api.submissions import NotTaken, submitter_of
from campaigns.records.device_waits import no_worker_told
from campaigns.repositories.hand_in import (
    HEAD,
    HandedChange,
    RepositoryRefused,
    add_bundle,
    hand_in_change,
)
from campaigns.repositories.models import Repository, RepositoryRound
from campaigns.repositories.rounds import notify_next_round
from campaigns.repositories.sheet import line_of, summaries_of
from knowledge.api.lists import ListView, OneView, Read
from knowledge.api.shapes import body_of, columns_of, texts
from knowledge.api.view import RowView
from knowledge.curation.errors import CurationError
from knowledge.lookup.listing import PLATFORM_HELP, NotKnown, platform_named
from knowledge.models import Platform
from knowledge.models.token import Scope

REPOSITORIES = Repository.objects.select_related("platform")
ROUNDS = RepositoryRound.objects.select_related("repository", "repairs")
BROUGHT = ("bundle", "revision", "platform", "harness")
CHANGE = ("title", "change", "rationale", "patch", "target", "repairs")


RepositorySerializer = columns_of(
    "Repository",
    Repository,
    "id title source platform state no_worker stop_sentence base head branch last_gain created_at",
    """last_gain: of the last kept round over its incumbent, by the project's own harness.

    no_worker: why nothing begins, where no worker of its platform is alive.
    """,
    platform=fields.CharField(source="platform.slug"),
    last_gain=Read(GainSerializer(allow_null=True), lambda row: summaries_of([row])[0].gain),
    no_worker=Read(fields.CharField(), lambda row: no_worker_told(row, "repository")),
)
WholeRepositorySerializer = columns_of("WholeRepository", RepositorySerializer, "harness")
RepositoryRoundSerializer = columns_of(
    "RepositoryRound",
    RepositoryRound,
    "id repository number state title target repairs kind name verdict reason sentence gain "
    "against commit created_at finished_at",
    "gain: of the score against the incumbent of its time, by the project's own harness.",
    repository=fields.IntegerField(source="repository_id"),
    repairs=fields.IntegerField(source="repairs.number", allow_null=True, default=None),
    verdict=Read(fields.CharField(), lambda row: str(row.verdict or "")),
    gain=Read(GainSerializer(allow_null=True), lambda row: line_of(row).gain),
)
HarnessClassSerializer = body_of(
    "HarnessClass",
    "before, after: medians in the table's own unit.",
    name=fields.CharField(),
    rows=fields.IntegerField(),
    before=fields.FloatField(),
    after=fields.FloatField(),
    gain=GainSerializer(),
)
ProvenSerializer = body_of(
    "Proven",
    "What kopt's own judge found about one file, as a kernel of a problem.",
    **texts("problem verdict reason sentence"),
    gain=GainSerializer(allow_null=True),
)
WholeRepositoryRoundSerializer = columns_of(
    "WholeRepositoryRound",
    RepositoryRoundSerializer,
    "change rationale patch log classes proven",
    proven=Read(ProvenSerializer(allow_null=True), lambda row: line_of(row).proven),
    classes=Read(HarnessClassSerializer(many=True), lambda row: line_of(row).classes),
)
NewRepositorySerializer = body_of(
    "NewRepository",
    bundle=fields.CharField(help_text="base64 of `git bundle create - HEAD`"),
    harness=fields.CharField(help_text="how it builds, tests and times itself, as TOML"),
    platform=fields.CharField(help_text=PLATFORM_HELP),
    revision=fields.CharField(required=False, help_text=f"default: {HEAD}"),
)
ChangeSerializer = body_of(
    "Change",
    "A hypothesis, and the patch that tests it.",
    title=fields.CharField(),
    change=fields.CharField(help_text="the one thing that differs from the incumbent"),
    rationale=fields.CharField(help_text="why it should help"),
    patch=fields.CharField(help_text="a diff of `git diff` against the incumbent"),
    target=fields.CharField(required=False, help_text="the config class that is to gain"),
    repairs=fields.IntegerField(
        required=False, allow_null=True, help_text="number of a failed round that this mends"
    ),
)


class RepositoryRoundFilters(filters.FilterSet):
    repository = Key("repository")
    number = Key("number")


class Repositories(ListView):
    """GET lists repositories, the newest first."""

    queryset = REPOSITORIES
    serializer_class = RepositorySerializer
    scopes = {"POST": Scope.RUN}

    @extend_schema(request=NewRepositorySerializer, responses={201: WholeRepositorySerializer})
    def post(self, request: Request) -> Response:
        """POST brings a repository and queues its baseline; 201."""
        body = self.body()
        _require_known(body, BROUGHT)
        for name in BROUGHT:
            if not isinstance(body.get(name, ""), str) or (name != "revision" and name not in body):
                raise CurationError(name, "is needed, as a text")
        try:
            platform = platform_named(body["platform"])
        except NotKnown as error:
            raise CurationError("platform", str(error)) from None
        row = _brought(body, platform, request.user)
        notify_next_round(row)
        return Response(WholeRepositorySerializer(row).data, 201)


class OneRepository(OneView):
    """GET one with the description of its harness."""

    queryset = REPOSITORIES
    serializer_class = WholeRepositorySerializer


class RepositoryRounds(ListView):
    """GET lists rounds of repositories, the newest first."""

    queryset = ROUNDS
    serializer_class = RepositoryRoundSerializer
    filterset_class = RepositoryRoundFilters


class OneRepositoryRound(OneView):
    """GET one with its patch, its log and every config class."""

    queryset = ROUNDS
    serializer_class = WholeRepositoryRoundSerializer


class HandInChange(RowView):
    """POST hands a change in, which is the next round; 201.

    409 names what is missing: a part of the hypothesis, a patch that applies and keeps to the files
    that may change, or an idea that was not tried before.
    """

    queryset = REPOSITORIES
    serializer_class = RepositoryRoundSerializer
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(request=ChangeSerializer, responses={201: RepositoryRoundSerializer})
    def post(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        try:
            made = hand_in_change(row, _handed(self.body()), *submitter_of(request))
        except RepositoryRefused as refused:
            raise NotTaken(refused) from None
        notify_next_round(row)
        return Response(self.get_serializer(made).data, 201)


def _brought(body: dict[str, str], platform: Platform, user: Any) -> Repository:
    """Raises CurationError, which names the field."""
    try:
        data = base64.b64decode(body["bundle"], validate=True)
    except (binascii.Error, ValueError):
        raise CurationError("bundle", "accepted: base64") from None
    revision = body.get("revision") or HEAD
    try:
        return add_bundle(
            [data], body["harness"], platform, source="over HTTP", revision=revision, by=user
        )
    except RepositoryRefused as error:
        field = "bundle" if error.field == "repository" else error.field
        raise CurationError(field, error.message) from None


def _handed(body: dict[str, Any]) -> HandedChange:
    """Raises CurationError for an unknown name or another type; the step looks at the values."""
    _require_known(body, CHANGE)
    repairs = body.get("repairs")
    if repairs is not None and type(repairs) is not int:
        raise CurationError("repairs", "accepted: the number of a round, or null")
    texts = {name: body.get(name, "") for name in CHANGE if name != "repairs"}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise CurationError(name, "accepted: a text")
    return HandedChange(**texts, repairs=repairs)


def _require_known(body: dict[str, Any], accepted: tuple[str, ...]) -> None:
    for name in body:
        if name not in accepted:
            raise CurationError(name, f"accepted: {', '.join(accepted)}")


ONE = "repositories/<int:pk>/"
# Included in the addresses of the campaigns' part of the API.
urlpatterns = [
    path("repositories/", Repositories.as_view(), name="repositories"),
    path(ONE, OneRepository.as_view(), name="repository"),
    path(ONE + "changes/", HandInChange.as_view(), name="hand_in_change"),
    path("repository-rounds/", RepositoryRounds.as_view(), name="repository_rounds"),
    path("repository-rounds/<int:pk>/", OneRepositoryRound.as_view(), name="repository_round"),
]
