"""Create a campaign in state draft, with its measuring rules frozen."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from django.db import transaction

from campaigns.evaluator import contract
from campaigns.evaluator.contract.looks import LOOKS
from campaigns.models import Campaign, Problem, Protocol
from campaigns.models.event import record
from campaigns.proposers.base import proposer_names
from campaigns.records.baselines import WANTED
from campaigns.records.findings import stored_policy
from campaigns.rules.stop.intake import Intake
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.stop.proposers import USUAL, Budgets, ProposersError, read_budgets
from campaigns.rules.target.goal import Goal, GoalKind
from campaigns.rules.verdict.finding_kinds import (
    Examined,
    FindingKind,
    PolicyError,
    Stance,
    read_policy,
)
from campaigns.rules.verdict.sanitizers import BACKENDS as SANITIZED
from campaigns.steps.lifecycle.set_project import require_fits
from campaigns.steps.problems import import_problem
from campaigns.syntax.findings.find import findings_of
from knowledge.curation.errors import CurationError
from knowledge.curation.projects import named_project, put_into
from knowledge.lookup.listing import NotKnown, platform_named
from knowledge.models import Platform, WorkKind

# Which backends are timed on which kind of platform; elsewhere `evaluate` can still check them.
TIMED_ON = {"cpu": ("cpp",), "gpu": ("triton", "cuda")}
# Cards of others are listed (`devices.discover.watched`), and nothing measures on them.
TIMED_VENDOR = "NVIDIA"
# A CPU shares its cores with everything else: longer bursts, fewer slots, less memory.
# Both may end at a look since version 2, and go on while nothing is decided since version 3.
CPU_PROTOCOL = contract.Protocol(
    version=3, blocks=5, burst_ms=10.0, max_slots=64, arena_mib=1024, trials=3, looks=LOOKS
)
GPU_PROTOCOL = contract.Protocol(version=3, burst_ms=10.0, looks=LOOKS)
LONGEST_TITLE = 200
LARGEST_SEED = 2**63 - 1
# A kernel's own name, as the tracer shows it without namespaces and template arguments.
KERNEL_NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
MOST_OWN_KERNELS = 16


class CampaignRefused(ValueError):
    """A campaign that cannot run; one line names the field and what is accepted."""


class UnknownPlatform(CampaignRefused):
    """A platform that is not in the wiki."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is requested. cases: names; empty means all cases of the platform.

    goal: None is the policy's share of the ceilings; a share given here goes into the policy.
    findings: kind of finding → stance, where it differs from what is usual for the backend.
    own_kernels: names of kernels that count as a candidate's own though a header or a macro defines
    them. proposer: the name of the built-in search. proposers: who may propose, each with its most
    rounds or None. require_sanitizers: whether a gain is accepted only after a sanitizer has run.
    baselines: whether torch is measured beside the incumbent. project: whose members alone see it;
    "" for everybody. A problem that is new here belongs there, too.
    """

    problem: Path
    platform: str
    backend: str
    cases: tuple[str, ...] = ()
    policy: StopPolicy = field(default_factory=StopPolicy)
    goal: Goal | None = None
    findings: Mapping[str, str] = field(default_factory=dict)
    own_kernels: tuple[str, ...] = ()
    require_sanitizers: bool = False
    baselines: bool = False
    intake: Intake = field(default_factory=Intake)
    proposer: str = "search"
    proposers: Budgets = field(default_factory=lambda: USUAL)
    title: str = ""
    seed: int | None = None
    created_by: Any = None
    project: str = ""


def create_campaign(wish: Wish) -> Campaign:
    """Store the campaign as a draft. Raises CampaignRefused or ProblemError; nothing is left."""
    # SQLite stores any length, and PostgreSQL and the pages do not: the same is refused by all.
    if len(wish.title) > LONGEST_TITLE:
        raise CampaignRefused(
            f"title: {len(wish.title)} characters; accepted: at most {LONGEST_TITLE}"
        )
    if wish.seed is not None and not 0 <= wish.seed <= LARGEST_SEED:
        raise CampaignRefused(f"seed: {wish.seed}; accepted: 0 to {LARGEST_SEED}")
    try:
        platform = platform_named(wish.platform)
    except NotKnown as error:
        raise UnknownPlatform(f"platform: {error}") from None
    if wish.proposer not in proposer_names():
        raise CampaignRefused(
            f"proposer: {wish.proposer!r}; accepted: {', '.join(proposer_names())}"
        )
    goal, policy = wish.goal or Goal(fraction=wish.policy.target_fraction), wish.policy
    if goal.kind is GoalKind.CEILING:
        policy = replace(policy, target_fraction=goal.fraction)
    with transaction.atomic():
        try:
            project = named_project(wish.project, wish.created_by)
            problem = import_problem(wish.problem, project, wish.created_by)
            require_fits(problem, project)
        except CurationError as error:
            raise CampaignRefused(str(error)) from None
        _check_backend(wish.backend, problem, platform)
        findings_policy = _findings_policy(wish, problem)
        title = f"{problem.title}, {wish.backend} on {platform.name}"
        if len(title) > LONGEST_TITLE:
            title = f"{title[: LONGEST_TITLE - 1]}…"
        campaign = Campaign.objects.create(
            title=wish.title or title,
            problem=problem,
            platform=platform,
            protocol=_protocol(wish, platform),
            backend=wish.backend,
            cases=_cases(wish.cases, problem, platform),
            proposer=wish.proposer,
            proposers=_proposers(wish),
            stop_policy=asdict(policy),
            goal=goal.stored,
            findings_policy=stored_policy(findings_policy),
            own_kernels=_own_kernels(wish),
            intake=wish.intake.stored | ({WANTED: True} if wish.baselines else {}),
            seed=secrets.randbits(31) if wish.seed is None else wish.seed,
            created_by=wish.created_by,
        )
        record(campaign, "created", f"{campaign.title}: created as a draft")
        put_into(project, WorkKind.CAMPAIGN, campaign.pk, wish.created_by)
    return campaign


def _proposers(wish: Wish) -> dict[str, int | None]:
    try:
        return {kind.value: most for kind, most in read_budgets(wish.proposers).items()}
    except ProposersError as error:
        raise CampaignRefused(str(error)) from None


def timed_on(platform: Platform) -> tuple[str, ...]:
    """The backends whose kernels are timed on it; none on a GPU that workers only list."""
    if platform.kind == "gpu" and platform.vendor != TIMED_VENDOR:
        return ()
    return TIMED_ON.get(platform.kind, ())


def _check_backend(backend: str, problem: Problem, platform: Platform) -> None:
    shipped = sorted(problem.backends)
    if backend not in shipped:
        raise CampaignRefused(
            f"backend: {backend!r} has no v0 in problem {problem.slug}; "
            f"accepted: {', '.join(shipped)}"
        )
    timed = [name for name in shipped if name in timed_on(platform)]
    if backend not in timed:
        raise CampaignRefused(
            f"backend: {backend!r} is not timed on {platform.slug} ({platform.vendor} "
            f"{platform.kind}); accepted there: {', '.join(timed) or 'none'}"
        )


def _findings_policy(wish: Wish, problem: Problem) -> dict[FindingKind, Stance]:
    """The policy of the backend with the requested changes; one that refuses v0 is an error."""
    try:
        policy = read_policy(wish.findings, wish.backend)
    except PolicyError as error:
        raise CampaignRefused(str(error)) from None
    name = problem.backends[wish.backend]
    flags = problem.flags_of(wish.backend)
    found = findings_of(contract.Source(name, problem.files[name], flags))
    refused = Examined(name, found, policy).of(Stance.REFUSED)
    if refused:
        first = refused[0]
        raise CampaignRefused(
            f"findings.{first.kind}: refused, but v0 has one ({name} line {first.line}, "
            f"{first.what}); accepted: allowed, flagged"
        )
    return policy


def _own_kernels(wish: Wish) -> list[str]:
    names, wrong = list(wish.own_kernels), ""
    if names and wish.backend not in TIMED_ON["gpu"]:
        wrong = f"kernels of backend {wish.backend} are not traced; accepted: none"
    elif len(names) > MOST_OWN_KERNELS:
        wrong = f"{len(names)} names; accepted: at most {MOST_OWN_KERNELS}"
    elif bad := [one for one in names if not KERNEL_NAME.fullmatch(one) or names.count(one) > 1]:
        wrong = (
            f"{bad[0]!r}; accepted: a kernel's name, without namespace and template arguments, once"
        )
    if wrong:
        raise CampaignRefused(f"own_kernels: {wrong}")
    return names


def _cases(wanted: tuple[str, ...], problem: Problem, platform: Platform) -> list[str]:
    meant = [c.name for c in problem.cases.all() if platform.kind in c.device_kinds]
    for name in wanted:
        if name not in meant:
            raise CampaignRefused(
                f"case: {name!r}; accepted for {problem.slug} on {platform.kind}: "
                f"{', '.join(meant) or 'none'}"
            )
    if not meant:
        raise CampaignRefused(f"problem: {problem.slug} has no case meant for a {platform.kind}")
    return [name for name in meant if name in wanted] if wanted else meant


def protocol_for(kind: str) -> contract.Protocol:
    """The rules of campaigns on this kind of device, "cpu" or "gpu"."""
    return CPU_PROTOCOL if kind == "cpu" else GPU_PROTOCOL


def _protocol(wish: Wish, platform: Platform) -> Protocol:
    if wish.require_sanitizers and wish.backend not in SANITIZED:
        raise CampaignRefused(
            f"require_sanitizers: no sanitizer runs on backend {wish.backend}; accepted for: "
            f"{', '.join(SANITIZED)}"
        )
    values = asdict(
        replace(protocol_for(platform.kind), require_sanitizers=wish.require_sanitizers)
    )
    if not wish.require_sanitizers:
        # Named only where it is requested, so that equal rules stay one protocol.
        del values["require_sanitizers"]
    return stored_protocol(values)


def stored_protocol(rules: Mapping[str, Any]) -> Protocol:
    """The row of these rules; equal ones are one protocol."""
    digest = hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
    return Protocol.objects.get_or_create(digest=digest, defaults={"rules": rules})[0]
