"""/api/v1/campaigns/: list, start and steer campaigns.

A body is held to the types of the serializer that the schema describes it with. The serializers'
own reading is more lenient: they take "5" for a number and 1 for a yes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api.filters import CampaignFilters
from campaigns.api.reading import CAMPAIGNS
from campaigns.api.serializers import CampaignSerializer, WholeCampaignSerializer
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import Campaign, IllegalTransition, RestartAnswer
from campaigns.problems.shipped import UnknownProblem
from campaigns.rules.stop.intake import Intake
from campaigns.rules.stop.policy import RestartPolicy, StopPolicy
from campaigns.rules.stop.proposers import USUAL, parse_budgets
from campaigns.rules.target.goal import GoalError, parse_goal
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.rules.verdict.finding_kinds import Stance
from campaigns.steps.lifecycle.control import (
    TargetUnknown,
    archive,
    confirm,
    pause,
    resume,
    stop,
    unarchive,
)
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.steps.lifecycle.restart import answer_restart
from campaigns.steps.lifecycle.set_project import set_project
from campaigns.steps.notify import NOTHING, Next, notify
from campaigns.steps.problems import find_problem
from knowledge.api.lists import ListView
from knowledge.api.view import RowView
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.lookup.listing import PLATFORM_HELP
from knowledge.models.token import Scope

MAY_START, MAY_STEER = "campaigns.add_campaign", "campaigns.change_campaign"
ANSWERS = {RestartPolicy.TAKE: RestartAnswer.TAKEN, RestartPolicy.DECLINE: RestartAnswer.DECLINED}
STEPS: dict[str, Callable[[Campaign], Next]] = {
    "confirm": confirm,
    "pause": pause,
    "resume": resume,
    "stop": stop,
}
ARCHIVING: dict[str, Callable[[Campaign, Any], bool]] = {
    "archive": archive,
    "unarchive": unarchive,
}
INTAKE = tuple(Intake().stored)
# Field → the type of its values, and what is accepted; a field's own words count first.
KINDS: tuple[tuple[type[fields.Field], type | tuple[type, ...], str], ...] = (
    (fields.BooleanField, bool, "true, false"),
    (fields.IntegerField, int, "a whole number"),
    (fields.FloatField, (int, float), "a number"),
    (fields.ListField, list, "a list of texts"),
    (fields.DictField, dict, "an object of names and texts"),
)
HOURS = {"accepted": "a number of hours"}


class NewCampaignSerializer(fields.Serializer):
    """What a campaign is made of; what is left out is as usual."""

    problem = fields.CharField(help_text="a problem's name, or name@digest")
    platform = fields.CharField(help_text=PLATFORM_HELP)
    backend = fields.CharField()
    rounds = fields.IntegerField(required=False, help_text="at most, the baseline among them")
    target = fields.CharField(required=False, help_text="such as 95% or 1.3x")
    title = fields.CharField(required=False)
    project = fields.CharField(required=False, help_text="whose members alone see it")
    proposers = fields.CharField(
        required=False, help_text="who may propose, such as search,person,agent=5"
    )
    findings = fields.DictField(
        child=fields.ChoiceField([stance.value for stance in Stance]),
        required=False,
        error_messages={"accepted": 'an object such as {"cache": "refused"}'},
        help_text="kind of finding → what is made of it",
    )
    own_kernels = fields.ListField(
        child=fields.CharField(),
        required=False,
        error_messages={"accepted": 'a list of names such as ["rows"]'},
        help_text="names of kernels that a header or a macro defines",
    )
    require_sanitizers = fields.BooleanField(required=False)
    no_baselines = fields.BooleanField(
        required=False, help_text="whether torch is not measured beside the best"
    )
    max_wall_h = fields.FloatField(
        required=False, allow_null=True, error_messages=HOURS, help_text="hours, pauses left out"
    )
    max_device_h = fields.FloatField(
        required=False, allow_null=True, error_messages=HOURS, help_text="hours of measuring"
    )
    restart = fields.ChoiceField(
        [policy.value for policy in RestartPolicy],
        required=False,
        help_text="the answer to the restart in part that five rounds without a gain lead to",
    )
    guard = fields.ChoiceField([policy.value for policy in GuardPolicy], required=False)
    git_branch = fields.CharField(required=False)
    reference_project = fields.CharField(required=False)
    constraints = fields.CharField(required=False)
    notes = fields.CharField(required=False)


class AnswerSerializer(fields.Serializer):
    answer = fields.ChoiceField([policy.value for policy in ANSWERS])


class ProjectSerializer(fields.Serializer):
    project = fields.CharField(allow_blank=True, help_text="a project's name")


class Campaigns(ListView):
    """GET lists campaigns, the newest first."""

    queryset = CAMPAIGNS
    serializer_class = CampaignSerializer
    filterset_class = CampaignFilters
    scopes = {"POST": Scope.RUN}

    @extend_schema(request=NewCampaignSerializer, responses={201: WholeCampaignSerializer})
    def post(self, request: Request) -> Response:
        """POST creates a campaign and starts it; `no_worker` says why it does not begin yet.

        422 where a value that its target needs is UNKNOWN or stale.
        """
        if not request.user.has_perm(MAY_START):
            raise Forbidden("starting a campaign needs the engineer role")
        user = request.user if isinstance(request.user, User) else None
        wish = _wish(self.body(), user)
        try:
            with transaction.atomic():
                campaign = create_campaign(wish)
                notify(campaign, confirm(campaign))
        except (CampaignRefused, ProblemError, TargetUnknown) as error:
            raise _named(error) from None
        return Response(WholeCampaignSerializer(campaign).data, 201)


class Steering(RowView):
    """POST takes one step with a campaign: confirm, pause, resume or stop it.

    409 where its state allows no such step.
    """

    queryset = CAMPAIGNS
    serializer_class = WholeCampaignSerializer
    scopes = {"POST": Scope.RUN}
    verb = ""

    @extend_schema(request=None, responses=WholeCampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        return self.take(STEPS[self.verb])

    def take(self, step: Callable[[Campaign], Next]) -> Response:
        """Take a step for a person who may. Raises Forbidden and Conflict."""
        if not self.request.user.has_perm(MAY_STEER):
            raise Forbidden("steering a campaign needs the engineer role")
        campaign = self.get_object()
        try:
            notify(campaign, step(campaign))
        except IllegalTransition as error:
            raise Conflict(str(error)) from None
        return Response(self.get_serializer(campaign).data)


class Archiving(Steering):
    """POST archives a finished campaign, or brings it back; once more changes nothing.

    409 where it is not finished.
    """

    @extend_schema(request=None, responses=WholeCampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        def step(campaign: Campaign) -> Next:
            ARCHIVING[self.verb](campaign, request.user)
            campaign.refresh_from_db()
            return NOTHING

        return self.take(step)


class CampaignProject(Steering):
    """POST lets only the members of a project see the campaign; "" lets everybody.

    Its owner and leads may. 409 where one of its attempts is merged with another campaign's.
    """

    scopes: ClassVar[dict[str, Scope]] = {}

    @extend_schema(request=ProjectSerializer, responses=WholeCampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        campaign = self.get_object()
        name = checked(self.body(), ProjectSerializer)["project"]
        set_project(campaign, name, request.user)
        return Response(self.get_serializer(campaign).data)


class RestartAnswers(Steering):
    """POST answers the restart in part that a campaign offers; 409 where none is offered."""

    @extend_schema(request=AnswerSerializer, responses=WholeCampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        body = self.body()
        answer, accepted = body.get("answer"), ", ".join(ANSWERS)
        if not isinstance(answer, str) or answer not in ANSWERS or len(body) > 1:
            raise CurationError("answer", f"{answer!r:.60}; accepted, alone: {accepted}")
        return self.take(partial(answer_restart, answer=ANSWERS[RestartPolicy(answer)]))


def _wish(body: dict[str, Any], user: User | None) -> Wish:
    """Read the body. Raises CurationError naming the field."""
    values = checked(body, NewCampaignSerializer)
    project = values.get("project", "")
    try:
        return Wish(
            problem=find_problem(values["problem"], user, project).spec.folder,
            platform=values["platform"],
            backend=values["backend"],
            policy=StopPolicy(
                max_rounds=values.get("rounds", StopPolicy().max_rounds),
                restart=values.get("restart", RestartPolicy.TAKE),
                max_wall_h=values.get("max_wall_h"),
                max_device_h=values.get("max_device_h"),
            ),
            goal=parse_goal(values["target"]) if "target" in values else None,
            findings=values.get("findings", {}),
            own_kernels=tuple(values.get("own_kernels", ())),
            require_sanitizers=values.get("require_sanitizers", False),
            baselines=not values.get("no_baselines", False),
            proposers=parse_budgets(values["proposers"]) if "proposers" in values else USUAL,
            title=values.get("title", ""),
            project=project,
            intake=Intake(**{name: values[name] for name in INTAKE if name in values}),
            created_by=user,
        )
    except GoalError as error:
        raise CurationError("target", str(error)) from None
    except (ValueError, UnknownProblem) as error:
        raise _named(error) from None


def _named(error: Exception) -> CurationError:
    """The same for an error that begins with the field that is wrong, by its name in a body."""
    field, _, message = str(error).partition(": ")
    return CurationError("rounds" if field == "max_rounds" else field, message)


def checked(body: dict[str, Any], shape: type[fields.Serializer]) -> dict[str, Any]:
    """The body. CurationError names a field that is unknown, missing or of another type.

    What a value may be beyond its type is for the step to say. A field's error message `accepted`
    says what a list, an object or a number has to be; a list's `max_length` is kept, too.
    """
    known = shape().fields
    for name in body:
        if name not in known:
            raise CurationError(name, f"accepted: {', '.join(known)}")
    for name, field in known.items():
        is_null = name in body and body[name] is None and field.allow_null
        if not is_null and (name in body or field.required):
            _check(name, field, body.get(name))
    return body


def _check(name: str, field: fields.Field, value: Any) -> None:
    found = next((kind for kind in KINDS if isinstance(field, kind[0])), None)
    if found is None:
        if not isinstance(value, str) or not (value or field.allow_blank):
            raise CurationError(name, "is needed, as a text")
        return
    _, types, usual = found
    accepted = f"accepted: {field.error_messages.get('accepted', usual)}"
    fits = isinstance(value, types) and (types is bool or not isinstance(value, bool))
    if types not in (list, dict):
        if not fits:
            raise CurationError(name, f"{value!r:.60}; {accepted}")
        return
    texts = value.values() if isinstance(value, dict) else value
    most = getattr(field, "max_length", None)
    if not fits or not all(isinstance(text, str) for text in texts) or len(value) > (most or 2**63):
        raise CurationError(name, accepted)
