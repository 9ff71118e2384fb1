"""The variants of a search that any free device of its model may try: rows, and claims on them.

A claim is one conditional UPDATE, and only the claim that stands can write a result.
"""

from __future__ import annotations

from collections.abc import Mapping

from campaigns.evaluator.contract import BuildResult, ScreenResult, Source, dump_line
from campaigns.models import Evaluation, EvaluationState, Sweep, SweepOrder
from campaigns.models.transitions import claim

NO_DIGESTS: Mapping[int, str] = {}
FREED = {"holder": "", "evaluation": None}


class HandedOut:
    """The orders of one sweep."""

    def __init__(self, plan: Sweep) -> None:
        self._plan = plan
        self._orders = SweepOrder.objects.filter(sweep=plan)
        self._free = self._orders.filter(holder="", built="")

    def put(self, variants: Mapping[int, Source], digests: Mapping[int, str] = NO_DIGESTS) -> None:
        """Hand out more. Each number is used once. digests: of what other hosts may build."""
        SweepOrder.objects.bulk_create(
            SweepOrder(
                sweep=self._plan,
                number=number,
                source=dump_line(source),
                digest=digests.get(number, ""),
            )
            for number, source in variants.items()
        )

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
        """Remove all, as at the begin of a search that was broken off, and at its end."""
        self._orders.delete()


def _stands(order: SweepOrder) -> bool:
    share = order.evaluation
    if share is None:
        return False
    return share.state == EvaluationState.RUNNING and share.holder == order.holder
