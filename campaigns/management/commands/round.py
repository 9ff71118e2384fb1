"""`round show|compare|answer`: what rounds tried and found, and what a person says to a doubt."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth import get_user_model

from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument
from campaigns.management.facts import case_line, round_facts, round_line, round_text
from campaigns.models import Answer, Round
from campaigns.reports.comparison import compare_rounds
from campaigns.reports.rounds.standings import with_standing
from campaigns.steps.rounds.answer_standing import AnswerRefused, answer_standing
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
            Verb("show", "show one round", self.show, (key, number)),
            Verb("compare", "show two rounds side by side", self.compare, (key, number, other)),
            Verb("answer", "say what follows from a gain not reproduced", self.answer, said),
        )

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
        person = get_user_model().objects.filter(username=by).first()
        if person is None:
            self.fail(ExitCode.NOT_FOUND, f"user '{by}': no such user")
        try:
            made = answer_standing(row, answer, why, person)
        except Forbidden as error:
            self.fail(ExitCode.NOT_ALLOWED, str(error))
        except AnswerRefused as error:
            self.fail(ExitCode.USAGE, str(error))
        self.emit(round_facts(row), f"round {round}: {made.words}, says {by}")

    def _get(self, campaign: int, number: int) -> Round:
        rows = with_standing(Round.objects.select_related("verdict", "against__round", "chosen"))
        row: Round | None = rows.filter(campaign=campaign, number=number).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"round {number} of campaign {campaign}: no such round")
        return row


def _lines(round_: Round) -> list[str]:
    verdict: Any = getattr(round_, "verdict", None)
    cases = [case_line(case) for case in verdict.cases] if verdict else []
    return [round_line(round_).strip(), *cases]
