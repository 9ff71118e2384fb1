"""`round submit|show|compare|answer`: hand in a candidate, and see what rounds tried and found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model

from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument
from campaigns.management.facts import case_line, round_facts, round_line, round_text
from campaigns.management.submitting import COMMAND_LINE, SUBMIT, follow, handed_in
from campaigns.models import Answer, Campaign, Round, Submission, Submitter
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.reports.campaign.submissions import submission_sheet
from campaigns.reports.comparison import compare_rounds
from campaigns.reports.rounds.standings import with_standing
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.rounds.answer_standing import AnswerRefused, answer_standing
from campaigns.steps.rounds.submit import submit
from campaigns.workers.notify import AGAIN, notify
from knowledge.curation.errors import Forbidden


class Command(BaseCommand):
    help = "Rounds: one hypothesis tried"

    def verbs(self) -> tuple[Verb, ...]:
        key = argument("campaign", type=int)
        number, other = argument("round", type=int), argument("other", type=int)
        said = (
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
            Verb("show", "show one round", self.show, (key, number)),
            Verb("compare", "show two rounds side by side", self.compare, (key, number, other)),
            Verb("answer", "say what follows from a gain not reproduced", self.answer, said),
        )

    def submit(
        self,
        *,
        campaign: int,
        file: Path,
        by: str | None,
        agent: str | None,
        wait: bool,
        **said: Any,
    ) -> None:
        row = Campaign.objects.filter(pk=campaign).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"campaign {campaign}: no such campaign")
        person = self._person(by) if by else None
        kind = Submitter.AGENT if agent is not None else Submitter.PERSON
        name = by or COMMAND_LINE if agent is None else agent
        try:
            made = submit(row, handed_in(row, file, said), kind, name, person)
        except Forbidden as error:
            self.fail(ExitCode.NOT_ALLOWED, str(error))
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{file}: no such file")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(ExitCode.USAGE, f"{file}: {error}; accepted: text in UTF-8")
        except SubmissionRefused as error:
            of_campaign = error.field == "campaign"
            self.fail(ExitCode.NOT_ALLOWED if of_campaign else ExitCode.USAGE, str(error))
        notify(row, AGAIN)
        if wait:
            self._wait_for(made)
            return
        sheet = submission_sheet(made)
        self.emit(sheet.facts, f"submission {made.pk} to campaign {campaign}: {sheet.words}")

    def _wait_for(self, made: Submission) -> None:
        """Print the round; anything but an accepted one is exit status 5."""
        round_ = follow(made, self.progress)
        if round_ is None:
            made.refresh_from_db()
            self.fail(ExitCode.NOT_ACCEPTED, submission_sheet(made).words)
        row = self._get(made.campaign_id, round_.number)
        self.emit(round_facts(row), round_text(row))
        verdict = getattr(row, "verdict", None)
        if verdict is None or verdict.word != VerdictWord.ACCEPTED:
            word = VerdictWord(verdict.word).words if verdict else "not judged"
            self.fail(ExitCode.NOT_ACCEPTED, f"round {row.number}: {word}")

    def show(self, *, campaign: int, round: int) -> None:
        row = self._get(campaign, round)
        self.emit(round_facts(row), round_text(row))

    def compare(self, *, campaign: int, round: int, other: int) -> None:
        first, second = self._get(campaign, round), self._get(campaign, other)
        found = compare_rounds(first.campaign, first, second)
        gain = found.gain
        data = {
            "basis": found.basis,
            "gain": asdict(gain) if gain else None,
            "rounds": [round_facts(first), round_facts(second)],
        }
        told = f"round {other}: {gain.against(f'round {round}')}, " if gain else ""
        self.emit(data, "\n".join([*_lines(first), "", *_lines(second), "", told + found.basis]))

    def answer(self, *, campaign: int, round: int, answer: str, why: str, by: str) -> None:
        row = self._get(campaign, round)
        person = self._person(by)
        try:
            made = answer_standing(row, answer, why, person)
        except Forbidden as error:
            self.fail(ExitCode.NOT_ALLOWED, str(error))
        except AnswerRefused as error:
            self.fail(ExitCode.USAGE, str(error))
        self.emit(round_facts(row), f"round {round}: {made.words}, says {by}")

    def _person(self, name: str) -> Any:
        person = get_user_model().objects.filter(username=name).first()
        if person is None:
            self.fail(ExitCode.NOT_FOUND, f"user '{name}': no such user")
        return person

    def _get(self, campaign: int, number: int) -> Round:
        related = ("verdict", "against__round", "chosen", "submission")
        rows = with_standing(Round.objects.select_related(*related))
        row: Round | None = rows.filter(campaign=campaign, number=number).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"round {number} of campaign {campaign}: no such round")
        return row


def _lines(round_: Round) -> list[str]:
    verdict: Any = getattr(round_, "verdict", None)
    cases = [case_line(case) for case in verdict.cases] if verdict else []
    return [round_line(round_).strip(), *cases]
