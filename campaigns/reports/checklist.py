"""What to know before a draft is confirmed: questions that records answer, with their sources."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from campaigns.models import Campaign, Evaluation, EvaluationState, Round, Worker
from campaigns.models.kinds import TORCH
from campaigns.records.evaluations import report_of
from campaigns.records.passports import state_of
from campaigns.records.target.ceilings import ceilings_of, missing_spec_of
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.verdict.decision import VerdictWord

# What a campaign writes: sources, reports and scratch files of its builds.
LEAST_FREE_GB = 1.0
GB = 1e9


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """yes: whether all is well; None where no record says. href: of the source."""

    question: str
    yes: bool | None
    found: str
    source: str
    href: str = ""

    @property
    def word(self) -> str:
        """The answer in one word."""
        return {True: "yes", False: "no", None: "not known"}[self.yes]


def checklist(campaign: Campaign) -> list[ChecklistItem]:
    """The questions, in the order in which a campaign depends on them."""
    workers = list(Worker.objects.filter(platform=campaign.platform).order_by("-heartbeat_at"))
    worker = next((one for one in workers if one.is_alive), None) or next(iter(workers), None)
    # The free space of this host now; records do not hold it.
    free = shutil.disk_usage(settings.DATA_DIR).free / GB
    return [
        *_device(campaign, worker),
        *_ceilings(campaign),
        _problem(campaign),
        _tools(campaign),
        ChecklistItem(
            "Is there enough disk space?",
            free >= LEAST_FREE_GB,
            f"{free:.1f} GB free; at least {LEAST_FREE_GB:g} GB",
            "the data folder, checked now",
        ),
    ]


def _device(campaign: Campaign, worker: Worker | None) -> Iterator[ChecklistItem]:
    """Whether there is one, and whether its noise is known."""
    there, quiet = "Is there a device of this platform?", "Is the noise of the device known?"
    href = reverse("workers")
    if worker is None:
        found = f"no {campaign.platform.name} was ever seen"
        yield ChecklistItem(there, None, found, "workers", href)
        yield ChecklistItem(quiet, None, "no worker, so no noise passport", "workers")
        return
    href = f"{href}#worker-{worker.pk}"
    seen = "is alive" if worker.is_alive else "was last seen"
    at = f"{worker.heartbeat_at:%Y-%m-%d %H:%M} UTC"
    found = f"{worker.device} of {worker.name} {seen} ({at})"
    yield ChecklistItem(there, worker.is_alive, found, "workers", href)
    state = state_of(worker)
    known = None if state.passport is None else not state.doubts
    source = f"noise passport {state.passport.pk}" if state.passport else "workers"
    yield ChecklistItem(quiet, known, state.words, source, href)


def _ceilings(campaign: Campaign) -> Iterator[ChecklistItem]:
    known = ceilings_of(campaign)
    for name, found in (("bandwidth", known.bandwidths), ("compute", known.computes)):
        question = f"Is the ceiling of {name} cited?"
        cited, assumed = choose_ceiling(found), known.assumed.get(name)
        if cited is not None:
            text = f"{cited.display}, {cited.evidence}"
            yield ChecklistItem(question, True, text, cited.citation, cited.href)
        elif assumed is not None:
            text = f"{assumed.display}: {assumed.evidence}, without a citation"
            yield ChecklistItem(question, False, text, "placeholder", "#gaps")
        else:
            href = campaign.platform.get_absolute_url()
            yield ChecklistItem(
                question, False, missing_spec_of(campaign, name).shown, "the platform's page", href
            )


def _problem(campaign: Campaign) -> ChecklistItem:
    """Whether this v0 has passed here before; the same files are the same Problem row."""
    question = "Has v0 passed its checks?"
    rounds = Round.objects.filter(
        number=1,
        campaign__problem=campaign.problem,
        campaign__platform=campaign.platform,
        campaign__backend=campaign.backend,
        verdict__isnull=False,
    )
    last = rounds.select_related("verdict").order_by("-pk").first()
    if last is None:
        found = "it was never judged here; round 1 does that"
        return ChecklistItem(question, None, found, "no record")
    passed = last.verdict.word == VerdictWord.ACCEPTED
    return ChecklistItem(question, passed, last.verdict.sentence, *_source(last))


def _tools(campaign: Campaign) -> ChecklistItem:
    """Whether the last evaluation of this backend on the platform found its tools."""
    question = "Do the tools work on that device?"
    done = Evaluation.objects.filter(
        state=EvaluationState.DONE,
        candidate__round__campaign__platform=campaign.platform,
        candidate__round__campaign__backend=campaign.backend,
    )
    done = done.exclude(outcome="").exclude(kind__in=TORCH)
    last = done.select_related("candidate__round").order_by("-pk").first()
    report = report_of(last) if last else None
    if last is None or report is None:
        found = f"no {campaign.backend} candidate was evaluated there; `doctor` checks a host"
        return ChecklistItem(question, None, found, "no record")
    tools = ", ".join(f"{name} {value}" for name, value in sorted(report.environment.items()))
    works, found = report.outcome != "broken_host", tools or str(report.outcome)
    return ChecklistItem(question, works, found, *_source(last.candidate.round))


def _source(round_: Round) -> tuple[str, str]:
    """A round as a source, and its address."""
    href = reverse("round", args=[round_.campaign_id, round_.number])
    return f"round {round_.number} of campaign {round_.campaign_id}", href
