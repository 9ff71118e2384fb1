"""What the page of a round shows in each of its tabs; every tab has an address and reads its own.

The first one answers what a reviewer asks: is it faster, on every case, and what was changed?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import SimpleLazyObject

from campaigns.evaluator.contract import Report
from campaigns.models import Candidate, Evaluation, Round, StandingWord, Verdict
from campaigns.models.kinds import TORCH
from campaigns.profiles.reading import Profiled
from campaigns.records.campaigns import intake_of, target_of
from campaigns.records.cases import dispatch_of, no_split
from campaigns.records.device_waits import no_worker_of
from campaigns.records.evaluations import report_of
from campaigns.records.explained.advice import advice_record
from campaigns.records.explained.profiles import (
    Explained,
    explained_by,
    explained_of,
    looked_at,
    targets_in,
)
from campaigns.records.findings import finding_counts, found_lines
from campaigns.records.rounds import hypothesis_of
from campaigns.records.submissions import awaited_repair, not_now, takes_candidates
from campaigns.records.sweeps import sweep_of
from campaigns.records.target.device_limits import cited_limits
from campaigns.records.target.target_drift import drift_of
from campaigns.records.verdicts import classes_of, sanitizer_result
from campaigns.reports.case_table import CaseRow, busy_words, case_rows, seen_table
from campaigns.reports.kernel.code_sheet import Ran, code_sheet
from campaigns.reports.kernel.profile_sheet import ProfileSheet, profile_sheet
from campaigns.reports.kernel.splits import splits_of
from campaigns.reports.lineage import lineage_of, reproduce_commands
from campaigns.reports.rows import RoundRow, meanings, sessions_of, some_rows
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.attribution import attributions_of
from campaigns.rules.verdict.report_words import notes_of
from campaigns.views.lookup import candidate_of
from campaigns.views.sweep import panel_of
from knowledge.experience.recommend.others import RoundLearned, round_learned


class RoundFacts:
    """One round and what is stored about it, read when a tab asks for it."""

    def __init__(self, round_: Round, against: str = "", q: str = "") -> None:
        """against: of whose profile and code the tabs show the difference. q: counters with it."""
        self.q = q
        self.round = round_
        self.campaign = round_.campaign
        self._against = against

    @cached_property
    def candidate(self) -> Candidate | None:
        return candidate_of(self.round)

    @cached_property
    def verdict(self) -> Verdict | None:
        return getattr(self.round, "verdict", None)

    @cached_property
    def target(self) -> CampaignTarget:
        return target_of(self.campaign)

    @cached_property
    def row(self) -> RoundRow:
        return some_rows(self.campaign, [self.round.number], self.target)[self.round.number]

    @cached_property
    def rival(self) -> Candidate | None:
        """What it is compared with: the incumbent that it was measured against, or another's."""
        if self._against.isdecimal():
            other = self.campaign.rounds.filter(number=int(self._against[:6])).first()
            return candidate_of(other) if other else None
        return None if self._against == "none" else self.round.against

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation of the round's candidates, the newest first."""
        rows = Evaluation.objects.filter(candidate__round=self.round).exclude(kind__in=TORCH)
        return list(rows.select_related("candidate", "worker").order_by("-pk"))

    @cached_property
    def explained(self) -> Explained:
        """What was read of the candidate beside its trial."""
        own = (found for found in self.evaluations if found.candidate == self.candidate)
        return explained_by(own, self.campaign)

    @cached_property
    def measured(self) -> Evaluation | None:
        """The evaluation that the verdict rests on, else the newest."""
        return self.verdict.evaluation if self.verdict else next(iter(self.evaluations), None)

    @cached_property
    def report(self) -> Report | None:
        return report_of(self.measured) if self.measured else None

    @cached_property
    def cases(self) -> tuple[CaseRow, ...]:
        guard = intake_of(self.campaign).guard_policy
        return case_rows(self.row, self.report, self.target, guard)

    @cached_property
    def voids(self) -> list[Evaluation]:
        return [found for found in reversed(self.evaluations) if found.void]

    @cached_property
    def learned(self) -> RoundLearned:
        """What the round is to the team's experience."""
        tried = hypothesis_of(self.round)
        return round_learned(
            self.campaign.pk,
            self.round.number,
            tried.strategy if tried else "",
            self.campaign.backend,
            tried.follows if tried else (),
        )


def overview(facts: RoundFacts) -> dict[str, Any]:
    """Verdict, facts that decide, gates, hypothesis; the diff is the view's."""
    found, verdict = facts.round, facts.verdict
    sessions = sessions_of(found)
    checked = [case.checked for case in facts.cases]
    return {
        "sessions": sessions,
        "doubts": [s for s in sessions if s.word == StandingWord.NOT_REPRODUCED],
        "looked": sanitizer_result(verdict) if verdict else None,
        "hypothesis": hypothesis_of(found),
        "worst": next((c for c in facts.cases if c.result and c.result.gain), None),
        "right": sum(case.correct for case in checked),
        "checked": len(checked),
        "margin": max((case.margin for case in checked if case.margin), default=None),
        "busy": busy_words(facts.report),
        "voids": facts.voids,
        "learned": facts.learned,
        "drift": SimpleLazyObject(lambda: drift_of(facts.campaign)),
        "no_worker": "" if verdict else no_worker_of(facts.campaign),
        "awaited": None if verdict else awaited_repair(facts.campaign),
        **panel_of(facts.campaign, found, sweep_of(found)),
    }


def cases(facts: RoundFacts) -> dict[str, Any]:
    """Each case, each config class, and which kernel runs which class."""
    called = facts.campaign.rounds.filter(split__called_by=facts.round.number)
    return {
        "cases": facts.cases,
        "classes": classes_of(facts.verdict) if facts.verdict else (),
        "dispatch": dispatch_of(facts.round),
        "no_split": no_split(facts.round),
        "split_in": called.first(),
        "notes": notes_of(facts.report) if facts.report else (),
    }


def profile(facts: RoundFacts) -> dict[str, Any]:
    """Where the time goes, and how the work is laid on the device."""
    measured, candidate = facts.measured, facts.candidate
    splits = None
    if measured:
        # Without a query where it is the candidate of the page.
        is_own = candidate is not None and candidate.pk == measured.candidate_id
        source = candidate.source if candidate and is_own else measured.candidate.source
        splits = splits_of(facts.campaign, facts.report, source, facts.target)
    found = facts.explained.profiled
    return {
        "stored": facts.explained.stored,
        "sheet": _profile_sheet(facts, found) if found else None,
        "attributions": attributions_of(facts.report),
        "splits": splits,
        **_rivals(facts),
    }


def _profile_sheet(facts: RoundFacts, found: Profiled) -> ProfileSheet:
    rival = facts.rival
    other = explained_of(rival, facts.campaign).profiled if rival else None
    told = advice_record(one.name for one in found.findings)
    records = {name: record.words for name, record in told.items()}
    source = facts.candidate.text if facts.candidate else ""
    return profile_sheet(found, facts.campaign, other, records, facts.q, source)


def _rivals(facts: RoundFacts) -> dict[str, Any]:
    """Rounds whose incumbents were looked at, to compare with."""
    numbers = looked_at(facts.campaign).exclude(number=facts.round.number)
    rival = facts.rival
    return {
        "rivals": numbers.values_list("number", flat=True),
        "rival": rival.round.number if rival else None,
    }


def code(facts: RoundFacts) -> dict[str, Any]:
    """What the compiler made of the source, and what reading the source found."""
    own, rival = facts.candidate, facts.rival
    found, counted = facts.explained.code, facts.explained.profiled
    sheet = None
    if found and own:
        cases = facts.report.cases if facts.report else ()
        launches = (case.candidate.launch for case in cases if case.candidate)
        sheet = code_sheet(
            found,
            own.text,
            cited_limits(facts.campaign.platform).holds,
            partial(targets_in, campaign=facts.campaign),
            ran=Ran(next(filter(None, launches), None), counted.main if counted else None),
            against=explained_of(rival, facts.campaign).code if rival else None,
        )
    return {
        "code": found,
        "sheet": sheet,
        "findings": found_lines(own, facts.campaign) if own else None,
        **_rivals(facts),
    }


def surroundings(facts: RoundFacts) -> dict[str, Any]:
    """Sessions, clocks, neighbours, host."""
    return {
        "sessions": sessions_of(facts.round),
        "meanings": meanings(),
        "seen": seen_table(facts.report),
        "voids": facts.voids,
    }


def log(facts: RoundFacts) -> dict[str, Any]:
    """What compiler and runner said, and every candidate of the round."""
    return {"candidates": _candidates(facts), "repairs": facts.round.repairs.all()}


def reproduce(facts: RoundFacts) -> dict[str, Any]:
    """How to get the same numbers elsewhere, and the commit."""
    own = facts.candidate
    return {
        "commands": reproduce_commands(facts.campaign, facts.round, own) if own else (),
        "commit": getattr(facts.round, "commit", None),
        "lineage": SimpleLazyObject(lambda: lineage_of(facts.campaign)),
    }


@dataclass(frozen=True, slots=True)
class Tab:
    """words: on the tab. load: the facts that its template needs beside those of every tab."""

    words: str
    load: Callable[[RoundFacts], dict[str, Any]]


OVERVIEW = "overview"
# The last part of the address → tab, in the order of the page; the templates bear the same names.
TABS = {
    OVERVIEW: Tab("Overview", overview),
    "cases": Tab("Cases", cases),
    "profile": Tab("Profile", profile),
    "code": Tab("Machine code", code),
    "surroundings": Tab("Surroundings", surroundings),
    "log": Tab("Log", log),
    "reproduce": Tab("Reproduce", reproduce),
}


def tab_context(found: Round, tab: str, against: str = "", q: str = "") -> dict[str, Any]:
    """What the template of a tab needs; `tab` is a key of `TABS`. against, q: see `RoundFacts`."""
    facts = RoundFacts(found, against, q)
    return {
        "campaign": facts.campaign,
        "round": found,
        "row": facts.row,
        "verdict": facts.verdict,
        "candidate": facts.candidate,
        "measured": facts.measured,
        "report": facts.report,
        "target": facts.target,
        "tab": tab,
        "tabs": [(name, one.words) for name, one in TABS.items()],
        **_offers(facts),
        **neighbours(found),
        **TABS[tab].load(facts),
    }


def _offers(facts: RoundFacts) -> dict[str, Any]:
    """What can be done about the round."""
    campaign, verdict = facts.campaign, facts.verdict
    is_best = facts.round.chosen_id == campaign.incumbent_id
    return {
        "takes_candidates": verdict is not None and takes_candidates(campaign),
        "may_repeat": verdict and facts.round.number > 1 and not (is_best or not_now(campaign)),
    }


def neighbours(found: Round) -> dict[str, int | None]:
    """The numbers of the rounds before and after."""
    numbers: QuerySet[Round] = found.campaign.rounds.order_by("number")
    before = numbers.filter(number__lt=found.number).last()
    after = numbers.filter(number__gt=found.number).first()
    return {"before": before.number if before else None, "after": after.number if after else None}


def _candidates(facts: RoundFacts) -> list[dict[str, Any]]:
    """The round's candidates, each with its own evaluations in the order of their making."""
    return [
        {
            "pk": row.pk,
            "ordinal": row.ordinal,
            "label": row.label,
            "findings": finding_counts(row, facts.campaign),
            "repair": getattr(row, "repair", None),
            "found": [e for e in reversed(facts.evaluations) if e.candidate_id == row.pk],
        }
        for row in facts.round.candidates.select_related("repair")
    ]
