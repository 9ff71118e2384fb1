"""A new campaign: problem, platform, goal and budget on one page, and the command that does it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.models import Campaign
from campaigns.problems.shipped import UnknownProblem
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
from campaigns.steps.problems import KnownProblem, find_problem, known_problems
from campaigns.views.controls import warn_of_no_worker
from campaigns.views.lookup import may_run, wants_fragment
from campaigns.views.offer import PlatformOffer, looked_up, platform_offers
from knowledge.curation.projects import projects_of
from knowledge.experience.recommend.others import others_learned
from knowledge.lookup.platform_names import fitting

INTAKE = Intake().stored
# By kind, the text of its field: an empty field sets no limit, and 0 keeps it from proposing.
ROUNDS_OF = {
    f"rounds_{kind}": str(USUAL[kind] or "") if kind in USUAL else "0" for kind in ProposerKind
}
# Field → what stands in it at first, in plain sight and folded away.
SHOWN = {"goal": "90", "rounds": "20", "project": "", **ROUNDS_OF}
FOLDED = {
    **dict.fromkeys(("target", "hours", "device_hours", "own_kernels"), ""),
    **dict.fromkeys(("require_sanitizers", "no_baselines"), ""),
    "restart": str(RestartPolicy.TAKE),
    **INTAKE,
}
# Those that the command has under the same name, with a dash for each underscore.
OPTIONS = (
    *("problem", "platform", "backend", "rounds", "goal", "target", "hours", "device_hours"),
    "project",
)
MOST = f"a campaign has fewer than {ROUND_LIMIT} rounds; accepted: 2 to {ROUND_LIMIT - 1}"
# The answer to the partial restart that rounds without a gain lead to.
RESTARTS = {
    RestartPolicy.TAKE: "automatic",
    RestartPolicy.DECLINE: "never",
    RestartPolicy.ASK: "ask a person, for an hour at most",
}
# What the form calls its choice of a stance for a kind of finding.
FINDING = "findings-"


def _number(label: str) -> forms.FloatField:
    return forms.FloatField(label=label, required=False, min_value=0.01, max_value=MOST_HOURS)


def _text(label: str) -> forms.Field:
    """What the step judges, so that page, command and API refuse the same."""
    return forms.Field(label=label, required=False)


def _rounds_of(kind: ProposerKind) -> forms.IntegerField:
    label, most = kind.words.capitalize(), ROUND_LIMIT - 1
    return forms.IntegerField(label=label, required=False, min_value=0, max_value=most)


class CampaignForm(forms.Form):
    """What may be chosen depends on the problem, so the lists are filled in."""

    problem = forms.ChoiceField(label="Problem")
    platform = forms.ChoiceField(label="Platform")
    backend = forms.ChoiceField(label="Backend")
    goal = forms.IntegerField(label="Goal, % of the roof", min_value=1, max_value=100)
    rounds = forms.IntegerField(
        label="Rounds at most",
        min_value=2,
        max_value=ROUND_LIMIT - 1,
        error_messages={"max_value": MOST},
    )
    proposers = _text("Who proposes")
    rounds_search, rounds_person, rounds_agent = map(_rounds_of, ProposerKind)
    project = _text("Who sees it")
    target = _text("Or another target")
    hours = _number("Hours at most")
    device_hours = _number("Device hours at most")
    restart = forms.ChoiceField(
        label="Restart with half of the history hidden",
        choices=RESTARTS.items(),
        error_messages={
            "invalid_choice": f"%(value)s cannot be chosen; accepted: {', '.join(RestartPolicy)}"
        },
    )
    own_kernels = _text("Kernels of headers or macros that count as own")
    require_sanitizers = _text("Require sanitizers")
    no_baselines = _text("Without torch beside the best")
    guard = _text("Guard")
    git_branch = _text("Git branch")
    reference_project = _text("Reference project")
    constraints = _text("Constraints")
    notes = _text("Notes")

    def __init__(self, values: Mapping[str, str], **choices: Iterable[str]) -> None:
        super().__init__(values)
        for name, found in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(value, value) for value in found]
            field.error_messages["invalid_choice"] = (
                f"%(value)s cannot be chosen; accepted: {', '.join(found) or 'none yet'}"
            )

    def clean_target(self) -> Goal | None:
        """The goal in words instead of a share of the roof; None where nothing is said."""
        text = self.cleaned_data["target"]
        try:
            return parse_goal(text) if text else None
        except GoalError as error:
            raise forms.ValidationError(str(error)) from error

    def refuse(self, error: Exception) -> None:
        """Say what a step refused, at the field that it names before a colon."""
        name, _, message = str(error).partition(": ")
        is_field = name in self.fields
        self.add_error(name if is_field else None, message if is_field else str(error))


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def new_campaign(request: HttpRequest) -> HttpResponse:
    """GET shows the form with the choices of the address; POST creates, confirms and rings."""
    problems = {problem.name: problem for problem in known_problems()}
    is_post = request.method == "POST"
    query = request.POST if is_post else request.GET
    found = _found(query, request.user, problems)
    known = found or max(problems.values(), key=_backends_of)
    problem = known.spec
    offers = platform_offers(problem)
    slug = _values(query, known, offers)["platform"]
    offers = tuple(looked_up(o, problem) if o.platform.slug == slug else o for o in offers)
    values = _values(query, known, offers)
    backend = values["backend"]
    open_ = [offer for offer in offers if not offer.missing]
    form = CampaignForm(
        values if found else values | {"problem": query.get("problem", "")},
        problem=problems,
        platform=[offer.platform.slug for offer in open_],
        backend=dict.fromkeys(name for offer in open_ for name in offer.backends),
    )
    if is_post and form.is_valid():
        campaign = _create(request, form, problem, values)
        if campaign is not None:
            begun = "as a draft" if "draft" in request.POST else "and starts now"
            messages.success(request, f"Campaign {campaign.pk} is created {begun}.")
            warn_of_no_worker(request, campaign)
            return redirect("campaign", campaign.pk)
    chosen = next((o for o in offers if o.platform.slug == values["platform"]), None)
    errors = form.errors if is_post else {}
    findings, usual = _findings(values), default_policy(backend)
    context = {
        "problems": problems.values(),
        "problem": problem,
        "offers": open_,
        "lacking": [offer for offer in offers if offer.missing],
        "chosen": chosen,
        "values": values,
        "form": form,
        "stances": list(Stance),
        "kinds": [(kind, usual[kind], findings.get(kind, "")) for kind in FindingKind],
        "proposers": [form[name] for name in ROUNDS_OF],
        "own_policy": bool(findings),
        "restarts": RESTARTS,
        "guards": list(GuardPolicy),
        "fixed": fixed(backend, chosen.platform.arch) if chosen else {},
        "takes_own_kernels": backend in TIMED_ON["gpu"],
        "takes_sanitizers": backend in SANITIZED,
        "only": known.project,
        "projects": projects_of(request.user),
        "errors": errors,
        # Something is chosen, or wrong, among what is folded away.
        "advanced": bool(findings)
        or any(values[name] != usual or name in errors for name, usual in FOLDED.items()),
        "command": _command(values | {"project": known.project or values["project"]}),
        "others": others_learned(
            op=problem.op, backend=backend, platform=values["platform"], dtype=problem.dtype
        ),
    }
    page = "campaigns/partials/new_form.html" if wants_fragment(request) else "campaigns/new.html"
    return render(request, page, context, status=422 if is_post else 200)


def _found(query: Any, user: Any, problems: dict[str, KnownProblem]) -> KnownProblem | None:
    """What is chosen, which may be an older revision; it is then one of the problems."""
    name = query.get("problem", "")
    if not name or name in problems:
        return problems.get(name)
    try:
        found = find_problem(name, user, query.get("project", ""))
    except (UnknownProblem, ProblemError):
        return None
    return problems.setdefault(found.name, found)


def _backends_of(known: KnownProblem) -> int:
    """How many it has: without a choice the form shows a problem that runs on most devices."""
    return len(known.spec.files)


def _values(query: Any, known: KnownProblem, offers: tuple[PlatformOffer, ...]) -> dict[str, str]:
    """What is chosen so far; a choice that another one has ruled out falls back to the first.

    Without a choice the platform is the one that has a worker, or the only one: of chips that
    nobody has none is guessed.
    """
    open_ = {offer.platform.slug: offer for offer in offers if not offer.missing}
    platform = query.get("platform", "")
    names = {slug: (slug, o.platform.name, *o.platform.aliases) for slug, o in open_.items()}
    if len(fits := fitting(platform, names)) == 1:
        platform = fits[0]
    if platform not in open_ and query.get("goal") is None:
        first = next(iter(open_.values()), None)
        is_usual = first is not None and (first.has_worker or len(open_) == 1)
        platform = first.platform.slug if first and is_usual else ""
    backends = open_[platform].backends if platform in open_ else ()
    backend = query.get("backend", "")
    return {
        "problem": known.name,
        "platform": platform,
        "backend": backend if backend in backends else next(iter(backends), ""),
        **{name: query.get(name, usual) for name, usual in (SHOWN | FOLDED).items()},
        **{name: query[name] for name in query if name.startswith(FINDING)},
    }


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
    limits = {kind.value: values[f"rounds_{kind}"].strip() for kind in ProposerKind}
    return {
        kind: int(most) if most.isdecimal() else None
        for kind, most in limits.items()
        if not most.isdecimal() or int(most)
    }


def _create(
    request: HttpRequest, form: CampaignForm, problem: ProblemSpec, values: dict[str, str]
) -> Campaign | None:
    """The campaign; None where it was refused, which the form then says."""
    found = form.cleaned_data
    # A browser sends the line ends of a text as it likes.
    intake = {name: values[name].replace("\r\n", "\n").strip() for name in INTAKE}
    try:
        wish = Wish(
            problem=problem.folder,
            platform=found["platform"],
            backend=found["backend"],
            policy=StopPolicy(
                target_fraction=found["goal"] / 100,
                max_rounds=found["rounds"],
                max_wall_h=found["hours"],
                max_device_h=found["device_hours"],
                restart=RestartPolicy(found["restart"]),
            ),
            goal=found["target"],
            findings=_findings(values),
            own_kernels=_own_kernels(values),
            require_sanitizers=bool(values["require_sanitizers"])
            and values["backend"] in SANITIZED,
            baselines=not values["no_baselines"],
            proposers=_proposers(values),
            intake=Intake(**{name: intake[name] or usual for name, usual in INTAKE.items()}),
            created_by=request.user,
            project=values["project"],
        )
        # Both or none, so that a refused start leaves no draft behind.
        with transaction.atomic():
            campaign = create_campaign(wish)
            if "draft" not in request.POST:
                notify(campaign, confirm(campaign))
    except (CampaignRefused, IntakeError, ProblemError, TargetUnknown) as error:
        form.refuse(error)
        return None
    return campaign


def _command(values: dict[str, str]) -> str:
    """The command line that does the same."""
    options = {name: values[name] for name in OPTIONS}
    # One of the two, and the one in words where it is given.
    options.pop("goal" if options["target"] else "target")
    if (proposers := _proposers(values)) != USUAL:
        options["proposers"] = told_budgets(proposers)
    if values["restart"] != RestartPolicy.TAKE:
        options["restart"] = values["restart"]
    given = {name: values[name].strip() for name in INTAKE}
    options |= {name: text for name, text in given.items() if text != INTAKE[name]}
    parts = [".venv/bin/python", "manage.py", "campaign", "new"]
    for name, value in options.items():
        parts += [f"--{name.replace('_', '-')}", value] if value else []
    for kind, stance in _findings(values).items():
        parts += ["--findings", f"{kind}={stance}"]
    for kernel in _own_kernels(values):
        parts += ["--own-kernel", kernel]
    if values["require_sanitizers"] and values["backend"] in SANITIZED:
        parts.append("--require-sanitizers")
    return shlex.join([*parts, "--no-baselines"] if values["no_baselines"] else parts)
