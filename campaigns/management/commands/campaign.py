"""`campaign new|run|list|show|watch|placeholder|…|report`: the doors to a campaign."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from django.db import transaction

from campaigns.devices.discover import DeviceError, ensure_platform, this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.lineage.git import LineageError
from campaigns.lineage.records import branch_of
from campaigns.lineage.repository import repository_of
from campaigns.management import campaign_options as options
from campaigns.management.base_command import ExitCode, Exits, Verb, argument
from campaigns.management.campaign_options import KEY
from campaigns.management.facts import (
    campaign_details,
    campaign_facts,
    campaign_line,
    campaign_text,
    event_facts,
    found_facts,
    found_words,
    look_line,
    percentage,
)
from campaigns.management.importing import IMPORT, IMPORTED, ImportVerbs
from campaigns.management.prepare import prepare_database, prepare_platform
from campaigns.models import AbortReason, Campaign, CampaignState, RestartAnswer
from campaigns.models.campaign import measured_here
from campaigns.records.device_waits import no_worker_told
from campaigns.reports.lineage import commit_facts, commit_line
from campaigns.reports.report import render_report
from campaigns.rules.stop.intake import Intake, IntakeError
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.stop.proposers import ProposerKind, ProposersError, parse_budgets
from campaigns.rules.target.ceilings import PLACEHOLDER
from campaigns.rules.target.goal import GoalError, parse_goal
from campaigns.rules.verdict.finding_kinds import PolicyError, parse_choices
from campaigns.steps.lifecycle.control import TargetUnknown, confirm, pause, resume, stop
from campaigns.steps.lifecycle.create_campaign import (
    CampaignRefused,
    UnknownPlatform,
    Wish,
    create_campaign,
)
from campaigns.steps.lifecycle.load_sample import SampleRefused, load_sample
from campaigns.steps.lifecycle.remove_sample import remove_sample
from campaigns.steps.lifecycle.restart import answer_restart, unmask
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.lifecycle.set_target import PlaceholderRefused, allow_placeholder
from campaigns.steps.measuring.series import NotInSeries, queue_campaigns
from campaigns.steps.notify import Next, notify
from campaigns.steps.problems import problem_here
from campaigns.steps.rounds.bisect import BisectDevice, BisectQuestion, BisectRefused, bisect
from campaigns.steps.rounds.close_round import rebuild
from campaigns.steps.worker import WorkerContext, choose_device, worker_beat
from campaigns.trails.exporters.archive import reproducer_archive, trail_archive, trail_name
from campaigns.trails.importers.claims import TrailRefused
from knowledge.lookup.listing import platform_named

WATCH_EVERY_S, PATIENCE_S = 1.0, 600.0
INTAKE = tuple(Intake().stored)
GOAL_PERCENT = 90.0
# The option stands in these in the place of the field.
OF_OPTIONS = (CampaignRefused, IntakeError, PolicyError, ProposersError)


class Command(ImportVerbs):
    help = "Campaigns: one problem on one platform with one backend and one goal"
    exits: ClassVar[Exits] = {
        **dict.fromkeys((UnknownPlatform, NotInSeries), ExitCode.NOT_FOUND),
        TargetUnknown: ExitCode.NO_APPROVED_VALUE,
        **dict.fromkeys(OF_OPTIONS, ExitCode.USAGE),
        **dict.fromkeys((DeviceError, GoalError, LineageError, TrailRefused), ExitCode.USAGE),
        **dict.fromkeys((BisectRefused, PlaceholderRefused, SampleRefused), ExitCode.USAGE),
    }

    def verbs(self) -> tuple[Verb, ...]:
        draft = argument("--draft", action="store_true", help="do not confirm it yet")
        local = argument("--local", action="store_true", help="in this process, without the queue")
        state = argument("--state", choices=CampaignState.values)
        archived = argument("--archived", action="store_true", help="those out of sight instead")
        user = argument("--by", default="", help="whose it is, a user name; default: a command's")
        remove = argument("--remove", action="store_true", help="delete it with all of its rows")
        out = argument("--out", type=Path, help="write the HTML here instead of to stdout")
        archive = argument("--out", type=Path, help="the file; default: named after the campaign")
        return (
            Verb(
                "new",
                "create a campaign for the workers",
                self.new,
                (*options.WISH, *options.FROM, draft),
            ),
            Verb(
                "run",
                "create a campaign and follow it to its end",
                self.follow,
                (*options.WISH, local),
            ),
            Verb("list", "list campaigns, newest first", self.list_all, (state, archived)),
            Verb("sample", "load the sample, or remove it", self.sample, (user, remove)),
            Verb("show", "show one campaign with its rounds", self.show, (KEY,)),
            Verb("watch", "print events until the campaign ends", self.watch, (KEY,)),
            Verb("confirm", "release a draft to the workers", self._control(confirm), (KEY,)),
            Verb("placeholder", "assume a value without a citation", self.assume, options.ASSUMED),
            Verb("pause", "hold after the running evaluation", self._control(pause), (KEY,)),
            Verb("resume", "continue a paused campaign", self._control(resume), (KEY,)),
            Verb("restart", "take or decline the offered restart", self.restart, options.RESTART),
            Verb("unmask", "let the proposer see a hidden round", self.unmask, options.UNMASK),
            Verb(
                "stop", "end it; what a worker is at is finished first", self._control(stop), (KEY,)
            ),
            Verb("report", "write the self-contained HTML report", self.report, (KEY, out)),
            Verb(
                "export",
                "write the whole trail as one .zip",
                self.export,
                (KEY, archive, options.ONE_ROUND),
            ),
            Verb("import", "import a trail, of kopt or of another system", self.bring, IMPORT),
            Verb("imported", "list or show what was imported", self.imported, IMPORTED),
            Verb("lineage", "write accepted rounds as git commits", self.lineage, (KEY,)),
            Verb("remeasure", "measure against v0 again", self.remeasure, options.REMEASURE),
            Verb("bisect", "find the first slower accepted round", self.bisect, options.BISECT),
        )

    def new(self, *, draft: bool, manifest: Path | None, yes: bool, **wish: Any) -> None:
        if manifest is not None:
            try:
                found = options.offered_in(manifest)
            except FileNotFoundError:
                self.fail(ExitCode.NOT_FOUND, f"{manifest}: no such file")
            wish = options.filled(wish, found)
            if not yes:
                wish_values = {name: wish[name] for name in options.OPTIONS}
                self.emit(
                    {"campaign": None, **wish_values, "left": found.left},
                    options.offer_text(wish, found),
                )
                return
        campaign = self._create(wish) if draft else self._start(wish)
        self.emit(campaign_facts(campaign), campaign_line(campaign))

    def follow(self, *, local: bool, **wish: Any) -> None:
        # What is followed to its end waits for nobody, unless it was asked to.
        wish["proposers"] = wish["proposers"] or ProposerKind.SEARCH
        if local:
            campaign = self._create(wish, here=True)
            prepare_platform(this_device(), self.progress, always_measured=False)
            try:
                confirm(campaign)
            except TargetUnknown as error:
                raise TargetUnknown(f"{campaign.pk} stays a draft: {error}") from None
            name = f"local-{campaign.pk}"
            device = choose_device(name)
            worker = worker_beat(name, device)
            with EvaluatorService() as service:
                context = WorkerContext(service, device, worker, patience_s=PATIENCE_S)
                run_here(campaign.pk, context, self.progress)
        else:
            campaign = self._start(wish)
            self._follow_events(campaign, lambda event: self.progress(event["message"]))
        campaign.refresh_from_db()
        self.emit(campaign_facts(campaign), campaign_text(campaign))
        if not campaign.is_finished:
            going_on = f"`campaign resume {campaign.pk}` continues it"
            self.fail(
                ExitCode.USAGE, f"{campaign.pk} is {campaign.doing}, not finished; {going_on}"
            )
        if campaign.state == CampaignState.ABORTED:
            unaccepted = campaign.stop_reason == AbortReason.BASELINE_FAILED
            code = ExitCode.NOT_ACCEPTED if unaccepted else ExitCode.USAGE
            self.fail(code, f"{campaign.pk} aborted: {campaign.stop_sentence}")

    def list_all(self, *, state: str | None, archived: bool) -> None:
        rows = Campaign.objects.for_list().filter(archived__isnull=not archived)
        found = list(rows.filter(state=state) if state else rows)
        self.emit([campaign_facts(c) for c in found], "\n".join(map(campaign_line, found)))

    def sample(self, *, by: str, remove: bool) -> None:
        if not remove:
            campaign = load_sample(self.user(by) if by else None)
            self.emit(campaign_facts(campaign), campaign_line(campaign))
            return
        rows = Campaign.objects.exclude(measured_here())
        there = self.row(rows, "the sample: is not loaded")
        key = there.pk
        remove_sample(there)
        self.emit({"campaign": key, "removed": True}, f"campaign {key}: removed, with its rows")

    def show(self, *, campaign: int) -> None:
        row = self._get(campaign)
        self.emit(campaign_details(row), campaign_text(row))

    def watch(self, *, campaign: int) -> None:
        def print_event(event: dict[str, Any]) -> None:
            self.say(json.dumps(event) if self.as_json else event["message"])

        self._follow_events(self._get(campaign), print_event)

    def report(self, *, campaign: int, out: Path | None) -> None:
        row = self._get(campaign)
        html = render_report(row)
        if out is None:
            self.emit({"campaign": row.pk, "html": html}, html)
        else:
            self.write(out, html.encode(), {"campaign": row.pk})

    def export(self, *, campaign: int, out: Path | None, number: int | None) -> None:
        row = self._get(campaign)
        if number is not None:
            try:
                content = reproducer_archive(row, number)
            except LookupError as error:
                self.fail(ExitCode.NOT_FOUND, str(error))
            file = out or Path(f"{trail_name(row)}_round-{number}.zip")
            self.write(file, content, {"campaign": row.pk, "round": number})
            return
        file = out or Path(f"{trail_name(row)}.zip")
        self.write(file, trail_archive(row), {"campaign": row.pk})

    def lineage(self, *, campaign: int) -> None:
        row = self._get(campaign)
        commits = rebuild(row)
        branch, repository = branch_of(row), str(repository_of(row.pk)) if commits else None
        place = {"branch": branch, "repository": repository}
        lines = [f"branch: {branch}", f"repository: {repository or 'none, nothing is accepted'}"]
        self.emit(
            {"campaign": row.pk, **place, "commits": [commit_facts(one) for one in commits]},
            "\n".join([*lines, *map(commit_line, commits)]),
        )

    def remeasure(self, *, campaigns: list[int]) -> None:
        queued = queue_campaigns(campaigns, "asked for by a command")
        rows = [(one.campaign, one.candidate.round.number, one) for one in queued]
        found = [{"campaign": c.pk, "round": n, "evaluation": one.pk} for c, n, one in rows]
        lines = [f"campaign {c.pk}, round {n}: queued, evaluation {one.pk}" for c, n, one in rows]
        self.emit(found, "\n".join(lines) or "nothing: no campaign has an accepted round")

    def bisect(
        self, *, campaign: int, good: int, bad: int | None, slower_than: str, case: list[str]
    ) -> None:
        row = self._get(campaign)
        try:
            device = this_device()
            if ensure_platform(device).pk != row.platform_id:
                raise BisectRefused(f"device: {device.name}; accepted: a {row.platform.name}")
            question = BisectQuestion(row, good, bad, percentage(slower_than), tuple(case))
            with EvaluatorService() as service:
                place = BisectDevice(service, device, PATIENCE_S)
                found = bisect(question, place, lambda one: self.progress(look_line(one, good)))
        except OSError as error:
            self.fail(ExitCode.USAGE, f"{error.filename or 'scratch'}: {error.strerror}")
        self.emit(found_facts(found, question), found_words(found, question))

    def assume(self, *, campaign: int, question: str, value: str, why: str, by: str) -> None:
        row = self._get(campaign)
        made = allow_placeholder(row, question, value, why, self.user(by))
        value_facts = {name: getattr(made, name) for name in ("question", "value", "unit", "shown")}
        words = f"{question} {value}: {PLACEHOLDER}, allowed by {by}"
        self.emit({"campaign": row.pk, **value_facts, "reason": why, "allowed_by": by}, words)

    def restart(self, *, campaign: int, decline: bool) -> None:
        answer = RestartAnswer.DECLINED if decline else RestartAnswer.TAKEN
        self._control(partial(answer_restart, answer=answer))(campaign=campaign)

    def unmask(self, *, campaign: int, round: int) -> None:
        row = self._get(campaign)
        unmask(row, round)
        self.emit({"campaign": row.pk, "unmasked": round}, f"round {round} is no longer hidden")

    def _control(self, step: Callable[[Campaign], Next]) -> Callable[..., None]:
        def run(*, campaign: int) -> None:
            row = self._get(campaign)
            notify(row, step(row))
            self.emit(campaign_facts(row), campaign_line(row))

        return run

    def _get(self, key: int) -> Campaign:
        otherwise = f"campaign {key}: no such campaign"
        return self.row(Campaign.objects.for_list(), otherwise, pk=key)

    def _start(self, wish: dict[str, Any]) -> Campaign:
        """A confirmed campaign, or the end of the command with nothing stored."""
        try:
            with transaction.atomic():
                campaign = self._create(wish)
                notify(campaign, confirm(campaign))
        except TargetUnknown as error:
            draft = "Or `campaign new --draft`, and a curator assumes it: `campaign placeholder`"
            raise TargetUnknown(f"{error} {draft}") from None
        if warning := no_worker_told(campaign):
            self.progress(warning)
        return campaign

    def _create(self, wish: dict[str, Any], *, here: bool = False) -> Campaign:
        """A draft, or the end of the command before anything is stored or measured."""
        wish = wish | {name: usual for name, usual in options.USUAL.items() if wish[name] is None}
        for name in options.NEEDED:
            if wish[name] is None:
                self.fail(ExitCode.USAGE, f"{name}: is needed; accepted: --{name}, or a manifest")
        if wish["target"] is not None and wish["goal"] is not None:
            self.fail(ExitCode.USAGE, "target and goal are both given; accepted: one of them")
        try:
            percent = GOAL_PERCENT if wish["goal"] is None else wish["goal"]
            policy = StopPolicy(
                target_fraction=options.goal_share(percent),
                max_rounds=wish["rounds"],
                max_wall_h=wish["hours"],
                max_device_h=wish["device_hours"],
                restart=wish["restart"],
            )
        except ValueError as error:
            self.fail(ExitCode.USAGE, options.as_typed(error))
        goal = parse_goal(wish["target"]) if wish["target"] is not None else None
        findings = parse_choices(wish["findings"])
        return create_campaign(
            Wish(
                problem=problem_here(wish["problem"], wish["project"]).folder,
                platform=self._platform(wish["platform"], here=here),
                backend=wish["backend"],
                cases=tuple(wish["case"]),
                policy=policy,
                goal=goal,
                findings=findings,
                own_kernels=tuple(wish["own_kernel"]),
                require_sanitizers=wish["require_sanitizers"],
                baselines=not wish["no_baselines"],
                proposers=parse_budgets(wish["proposers"]),
                intake=Intake(**{name: wish[name] for name in INTAKE}),
                title=wish["title"],
                seed=wish["seed"],
                project=wish["project"],
            )
        )

    def said_of(self, error: Exception) -> str:
        """The error, with the option in place of the field that it came from."""
        return (
            options.as_typed(error)
            if isinstance(error, (*OF_OPTIONS, ProblemError))
            else str(error)
        )

    def _platform(self, slug_option: str | None, *, here: bool) -> str:
        """The slug to create with; a run in this process is one on this host's device."""
        if here:
            prepare_database(self.progress)
        elif slug_option:
            return slug_option
        slug = ensure_platform(this_device()).slug
        if slug_option and platform_named(slug_option).slug != slug:
            raise CampaignRefused(f"platform: {slug_option!r}; accepted with --local: {slug}")
        return slug

    def _follow_events(self, campaign: Campaign, use: Callable[[dict[str, Any]], None]) -> None:
        last_event, finished = 0, False
        while not finished:
            # Read before the events, so that the last event is never missed.
            finished = Campaign.objects.get(pk=campaign.pk).is_finished
            for event in campaign.events.filter(pk__gt=last_event):
                use(event_facts(event))
                last_event = event.pk
            if not finished:
                time.sleep(WATCH_EVERY_S)
