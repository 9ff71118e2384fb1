"""What to know before a draft is confirmed: each question answered by a record, with its source."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from campaigns.models import Campaign, Evaluation, EvaluationState, Round, Worker
from campaigns.records.passport.passports import state_of
from campaigns.records.round.reports import report_of
from campaigns.records.target.ceilings import ceilings_of
from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.specs.cited import UNKNOWN

# What a campaign writes: sources, reports and scratch files of its builds.
LEAST_FREE_GB = 1.0
GB = 1e9


@dataclass(frozen=True, slots=True)
class Answer:
    """yes: whether it is as it should be; None where no record says. href: of the source."""

    question: str
    yes: bool | None
    found: str
    source: str
    href: str = ""

    @property
    def word(self) -> str:
        """In a word, beside what was found."""
        return {True: "yes", False: "no", None: "not known"}[self.yes]


def checklist(campaign: Campaign) -> list[Answer]:
    """The questions in the order in which a campaign meets them."""
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


def _device(campaign: Campaign, worker: Worker | None) -> Answer:
    question, source = "Is a device of this platform there?", "workers"
    href = reverse("workers")
    if worker is None:
        return Answer(question, None, f"no {campaign.platform.name} was ever seen", source, href)
    seen = "is alive" if worker.is_alive else "was last seen"
    at = f"{worker.heartbeat_at:%Y-%m-%d %H:%M} UTC"
    found = f"{worker.device} of {worker.name} {seen} ({at})"
    return Answer(question, worker.is_alive, found, source, f"{href}#worker-{worker.pk}")


def _passport(worker: Worker | None) -> Answer:
    question = "Is its noise known?"
    if worker is None:
        return Answer(question, None, "no worker, so no noise passport", "workers")
    state = state_of(worker)
    known = None if state.passport is None else not state.doubts
    source = f"noise passport {state.passport.pk}" if state.passport else "workers"
    return Answer(question, known, state.words, source, f"{reverse('workers')}#worker-{worker.pk}")


def _ceilings(campaign: Campaign) -> Iterator[Answer]:
    known = ceilings_of(campaign)
    for name, found in (("bandwidth", known.bandwidths), ("compute", known.computes)):
        question = f"Is the ceiling of {name} cited?"
        cited = choose_ceiling(found)
        assumed = known.assumed.get(name)
        if cited is not None:
            yield Answer(question, True, f"{cited.display}, {cited.evidence}", cited.citation,
                         cited.href)  # fmt: skip
        elif assumed is not None:
            text = f"{assumed.display}: {assumed.evidence}, cited by nothing"
            yield Answer(question, False, text, "placeholder", "#gaps")
        else:
            yield Answer(question, False, UNKNOWN, "the platform's page",
                         campaign.platform.get_absolute_url())  # fmt: skip


def _problem(campaign: Campaign) -> Answer:
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
        return Answer(question, None, "it was never judged here; round 1 does that", "no record")
    href = reverse("round", args=[last.campaign_id, last.number])
    passed = last.verdict.word == VerdictWord.ACCEPTED
    source = f"round 1 of campaign {last.campaign_id}"
    return Answer(question, passed, last.verdict.sentence, source, href)


def _tools(campaign: Campaign) -> Answer:
    """As the last evaluation of this backend there recorded its surroundings."""
    question = "Do the tools work there?"
    done = Evaluation.objects.filter(
        state=EvaluationState.DONE,
        candidate__round__campaign__platform=campaign.platform,
        candidate__round__campaign__backend=campaign.backend,
    ).exclude(outcome="")
    last = done.select_related("candidate__round").order_by("-pk").first()
    report = report_of(last) if last else None
    if last is None or report is None:
        found = f"no {campaign.backend} candidate was evaluated there; `doctor` looks at a host"
        return Answer(question, None, found, "no record")
    round_ = last.candidate.round
    href = reverse("round", args=[round_.campaign_id, round_.number])
    told = ", ".join(f"{name} {value}" for name, value in sorted(report.environment.items()))
    works = report.outcome != "broken_host"
    source = f"round {round_.number} of campaign {round_.campaign_id}"
    return Answer(question, works, told or str(report.outcome), source, href)


def _disk() -> Answer:
    """Of this host, looked at now: records do not say how full a disk is."""
    free = shutil.disk_usage(settings.DATA_DIR).free / GB
    found = f"{free:.1f} GB free; at least {LEAST_FREE_GB:g} GB"
    question = "Is there room for its records?"
    return Answer(question, free >= LEAST_FREE_GB, found, "the data folder, looked at now")
