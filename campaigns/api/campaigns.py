"""/api/v1/campaigns/: start a campaign, and read what was found in its candidates' sources."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.evaluator.contract import protocol_from
from campaigns.evaluator.problem import ProblemError
from campaigns.models import Campaign, IllegalTransition, RestartAnswer
from campaigns.problems.shipped import shipped_problems
from campaigns.records.round.candidate_findings import campaign_findings, policy_of, stored_policy
from campaigns.rules.stop.policy import RestartPolicy, StopPolicy
from campaigns.rules.target.goal import GoalError, parse_goal
from campaigns.rules.target.intake import Intake, IntakeError, intake_from
from campaigns.steps.lifecycle.answer_restart import answer_restart
from campaigns.steps.lifecycle.confirm import confirm
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.workers.notify import notify
from knowledge.api.view import ApiView
from knowledge.curation.errors import Conflict, CurationError, Forbidden

MAY_START, MAY_STEER = "campaigns.add_campaign", "campaigns.change_campaign"
ANSWERS = {
    RestartPolicy.TAKE: RestartAnswer.TAKEN,
    RestartPolicy.DECLINE: RestartAnswer.DECLINED,
}
TEXTS = ("problem", "platform", "backend")
HOURS = ("max_wall_h", "max_device_h")
INTAKE = tuple(Intake().stored)
OPTIONAL = (
    *("rounds", "restart", "target", "title", "findings", "own_kernels", "require_sanitizers"),
    *HOURS,
    *INTAKE,
)


class Campaigns(ApiView):
    """POST creates a campaign and starts it; 201.

    problem (a shipped one's name), platform and backend are needed; rounds, target, title,
    findings (kind → allowed, flagged or refused), own_kernels (names of kernels that a header or a
    macro defines), require_sanitizers (true or false), max_wall_h (hours, pauses left out) and
    max_device_h (hours of measuring) may be given, and restart (take, decline or ask: the answer to
    the restart in part that five rounds without a gain lead to). So may guard, git_branch,
    reference_project, constraints and notes, which are texts and frozen with the campaign.
    """

    def post(self, request: Request) -> Response:
        if not request.user.has_perm(MAY_START):
            raise Forbidden("starting a campaign needs the engineer role")
        user = request.user if isinstance(request.user, User) else None
        wish = _wish(self.body(), user)
        try:
            campaign = create_campaign(wish)
        except (CampaignRefused, ProblemError) as error:
            raise _refusal(error) from None
        notify(campaign, confirm(campaign))
        return Response(_facts(campaign), 201)


class Restart(ApiView):
    """POST answers the restart in part that a campaign offers: {"answer": "take" or "decline"}.

    409 where none is offered.
    """

    def post(self, request: Request, pk: int) -> Response:
        if not request.user.has_perm(MAY_STEER):
            raise Forbidden("steering a campaign needs the engineer role")
        campaign = get_object_or_404(Campaign, pk=pk)
        body = self.body()
        answer, accepted = body.get("answer"), ", ".join(ANSWERS)
        if answer not in ANSWERS or len(body) > 1:
            raise CurationError("answer", f"{answer!r:.60}; accepted, alone: {accepted}")
        try:
            notify(campaign, answer_restart(campaign, ANSWERS[RestartPolicy(answer)]))
        except IllegalTransition as error:
            raise Conflict(str(error)) from None
        return Response(_facts(campaign))


class Findings(ApiView):
    """GET: the campaign's policy, and the findings of every candidate by round."""

    def get(self, request: Request, pk: int) -> Response:
        campaign = get_object_or_404(Campaign, pk=pk)
        return Response(_facts(campaign) | {"rounds": campaign_findings(campaign)})


def _facts(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": campaign.pk,
        "title": campaign.title,
        "state": campaign.state,
        "findings_policy": stored_policy(policy_of(campaign)),
        "own_kernels": campaign.own_kernels or [],
        "require_sanitizers": protocol_from(campaign.protocol.rules).require_sanitizers,
        "intake": intake_from(campaign.intake).stored,
    }


def _wish(body: dict[str, Any], user: User | None) -> Wish:
    """Read the body. Raises CurationError naming the field."""
    for name in body:
        if name not in (*TEXTS, *OPTIONAL):
            raise CurationError(name, f"accepted: {', '.join((*TEXTS, *OPTIONAL))}")
    problems = {problem.name: problem for problem in shipped_problems()}
    name = _text(body, "problem")
    if name not in problems:
        raise CurationError("problem", f"{name!r}; accepted: {', '.join(problems)}")
    required = body.get("require_sanitizers", False)
    if not isinstance(required, bool):
        raise CurationError("require_sanitizers", f"{required!r:.60}; accepted: true, false")
    try:
        goal = parse_goal(_text(body, "target")) if "target" in body else None
    except GoalError as error:
        raise CurationError("target", str(error)) from None
    return Wish(
        problem=problems[name].folder,
        platform=_text(body, "platform"),
        backend=_text(body, "backend"),
        policy=_policy(body),
        goal=goal,
        findings=_findings(body.get("findings", {})),
        own_kernels=_names(body.get("own_kernels", [])),
        require_sanitizers=required,
        title=_text(body, "title") if "title" in body else "",
        intake=_intake(body),
        created_by=user,
    )


def _intake(body: dict[str, Any]) -> Intake:
    try:
        return Intake(**{name: _text(body, name) for name in INTAKE if name in body})
    except IntakeError as error:
        raise _refusal(error) from None


def _policy(body: dict[str, Any]) -> StopPolicy:
    rounds = body.get("rounds", StopPolicy().max_rounds)
    if not isinstance(rounds, int) or isinstance(rounds, bool):
        raise CurationError("rounds", f"{rounds!r}; accepted: a whole number")
    hours = {name: body[name] for name in HOURS if body.get(name) is not None}
    for name, value in hours.items():
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise CurationError(name, f"{value!r:.60}; accepted: a number of hours")
    try:
        restart = body.get("restart", RestartPolicy.TAKE)
        return StopPolicy(max_rounds=rounds, restart=restart, **hours)
    except ValueError as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> CurationError:
    """The same for an error that begins with the field that is wrong, by its name in a body."""
    field, _, message = str(error).partition(": ")
    return CurationError("rounds" if field == "max_rounds" else field, message)


def _text(body: dict[str, Any], name: str) -> str:
    found = body.get(name)
    if not isinstance(found, str) or not found:
        raise CurationError(name, "is needed, as a text")
    return found


def _findings(given: Any) -> dict[str, str]:
    """The kinds and stances themselves are checked where the campaign is made."""
    if not isinstance(given, dict) or not all(isinstance(s, str) for s in given.values()):
        raise CurationError("findings", 'accepted: an object such as {"cache": "refused"}')
    return given


def _names(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise CurationError("own_kernels", 'accepted: a list of names such as ["rows"]')
    return tuple(given)
