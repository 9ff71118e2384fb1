"""`round show|compare`: what one round tried and found, or two of them side by side."""

from __future__ import annotations

from typing import Any

from campaigns.management.door import Door, ExitCode, Verb, argument
from campaigns.management.facts import case_line, round_facts, round_line, round_text
from campaigns.models import Round

UNPAIRED = "not measured against each other in pairs, so no ratio is shown"
PAIRED = "measured against each other in pairs"


class Command(Door):
    help = "Rounds: one hypothesis tried"

    def verbs(self) -> tuple[Verb, ...]:
        key = argument("campaign", type=int)
        number, other = argument("round", type=int), argument("other", type=int)
        return (
            Verb("show", "show one round", self.show, (key, number)),
            Verb("compare", "show two rounds side by side", self.compare, (key, number, other)),
        )

    def show(self, *, campaign: int, round: int) -> None:
        row = self._get(campaign, round)
        self.emit(round_facts(row), round_text(row))

    def compare(self, *, campaign: int, round: int, other: int) -> None:
        first, second = self._get(campaign, round), self._get(campaign, other)
        paired = first.chosen_id in {second.against_id} or second.chosen_id in {first.against_id}
        basis = PAIRED if paired and first.pk != second.pk else UNPAIRED
        data = {"basis": basis, "rounds": [round_facts(first), round_facts(second)]}
        self.emit(data, "\n".join([*_lines(first), "", *_lines(second), "", basis]))

    def _get(self, campaign: int, number: int) -> Round:
        rows = Round.objects.select_related("verdict", "against__round", "chosen")
        row: Round | None = rows.filter(campaign=campaign, number=number).first()
        if row is None:
            self.fail(ExitCode.NOT_FOUND, f"round {number} of campaign {campaign}: no such round")
        return row


def _lines(round_: Round) -> list[str]:
    verdict: Any = getattr(round_, "verdict", None)
    cases = [case_line(case) for case in verdict.cases] if verdict else []
    return [round_line(round_).strip(), *cases]
