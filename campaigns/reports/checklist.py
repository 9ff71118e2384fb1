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
from campaigns.records.target.ceilings import ceilings_of
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.specs.cited import UNKNOWN

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
    return [
        _device(campaign, worker),
        _passport(worker),
        *_ceilings(campaign),
        _problem(campaign),
        _tools(campaign),
        _disk(),
    ]


def _device(campaign: Campaign, worker: Worker | None) -> ChecklistItem:
    question, source = "Is there a device of this platform?", "workers"
    href = reverse("workers")
    if worker is None:
        return ChecklistItem(
            question, None, f"no {campaign.platform.name} was ever seen", source, href
        )
    seen = "is alive" if worker.is_alive else "was last seen"
    at = f"{worker.heartbeat_at:%Y-%m-%d %H:%M} UTC"
    found = f"{worker.device} of {worker.name} {seen} ({at})"
    return ChecklistItem(question, worker.is_alive, found, source, f"{href}#worker-{worker.pk}")


def _passport(worker: Worker | None) -> ChecklistItem:
    question = "Is the noise of the device known?"
    if worker is None:
        return ChecklistItem(question, None, "no worker, so no noise passport", "workers")
    state = state_of(worker)
    known = None if state.passport is None else not state.doubts
    source = f"noise passport {state.passport.pk}" if state.passport else "workers"
    return ChecklistItem(
        question, known, state.words, source, f"{reverse('workers')}#worker-{worker.pk}"
    )


def _ceilings(campaign: Campaign) -> Iterator[ChecklistItem]:
    known = ceilings_of(campaign)
    for name, found in (("bandwidth", known.bandwidths), ("compute", known.computes)):
        question = f"Is the ceiling of {name} cited?"
        cited = choose_ceiling(found)
        assumed = known.assumed.get(name)
        if cited is not None:
            text = f"{cited.display}, {cited.evidence}"
            yield ChecklistItem(question, True, text, cited.citation, cited.href)
        elif assumed is not None:
            text = f"{assumed.display}: {assumed.evidence}, without a citation"
            yield ChecklistItem(question, False, text, "placeholder", "#gaps")
        else:
            yield ChecklistItem(question, False, UNKNOWN, "the platform's page",
                         campaign.platform.get_absolute_url())  # fmt: skip


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
        return ChecklistItem(
            question, None, "it was never judged here; round 1 does that", "no record"
        )
    href = reverse("round", args=[last.campaign_id, last.number])
    passed = last.verdict.word == VerdictWord.ACCEPTED
    source = f"round 1 of campaign {last.campaign_id}"
    return ChecklistItem(question, passed, last.verdict.sentence, source, href)


def _tools(campaign: Campaign) -> ChecklistItem:
    """Whether the last evaluation of this backend on the platform found its tools."""
    question = "Do the tools work on that device?"
    done = (
        Evaluation.objects.filter(
            state=EvaluationState.DONE,
            candidate__round__campaign__platform=campaign.platform,
            candidate__round__campaign__backend=campaign.backend,
        )
        .exclude(outcome="")
        .exclude(kind__in=TORCH)
    )
    last = done.select_related("candidate__round").order_by("-pk").first()
    report = report_of(last) if last else None
    if last is None or report is None:
        found = f"no {campaign.backend} candidate was evaluated there; `doctor` checks a host"
        return ChecklistItem(question, None, found, "no record")
    round_ = last.candidate.round
    href = reverse("round", args=[round_.campaign_id, round_.number])
    tools = ", ".join(f"{name} {value}" for name, value in sorted(report.environment.items()))
    works = report.outcome != "broken_host"
    source = f"round {round_.number} of campaign {round_.campaign_id}"
    return ChecklistItem(question, works, tools or str(report.outcome), source, href)


def _disk() -> ChecklistItem:
    """The free space of this host now; records do not hold it."""
    free = shutil.disk_usage(settings.DATA_DIR).free / GB
    found = f"{free:.1f} GB free; at least {LEAST_FREE_GB:g} GB"
    question = "Is there enough disk space?"
    return ChecklistItem(question, free >= LEAST_FREE_GB, found, "the data folder, checked now")
