"""A new campaign: problem, platform, goal and budget on one page, and the command that does it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.models import Campaign
from campaigns.rules.stop.intake import Intake, IntakeError, fixed
from campaigns.rules.stop.policy import MOST_HOURS, ROUND_LIMIT, RestartPolicy, StopPolicy
from campaigns.rules.stop.proposers import USUAL, ProposerKind, told_budgets
from campaigns.rules.target.goal import Goal, GoalError, parse_goal
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.rules.verdict.finding_kinds import FindingKind, Stance, default_policy
from campaigns.rules.verdict.sanitizers import BACKENDS as SANITIZED
from campaigns.steps.lifecycle.control import TargetUnknown, confirm
from campaigns.steps.lifecycle.create_campaign import (
    TIMED_ON,
    CampaignRefused,
    Wish,
    create_campaign,
)
from campaigns.steps.notify import notify
from campaigns.steps.problems import known_problems
from campaigns.views.controls import warn_of_no_worker
from campaigns.views.lookup import may_run, wants_fragment
from campaigns.views.offer import PlatformOffer, looked_up, platform_offers
from knowledge.experience.recommend.others import others_learned

GOAL_PERCENT, ROUNDS = 90, 20
HOURS = ("hours", "device_hours")
# Kind → what stands in its field: nothing is no limit of its own, and 0 does not propose.
PROPOSERS = {kind: (str(USUAL[kind] or "") if kind in USUAL else "0") for kind in ProposerKind}
ROUNDS_OF = {f"rounds_{kind}": usual for kind, usual in PROPOSERS.items()}
INTAKE = Intake().stored
ADVANCED = (*HOURS, "target", "own_kernels", "require_sanitizers", "no_baselines")
MOST = f"a campaign has fewer than {ROUND_LIMIT} rounds; accepted: 2 to {ROUND_LIMIT - 1}"
# The answer to the partial restart that rounds without a gain lead to.
RESTARTS = {
    RestartPolicy.TAKE: "automatic",
    RestartPolicy.DECLINE: "never",
    RestartPolicy.ASK: "ask a person, for an hour at most",
}
# What the form calls its choice of a stance for a kind of finding.
FINDING = "findings-"
# Field → what the form calls it, so that an error does so too.
LABELS = {
    "problem": "Problem",
    "platform": "Platform",
    "backend": "Backend",
    "goal": "Goal, % of the roof",
    "target": "Or another target",
    "rounds": "Rounds at most",
    "proposers": "Who proposes",
    **{f"rounds_{kind}": kind.words.capitalize() for kind in ProposerKind},
    "hours": "Hours at most",
    "device_hours": "Device hours at most",
    "restart": "Restart with half of the history hidden",
    "own_kernels": "Kernels of headers or macros that count as own",
    "require_sanitizers": "Require sanitizers",
    "no_baselines": "Without torch beside the best",
    "guard": "Guard",
    "git_branch": "Git branch",
    "reference_project": "Reference project",
    "constraints": "Constraints",
    "notes": "Notes",
}


class CampaignForm(forms.Form):
    """The four choices; what they may be depends on the problem, so the lists are filled in."""

    problem = forms.ChoiceField()
    platform = forms.ChoiceField()
    backend = forms.ChoiceField()
    goal = forms.IntegerField(min_value=1, max_value=100)
    rounds = forms.IntegerField(
        min_value=2, max_value=ROUND_LIMIT - 1, error_messages={"max_value": MOST}
    )
    target = forms.CharField(required=False)
    hours = forms.FloatField(required=False, min_value=0.01, max_value=MOST_HOURS)
    device_hours = forms.FloatField(required=False, min_value=0.01, max_value=MOST_HOURS)
    rounds_search, rounds_person, rounds_agent = (
        forms.IntegerField(required=False, min_value=0, max_value=ROUND_LIMIT - 1)
        for _ in ProposerKind
    )
    restart = forms.ChoiceField(
        choices=[(answer, RESTARTS[answer]) for answer in RestartPolicy],
        error_messages={
            "invalid_choice": f"%(value)s cannot be chosen; accepted: {', '.join(RestartPolicy)}"
        },
    )

    def clean_target(self) -> Goal | None:
        """The goal in words instead of a share of the roof; None where nothing is said."""
        said = self.cleaned_data["target"]
        try:
            return parse_goal(said) if said else None
        except GoalError as error:
            raise forms.ValidationError(str(error)) from error


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def new_campaign(request: HttpRequest) -> HttpResponse:
    """GET shows the form with the choices of the address; POST creates, confirms and rings."""
    problems = {problem.name: problem for problem in known_problems()}
    asked = request.POST if request.method == "POST" else request.GET
    problem = problems.get(asked.get("problem", "")) or next(iter(problems.values()), None)
    if problem is None:
        return render(request, "campaigns/new.html", {"problems": ()})
    offers, values = _offers(asked, problem)
    form = _form(values, problems, offers)
    if request.method == "POST" and form.is_valid():
        campaign = _create(request, form, problem, values)
        if campaign is not None:
            begun = "as a draft" if "draft" in request.POST else "and starts now"
            messages.success(request, f"Campaign {campaign.pk} is created {begun}.")
            warn_of_no_worker(request, campaign)
            return redirect("campaign", campaign.pk)
    chosen = next((o for o in offers if o.platform.slug == values["platform"]), None)
    errors = _errors(form) if request.method == "POST" else {}
    context = {
        "problems": problems.values(),
        "problem": problem,
        "offers": [offer for offer in offers if not offer.missing],
        "lacking": [offer for offer in offers if offer.missing],
        "chosen": chosen,
        "values": values,
        "form": form,
        "stances": list(Stance),
        "kinds": _kinds(values),
        "proposers": [
            (kind, values[f"rounds_{kind}"], f"rounds_{kind}" in errors) for kind in ProposerKind
        ],
        "own_policy": bool(_findings(values)),
        "restarts": RESTARTS,
        "guards": list(GuardPolicy),
        "fixed": fixed(values["backend"], chosen.platform.arch) if chosen else {},
        "takes_own_kernels": values["backend"] in TIMED_ON["gpu"],
        "takes_sanitizers": values["backend"] in SANITIZED,
        "errors": errors,
        "advanced": _is_advanced(values, errors),
        "told": [(name, LABELS.get(name, ""), one) for name in errors for one in errors[name]],
        "command": _command(values),
        "others": others_learned(
            op=problem.op,
            backend=values["backend"],
            platform=values["platform"],
            dtype=problem.dtype,
        ),
    }
    page = "campaigns/partials/new_form.html" if wants_fragment(request) else "campaigns/new.html"
    status = 422 if request.method == "POST" else 200
    return render(request, page, context, status=status)


def _offers(asked: Any, problem: ProblemSpec) -> tuple[tuple[PlatformOffer, ...], dict[str, str]]:
    """Every platform, the chosen one with its ceilings, and what is chosen so far."""
    offers = platform_offers(problem)
    chosen = _values(asked, problem, offers)["platform"]
    known = tuple(looked_up(o, problem) if o.platform.slug == chosen else o for o in offers)
    return known, _values(asked, problem, known)


def _values(asked: Any, problem: ProblemSpec, offers: tuple[PlatformOffer, ...]) -> dict[str, str]:
    """What is chosen so far; a choice that another one has ruled out falls back to the first."""
    open_ = {offer.platform.slug: offer for offer in offers if not offer.missing}
    platform = asked.get("platform", "")
    if platform not in open_ and asked.get("goal") is None:
        platform = _usual(open_)
    offer = open_.get(platform)
    backends = offer.backends if offer else ()
    backend = asked.get("backend", "")
    return {
        "problem": problem.name,
        "platform": platform,
        "backend": backend if backend in backends else next(iter(backends), ""),
        "goal": asked.get("goal", str(GOAL_PERCENT)),
        "rounds": asked.get("rounds", str(ROUNDS)),
        "target": asked.get("target", ""),
        **{name: asked.get(name, "") for name in HOURS},
        **{name: asked.get(name, usual) for name, usual in ROUNDS_OF.items()},
        "restart": asked.get("restart", str(RestartPolicy.TAKE)),
        "own_kernels": asked.get("own_kernels", ""),
        "require_sanitizers": asked.get("require_sanitizers", ""),
        "no_baselines": asked.get("no_baselines", ""),
        **{name: asked.get(name, usual) for name, usual in INTAKE.items()},
        **{name: asked[name] for name in asked if name.startswith(FINDING)},
    }


def _usual(open_: dict[str, PlatformOffer]) -> str:
    """The platform that has a worker, or the only one; of chips that nobody has none is guessed."""
    first = next(iter(open_.values()), None)
    return first.platform.slug if first and (first.has_worker or len(open_) == 1) else ""


def _is_advanced(values: dict[str, str], errors: dict[str, list[str]]) -> bool:
    """Whether something is chosen, or wrong, among what is folded away."""
    usual = {"restart": str(RestartPolicy.TAKE), **INTAKE}
    folded = {*ADVANCED, *usual}
    chosen = {name for name in folded if values.get(name, "") != usual.get(name, "")}
    return bool(chosen or _findings(values) or folded & set(errors))


def _kinds(values: dict[str, str]) -> list[dict[str, Any]]:
    """Each kind of finding with what is usual for the backend and what is chosen instead."""
    usual = default_policy(values["backend"])
    return [
        {"kind": kind, "usual": usual[kind], "chosen": values.get(f"{FINDING}{kind}", "")}
        for kind in FindingKind
    ]


def _findings(values: dict[str, str]) -> dict[str, str]:
    """What is chosen instead of the usual, as it was sent; the step says what is accepted."""
    return {
        name.removeprefix(FINDING): stance
        for name, stance in values.items()
        if name.startswith(FINDING) and stance
    }


def _own_kernels(values: dict[str, str]) -> tuple[str, ...]:
    """Names with spaces or commas between; none for a backend whose kernels are not traced."""
    traced = values["backend"] in TIMED_ON["gpu"]
    return tuple(values["own_kernels"].replace(",", " ").split()) if traced else ()


def _proposers(values: dict[str, str]) -> dict[str, int | None]:
    """Kind → its most rounds, of those that may propose; a text that is no number is no limit."""
    said = {kind.value: values[f"rounds_{kind}"].strip() for kind in ProposerKind}
    return {
        kind: int(most) if most.isdecimal() else None
        for kind, most in said.items()
        if not most.isdecimal() or int(most)
    }


def _requires(values: dict[str, str]) -> bool:
    return bool(values["require_sanitizers"]) and values["backend"] in SANITIZED


def _form(
    values: dict[str, str], problems: dict[str, ProblemSpec], offers: tuple[PlatformOffer, ...]
) -> CampaignForm:
    form = CampaignForm(values)
    open_ = [offer for offer in offers if not offer.missing]
    choices = {
        "problem": problems,
        "platform": [offer.platform.slug for offer in open_],
        "backend": dict.fromkeys(name for offer in open_ for name in offer.backends),
    }
    for name, found in choices.items():
        field = form.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(value, value) for value in found]
        field.error_messages["invalid_choice"] = (
            f"%(value)s cannot be chosen; accepted: {', '.join(found) or 'none yet'}"
        )
    return form


def _errors(form: CampaignForm) -> dict[str, list[str]]:
    """Field → what is wrong with it; "" where it is no field's. A step names one before a colon."""
    found: dict[str, list[str]] = {}
    for name, errors in form.errors.items():
        for error in map(str, errors):
            said, _, rest = error.partition(": ")
            if name != NON_FIELD_ERRORS:
                found.setdefault(name, []).append(error)
            elif said in LABELS:
                found.setdefault(said, []).append(rest)
            else:
                found.setdefault("", []).append(error)
    return found


def _create(
    request: HttpRequest, form: CampaignForm, problem: ProblemSpec, values: dict[str, str]
) -> Campaign | None:
    found = form.cleaned_data
    policy = StopPolicy(
        target_fraction=found["goal"] / 100,
        max_rounds=found["rounds"],
        max_wall_h=found["hours"],
        max_device_h=found["device_hours"],
        restart=RestartPolicy(found["restart"]),
    )
    wish = Wish(
        problem=problem.folder,
        platform=found["platform"],
        backend=found["backend"],
        policy=policy,
        goal=found["target"],
        findings=_findings(values),
        own_kernels=_own_kernels(values),
        require_sanitizers=_requires(values),
        baselines=not values["no_baselines"],
        proposers=_proposers(values),
        created_by=request.user,
    )
    try:
        # Both or none, so that a refused start leaves no draft behind.
        with transaction.atomic():
            campaign = create_campaign(replace(wish, intake=_intake(values)))
            if "draft" not in request.POST:
                notify(campaign, confirm(campaign))
    except (CampaignRefused, IntakeError, ProblemError, TargetUnknown) as error:
        form.add_error(None, str(error))
        return None
    return campaign


def _intake(values: dict[str, str]) -> Intake:
    """Raises IntakeError. A browser sends the line ends of a text as it likes."""
    said = {name: values[name].replace("\r\n", "\n").strip() for name in INTAKE}
    return Intake(**{name: said[name] or usual for name, usual in INTAKE.items()})


def _command(values: dict[str, str]) -> str:
    """The command line that does the same."""
    parts = [".venv/bin/python", "manage.py", "campaign", "new"]
    for name in ("problem", "platform", "backend", "rounds"):
        parts += [f"--{name}", values[name]] if values[name] else []
    asked = "target" if values["target"] else "goal"
    parts += [f"--{asked}", values[asked]]
    for name in HOURS:
        parts += [f"--{name.replace('_', '-')}", values[name]] if values[name] else []
    if (proposers := _proposers(values)) != USUAL:
        parts += ["--proposers", told_budgets(proposers)]
    parts += ["--restart", values["restart"]] if values["restart"] != RestartPolicy.TAKE else []
    for kind, stance in _findings(values).items():
        parts += ["--findings", f"{kind}={stance}"]
    for name in _own_kernels(values):
        parts += ["--own-kernel", name]
    for name, usual in INTAKE.items():
        said = values[name].strip()
        parts += [f"--{name.replace('_', '-')}", said] if said not in ("", usual) else []
    parts += ["--require-sanitizers"] if _requires(values) else []
    parts += ["--no-baselines"] if values["no_baselines"] else []
    return shlex.join(part for part in parts)
