"""/api/v1/submissions/ and /campaigns/<id>/candidates/: what people and agents hand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields as fields_of
from functools import partial
from typing import Any, TypeVar

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api.reading import CAMPAIGNS
from campaigns.models import Campaign, Submission, Submitter
from campaigns.proposers.handed_in import HandedIn, SubmissionRefused
from campaigns.records.submissions import awaited_repair
from campaigns.rules.search_log import NOTHING_FOUND, SearchSource
from campaigns.rules.verdict.buckets import Bucket
from campaigns.steps.notify import AGAIN, notify
from campaigns.steps.rounds.submit import measure_again, mend, submit
from knowledge.api.lists import ListView, OneView
from knowledge.api.view import RowView
from knowledge.curation.errors import Conflict, CurationError
from knowledge.models.sight import seen
from knowledge.models.token import Scope, Token

T = TypeVar("T")
SUBMISSIONS = Submission.objects.select_related("campaign").prefetch_related("rounds")
MENDED = ("source", "file_name", "flags")
HANDED_IN = tuple(field.name for field in fields_of(HandedIn))


class NotTaken(Conflict):
    """What a campaign does not take: the field, and what has to be there first."""

    def __init__(self, refused: SubmissionRefused) -> None:
        super().__init__(refused.message)
        self.field = refused.field
        self.message = refused.message


def submitter_of(request: Request) -> tuple[str, str, User | None]:
    """Who hands in: kind, name and account. A token is an agent's, a session is its person's."""
    by = request.user if isinstance(request.user, User) else None
    if isinstance(request.auth, Token):
        return Submitter.AGENT, request.auth.name, by
    return Submitter.PERSON, request.user.get_username(), by


class SubmissionSerializer(fields.ModelSerializer):
    """round: the number of the round that tries it; null while it waits.

    repair: what was wrong where that round waits for a repair, and how many are left; else null.
    """

    campaign = fields.IntegerField(source="campaign_id")
    title = fields.CharField()
    round = fields.SerializerMethodField()
    repair = fields.SerializerMethodField()

    class Meta:
        model = Submission
        fields: tuple[str, ...] = (
            *("id", "campaign", "kind", "name", "title", "file_name", "round", "repair", "at"),
        )

    def get_round(self, submission: Submission) -> int | None:
        tried = [round_.number for round_ in submission.rounds.all()]
        return tried[0] if tried else None

    def get_repair(self, submission: Submission) -> dict[str, Any] | None:
        awaited = awaited_repair(submission.campaign)
        return awaited.facts if awaited and awaited.round.submission == submission else None


class SearchStepSerializer(fields.Serializer):
    """Where an idea was looked for, and what was found; never the web for specs (R35)."""

    source = fields.CharField(help_text=", ".join(SearchSource))
    query = fields.CharField()
    found = fields.CharField(required=False, help_text=f"default: {NOTHING_FOUND}")


class HandedInSerializer(fields.Serializer):
    """A hypothesis, and the source that tests it."""

    title = fields.CharField()
    change = fields.CharField(help_text="the one thing that differs from the incumbent")
    rationale = fields.CharField(help_text="why it should help")
    metric = fields.CharField(help_text="what should move, such as time_us")
    direction = fields.ChoiceField(["down", "up"])
    amount = fields.CharField(help_text="by which share: 8% or 0.08")
    evidence = fields.ListField(
        child=fields.CharField(), help_text="cases whose facts about the incumbent it rests on"
    )
    source = fields.CharField(help_text="the whole file")
    file_name = fields.CharField(required=False)
    strategy = fields.CharField(required=False, help_text="a name of the catalogue")
    risks = fields.CharField(required=False)
    bucket = fields.ChoiceField([bucket.value for bucket in Bucket], required=False)
    flags = fields.CharField(
        required=False, allow_null=True, help_text="for the compiler; default: the incumbent's"
    )
    searched = SearchStepSerializer(many=True, required=False)


class RepairSerializer(fields.Serializer):
    """A source that mends what failed, in the same round."""

    source = fields.CharField(allow_null=True, help_text="the whole file; null: there is no repair")
    file_name = fields.CharField(required=False)
    flags = fields.CharField(
        required=False, allow_null=True, help_text="for the compiler; default: those of what failed"
    )


class Submissions(ListView):
    """GET lists what was handed in, the newest first."""

    queryset = SUBMISSIONS
    serializer_class = SubmissionSerializer


class OneSubmission(OneView):
    """GET one."""

    queryset = SUBMISSIONS
    serializer_class = SubmissionSerializer


class HandIn(RowView):
    """POST hands a candidate in; 201. It is the next round, or waits for the open one.

    What comes with a token is an agent's, under the token's name; a session is its person's. 409
    names what is missing: a part of the hypothesis, a campaign that takes no more, or an idea or a
    source that was tried before.
    """

    queryset = CAMPAIGNS
    serializer_class = SubmissionSerializer
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(request=HandedInSerializer, responses={201: SubmissionSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign, handed = self.get_object(), _handed_in(self.body())
        made = _taken(campaign, partial(submit, campaign, handed, *submitter_of(request)))
        return Response(self.get_serializer(made).data, 201)


class Mend(RowView):
    """POST mends a wrong candidate in the open round; 201 with what was handed in.

    A round may have three repairs. `repair` of a submission says what was wrong, and how many are
    left; a source of null says that there is none, and the round is judged as it failed. 409 names
    what is not taken.
    """

    queryset = CAMPAIGNS
    serializer_class = SubmissionSerializer
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(request=RepairSerializer, responses={201: SubmissionSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign, body = self.get_object(), self.body()
        handed = _handed_in(body, MENDED)
        if "source" not in body:
            raise CurationError("source", "is needed: a text, or null where there is no repair")
        given = None if body["source"] is None else handed
        made = _taken(campaign, partial(mend, campaign, given, *submitter_of(request)))
        found = seen(SUBMISSIONS).get(rounds=made.round_id)
        return Response(self.get_serializer(found).data, 201)


class AgainSerializer(fields.Serializer):
    round = fields.IntegerField(help_text="the number of a closed round after the baseline")


class MeasureAgain(RowView):
    """POST has the candidate of a closed round measured once more, in a round of its own; 201.

    It is compared with the incumbent of today; the verdict of then stays. 409 says why not.
    """

    queryset = CAMPAIGNS
    serializer_class = SubmissionSerializer
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(request=AgainSerializer, responses={201: SubmissionSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign, body = self.get_object(), self.body()
        number = body.get("round")
        if type(number) is not int or set(body) != {"round"}:
            raise CurationError("round", "accepted: the number of a closed round, and no more")
        made = _taken(campaign, partial(measure_again, campaign, number, *submitter_of(request)))
        return Response(self.get_serializer(made).data, 201)


def _taken(campaign: Campaign, step: Callable[[], T]) -> T:
    """What a step stores; the campaign goes on with it. Raises NotTaken."""
    try:
        made = step()
    except SubmissionRefused as refused:
        raise NotTaken(refused) from None
    notify(campaign, AGAIN)
    return made


def _handed_in(body: dict[str, Any], names: Sequence[str] = HANDED_IN) -> HandedIn:
    """Raises CurationError for a name that is unknown; the step looks at the values."""
    for name in body:
        if name not in names:
            raise CurationError(name, f"accepted: {', '.join(names)}")
    evidence = body.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(case, str) for case in evidence):
        raise CurationError("evidence", "accepted: a list of names of cases")
    searched = body.get("searched", [])
    if not isinstance(searched, list):
        raise CurationError("searched", "accepted: a list of steps with source, query and found")
    return HandedIn(**{**body, "evidence": tuple(evidence), "searched": tuple(searched)})
