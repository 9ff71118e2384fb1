"""`round`: hand in a candidate, mend it, and see what rounds tried and found."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from campaigns.management.base_command import BaseCommand, ExitCode, Exits, Verb, argument
from campaigns.management.facts import round_facts, round_line, round_text
from campaigns.models import Answer, Campaign, Round, RoundState, Submission, Submitter
from campaigns.proposers.evidence import is_counter
from campaigns.proposers.handed_in import BUCKETS, LARGEST_SOURCE, HandedIn, SubmissionRefused
from campaigns.proposers.situation import facts_about
from campaigns.records.submissions import awaited_repair
from campaigns.records.values import gain_value
from campaigns.reports.comparison.rounds import compare_rounds
from campaigns.reports.comparison.sections import case_facts
from campaigns.reports.proposers import submission_sheet
from campaigns.reports.rows import with_standing
from campaigns.rules.search_log import SearchSource
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.measuring.standings import AnswerRefused, answer_standing
from campaigns.steps.notify import AGAIN, notify
from campaigns.steps.rounds.submit import measure_again, mend, submit

FOLLOW_EVERY_S = 1.0
COMMAND_LINE = "command line"
Made = TypeVar("Made")
WHOSE = (
    argument("--by", metavar="USER", help="the person whose candidate it is"),
    argument("--agent", metavar="NAME", help="the agent whose candidate it is"),
    argument("--wait", action="store_true", help="follow it to its verdict"),
)
SUBMIT = (
    argument("campaign", type=int, help="the campaign's number"),
    argument("file", type=Path, help="the source of the candidate"),
    argument("--title", default="", help="the idea in a few words"),
    argument("--change", default="", help="what the source changes, against the incumbent"),
    argument("--rationale", default="", help="why that should help"),
    argument("--metric", default="", help='what should move, such as "time per call"'),
    argument("--direction", default="", help="up or down"),
    argument("--amount", default="", help="by how much, such as 8%%"),
    argument(
        "--evidence",
        action="append",
        default=[],
        metavar="FACT",
        help="a measured fact of the incumbent that the hypothesis rests on: a case, limit, "
        "finding:NAME, code:NAME, line:NUMBER or metric:NAME; may be repeated; default: all but "
        "metrics",
    ),
    argument("--risks", default="", help="what may go wrong"),
    argument("--bucket", default=BUCKETS[0], help=f"{', '.join(BUCKETS)}; default: {BUCKETS[0]}"),
    argument("--strategy", default="", help="its name in the catalogue, if it has one"),
    argument(
        "--flags", help="for the compiler, in one text: --flags=-O3; default: the incumbent's"
    ),
    argument(
        "--searched",
        action="append",
        default=[],
        metavar="STEP",
        help="where the idea was looked for, as 'source | query | found'; may be repeated. "
        f"Sources: {', '.join(SearchSource)}",
    ),
    *WHOSE,
)
REPAIR = (
    argument("campaign", type=int, help="the campaign's number"),
    argument("file", type=Path, nargs="?", help="the source that mends what failed"),
    argument("--none", action="store_true", help="there is none; the round is judged as it failed"),
    argument("--flags", help="for the compiler; default: those of what failed"),
    *WHOSE,
)


class Command(BaseCommand):
    help = "Rounds: one hypothesis tried"
    exits: ClassVar[Exits] = {AnswerRefused: ExitCode.USAGE}

    def verbs(self) -> tuple[Verb, ...]:
        key = argument("campaign", type=int)
        number, other = argument("round", type=int), argument("other", type=int)
        answer = (
            key,
            number,
            argument("answer", help=" or ".join(Answer.values)),
            argument("--why", required=True, help="stays beside the gain"),
            argument(
                "--by", required=True, metavar="USER", help="the engineer or lead who answers"
            ),
        )
        return (
            Verb("submit", "hand in a candidate, with its hypothesis", self.submit, SUBMIT),
            Verb("repair", "mend a wrong candidate in its round", self.repair, REPAIR),
            Verb(
                "again",
                "measure a closed round's candidate again",
                self.again,
                (key, number, *WHOSE),
            ),
            Verb("show", "show one round", self.show, (key, number)),
            Verb("compare", "show two rounds side by side", self.compare, (key, number, other)),
            Verb("answer", "say what follows from a gain not reproduced", self.answer, answer),
        )

    def submit(
        self,
        *,
        campaign: int,
        file: Path,
        by: str | None,
        agent: str | None,
        wait: bool,
        **hypothesis: Any,
    ) -> None:
        row = self._campaign(campaign)
        candidate = self._candidate(row, file, hypothesis)
        made = self._take(partial(submit, row, candidate, *self._whose(by, agent)))
        self._follow(made, wait=wait)

    def again(self, *, campaign: int, round: int, wait: bool, **whose: str | None) -> None:
        row = self._campaign(campaign)
        made = self._take(partial(measure_again, row, round, *self._whose(**whose)))
        self._follow(made, wait=wait)

    def _follow(self, made: Submission, *, wait: bool) -> None:
        notify(made.campaign, AGAIN)
        if wait:
            self._wait_for(made)
            return
        sheet = submission_sheet(made)
        words = f"submission {made.pk} to campaign {made.campaign_id}: {sheet.words}"
        self.emit(sheet.facts, words)

    def repair(
        self,
        *,
        campaign: int,
        file: Path | None,
        none: bool,
        wait: bool,
        flags: str | None,
        **whose: str | None,
    ) -> None:
        row = self._campaign(campaign)
        if none == (file is not None):
            self.fail(ExitCode.USAGE, "file: accepted: a file, or --none")
        said = {"flags": flags, "evidence": (), "searched": ()}
        candidate = self._candidate(row, file, said) if file else None
        made = self._take(partial(mend, row, candidate, *self._whose(**whose)))
        notify(row, AGAIN)
        if wait and made.round.submission:
            self._wait_for(made.round.submission)
            return
        number = made.round.number
        self.emit(round_facts(self._get(campaign, number)), f"round {number}: {made.words}")

    def _campaign(self, key: int) -> Campaign:
        return self.row(Campaign.objects.all(), f"campaign {key}: no such campaign", pk=key)

    def _whose(self, by: str | None, agent: str | None) -> tuple[str, str, Any]:
        """Kind, name and account of whoever hands in."""
        kind = Submitter.AGENT if agent is not None else Submitter.PERSON
        return kind, by or COMMAND_LINE if agent is None else agent, self.user(by or None)

    def _candidate(self, row: Campaign, file: Path, hypothesis: dict[str, Any]) -> HandedIn:
        try:
            return candidate_in(row, file, hypothesis)
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{file}: no such file")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(ExitCode.USAGE, f"{file}: {error}; accepted: text in UTF-8")

    def _take(self, step: Callable[[], Made]) -> Made:
        try:
            return step()
        except SubmissionRefused as error:
            of_campaign = error.field == "campaign"
            self.fail(ExitCode.NOT_ALLOWED if of_campaign else ExitCode.USAGE, str(error))

    def _wait_for(self, made: Submission) -> None:
        """Print the round; anything but an accepted one is exit status 5."""
        round_ = follow(made, self.progress)
        if round_ is None:
            made.refresh_from_db()
            self.fail(ExitCode.NOT_ACCEPTED, submission_sheet(made).words)
        row = self._get(made.campaign_id, round_.number)
        self.emit(round_facts(row), round_text(row))
        if awaited := awaited_repair(row.campaign):
            more = f"`round repair {row.campaign_id} FILE` hands one in"
            self.fail(ExitCode.NOT_ACCEPTED, f"{awaited.words}; {more}")
        verdict = getattr(row, "verdict", None)
        if verdict is None or verdict.word != VerdictWord.ACCEPTED:
            word = VerdictWord(verdict.word).words if verdict else "not judged"
            self.fail(ExitCode.NOT_ACCEPTED, f"round {row.number}: {word}")

    def show(self, *, campaign: int, round: int) -> None:
        row = self._get(campaign, round)
        self.emit(round_facts(row), round_text(row))

    def compare(self, *, campaign: int, round: int, other: int) -> None:
        first, second = self._get(campaign, round), self._get(campaign, other)
        versus = compare_rounds(first.campaign, [first, second]).others[0]
        gain = versus.gain
        data = {
            "basis": versus.basis,
            "gain": gain_value(gain) if gain else None,
            "not_alike": [row.name for row in versus.differs],
            "cases": case_facts(versus),
            "rounds": [round_facts(first), round_facts(second)],
        }
        gained = f"round {other}: {gain.against(f'round {round}')}, " if gain else ""
        names = [f"round {number}" for number in (round, other)]
        lines = [f"  {case.name:16} {case.words(*names)}" for case in versus.cases]
        told = [round_line(first).strip(), round_line(second).strip(), *lines]
        self.emit(data, "\n".join([*told, gained + versus.basis]))

    def answer(self, *, campaign: int, round: int, answer: str, why: str, by: str) -> None:
        row = self._get(campaign, round)
        made = answer_standing(row, answer, why, self.user(by))
        self.emit(round_facts(row), f"round {round}: {made.words}, says {by}")

    def _get(self, campaign: int, number: int) -> Round:
        related = ("verdict", "against__round", "chosen", "submission")
        rows = with_standing(Round.objects.select_related(*related))
        otherwise = f"round {number} of campaign {campaign}: no such round"
        return self.row(rows, otherwise, campaign=campaign, number=number)


def candidate_in(campaign: Campaign, file: Path, hypothesis: dict[str, Any]) -> HandedIn:
    """The options as the step takes them. Raises OSError, UnicodeDecodeError."""
    said = hypothesis | {name: tuple(hypothesis[name]) for name in ("evidence", "searched")}
    said["evidence"] = said["evidence"] or tuple(
        name for name in facts_about(campaign) if not is_counter(name)
    )
    with file.open("rb") as opened:
        # One byte more than is accepted, so that a longer file is refused and never read whole.
        text = opened.read(LARGEST_SOURCE + 1).decode()
    return HandedIn(source=text, file_name=file.name, **said)


def follow(submission: Submission, progress: Callable[[str], None]) -> Round | None:
    """Tell the campaign's events until the round is closed, or waits for a repair.

    None where the campaign ended first.
    """
    last_event = (
        submission.campaign.events.order_by("-pk").values_list("pk", flat=True).first() or 0
    )
    while True:
        # Read before the events, so that the last event is never missed.
        campaign = Campaign.objects.get(pk=submission.campaign_id)
        round_ = submission.rounds.select_related("verdict").first()
        for event in campaign.events.filter(pk__gt=last_event):
            progress(event.message)
            last_event = event.pk
        awaited = awaited_repair(campaign)
        ended = round_ and (round_.state == RoundState.CLOSED or awaited)
        if campaign.is_finished or ended:
            return round_
        time.sleep(FOLLOW_EVERY_S)
