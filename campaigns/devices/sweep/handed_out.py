"""The variants of a search that any free device of its model may try: rows, and claims on them.

A claim is one conditional UPDATE, and only the claim that stands can write a result.
"""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.evaluator.contract.files import dump_line
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult
from campaigns.models import Evaluation, EvaluationState, Sweep, SweepOrder
from campaigns.models.transitions import claim

FREED = {"holder": "", "evaluation": None}


class HandedOut:
    """The orders of one sweep."""

    def __init__(self, plan: Sweep) -> None:
        self._plan = plan
        self._orders = SweepOrder.objects.filter(sweep=plan)
        self._free = self._orders.filter(holder="", built="")

    def put(self, orders: Iterable[SweepOrder]) -> None:
        """Hand out more. Each number is used once."""
        rows = list(orders)
        for row in rows:
            row.sweep = self._plan
        SweepOrder.objects.bulk_create(rows)

    def first(self) -> SweepOrder | None:
        """One that nobody has claimed."""
        return self._free.first()

    def free(self) -> int:
        """How many nobody has claimed."""
        return self._free.count()

    def claim(self, most: int, share: Evaluation) -> list[SweepOrder]:
        """Claim some, at most so many, for the claim that holds `share`."""
        return [
            order
            for order in self._free[:most]
            if claim(self._free.filter(pk=order.pk), evaluation=share, holder=share.holder)
        ]

    def take(self, most: int) -> list[int]:
        """Take some back that nobody has claimed; their numbers."""
        found = self._free.values_list("pk", "number")[:most]
        return [number for key, number in list(found) if self._free.filter(pk=key).delete()[0]]

    def take_back(self) -> int:
        """Free what is held by claims that stand no more; how many."""
        held = self._orders.filter(built="").exclude(holder="").select_related("evaluation")
        return sum(
            claim(self._orders.filter(pk=order.pk, holder=order.holder, built=""), **FREED)
            for order in held.defer("evaluation__report")
            if not _stands(order)
        )

    def finish(
        self,
        key: int,
        holder: str,
        built: BuildResult,
        screened: ScreenResult | None = None,
        artefact: bytes | None = None,
    ) -> bool:
        """Store the result of an order; False where the claim on it stands no more."""
        mine = self._orders.filter(pk=key, holder=holder, built="")
        line = dump_line(screened) if screened else ""
        return claim(mine, built=dump_line(built), screened=line, artefact=artefact)

    def collect(self) -> list[SweepOrder]:
        """Those that have a result; they are removed."""
        done = list(self._orders.exclude(built=""))
        self._orders.filter(pk__in=[order.pk for order in done]).delete()
        return done

    def clear(self) -> None:
        """Remove all, whoever has claimed it."""
        self._orders.delete()


def _stands(order: SweepOrder) -> bool:
    share = order.evaluation
    if share is None:
        return False
    return share.state == EvaluationState.RUNNING and share.holder == order.holder
