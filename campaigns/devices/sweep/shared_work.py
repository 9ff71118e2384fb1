"""A search that several devices of one model share.

The worker that holds the search asks its strategy and writes every point. The others take what it
hands out, build it, screen it, and write results beside the orders. A host without such a device
only builds, and hands back what it has built. A claim of an order is one conditional UPDATE, and
only the claim that stands can write a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import require_measured
from campaigns.devices.sweep.search_work import SearchWork, too_large
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.files import dump_line, load_line
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult
from campaigns.models import Evaluation, EvaluationState, Sweep, SweepOrder
from campaigns.models.transitions import claim

FREED = {"holder": "", "evaluation": None}


class SweepOrders:
    """The orders of one sweep."""

    def __init__(self, plan: Sweep) -> None:
        self._plan = plan
        self._orders = SweepOrder.objects.filter(sweep=plan)
        self._free = self._orders.filter(holder="", built="")

    def put(self, orders: Sequence[SweepOrder]) -> None:
        """Hand out more. Each number is used once."""
        for row in orders:
            row.sweep = self._plan
        SweepOrder.objects.bulk_create(orders)

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
        freed = 0
        for order in held.defer("evaluation__report"):
            share, running = order.evaluation, EvaluationState.RUNNING
            if share is None or share.state != running or share.holder != order.holder:
                mine = self._orders.filter(pk=order.pk, holder=order.holder, built="")
                freed += claim(mine, **FREED)
        return freed

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


# Free orders for each helper: enough for its builders until the next turn, about a second later.
FREE_FOR_EACH = 32
WAIT_S = 0.25


class SharedWork:
    """The work of the worker that holds the search.

    tried_in: number → key of the evaluation in which another device has tried that point.
    """

    def __init__(
        self,
        search: SearchWork,
        orders: SweepOrders,
        beat: Callable[[], None],
        cache: BuildCache | None = None,
    ) -> None:
        """beat: called while it waits for others; it is to call `turn`, and may raise.

        cache: for what other hosts build; without it they are not to.
        """
        self.tried_in: dict[int, int] = {}
        self._search, self._orders, self._beat, self._cache = search, orders, beat, cache
        self._out: dict[int, Source] = {}
        self._built: list[tuple[int, Source]] = []
        self._here: set[int] = set()

    def ask(self, most: int) -> Sequence[tuple[int, Source]]:
        while True:
            found, self._built = self._built[:most], self._built[most:]
            # What was asked for first is tried first, unless another has begun with it.
            found = found or self._taken(most) or [*self._search.ask(most)]
            self._here.update(number for number, _ in found)
            if found or self._here or not self._out:
                return found
            # Only others have something to do; it may bring more, or come back undone.
            time.sleep(WAIT_S)
            self._beat()

    def built(self, result: BuildResult) -> bool:
        goes_on = self._search.built(result)
        if not goes_on:
            self._here.discard(result.number)
        return goes_on

    def screened(self, result: ScreenResult) -> None:
        self._here.discard(result.number)
        self._search.screened(result)

    def turn(self, helpers: int) -> None:
        """Learn what came back, free what was lost, and hand out more to so many helpers."""
        for order in self._orders.collect():
            self._learn(order)
        self._orders.take_back()
        room = FREE_FOR_EACH * helpers - self._orders.free()
        if room > 0:
            rows = []
            for number, source in self._search.ask(room):
                self._out[number] = source
                digest = self._cache.place_of(source).name if self._cache else ""
                params, text = dict(self._search.point(number)), dump_line(source)
                rows.append(SweepOrder(number=number, params=params, source=text, digest=digest))
            self._orders.put(rows)

    def resume(self) -> None:
        """Learn what others found for an earlier claim of the search; what they had not is void."""
        for order in self._orders.collect():
            source = load_line(Source, order.source)
            if order.artefact is None:
                self._search.adopt(order.number, order.params)
                self._out[order.number] = source
                self._learn(order)
            elif self._cache and order.artefact:
                self._cache.unpack(source, bytes(order.artefact))
        self._orders.clear()

    def _taken(self, most: int) -> list[tuple[int, Source]]:
        """What nobody has claimed yet, for this device; dropped where the search has ended."""
        if not self._out:
            return []
        ended = bool(self._search.ended)
        numbers = self._orders.take(len(self._out) if ended else most)
        taken = [(number, self._out.pop(number)) for number in numbers]
        return [] if ended else taken

    def _learn(self, order: SweepOrder) -> None:
        source = self._out.pop(order.number)
        if self._cache and order.artefact is not None:
            if order.artefact:
                self._cache.unpack(source, bytes(order.artefact))
            self._built.append((order.number, source))
            return
        if order.evaluation_id is not None:
            self.tried_in[order.number] = order.evaluation_id
        built = load_line(BuildResult, order.built)
        if self._search.built(replace(built, number=order.number)):
            screened = load_line(ScreenResult, order.screened)
            self._search.screened(replace(screened, number=order.number))


class HelperWork:
    """The work of another worker. done: how many of its results were taken."""

    def __init__(
        self,
        orders: SweepOrders,
        share: Evaluation,
        most_shared_bytes: int | None,
        goes_on: Callable[[], bool],
        beat: Callable[[], None],
    ) -> None:
        """share: the claim to work under. goes_on: whether to claim more. beat: may raise."""
        self.done = 0
        self._orders, self._share = orders, share
        self._most_shared_bytes = most_shared_bytes
        self._goes_on, self._beat = goes_on, beat
        # By the key of the order: numbers begin anew with each search, keys do not.
        self._here: dict[int, Source] = {}
        self._built: dict[int, BuildResult] = {}

    def ask(self, most: int) -> Sequence[tuple[int, Source]]:
        while most > 0 and self._goes_on():
            claimed = self._orders.claim(most, self._share)
            sources = {order.pk: load_line(Source, order.source) for order in claimed}
            self._here |= sources
            if self._here:
                return list(sources.items())
            # The streams stay open for what comes next.
            time.sleep(WAIT_S)
            self._beat()
        return ()

    def built(self, result: BuildResult) -> bool:
        if result.outcome is Outcome.PASSED and not too_large(
            result.facts, self._most_shared_bytes
        ):
            self._built[result.number] = result
            return True
        self._finish(result)
        return False

    def screened(self, result: ScreenResult) -> None:
        self._finish(self._built.pop(result.number), result)

    def _finish(
        self,
        built: BuildResult,
        screened: ScreenResult | None = None,
        artefact: bytes | None = None,
    ) -> None:
        require_measured(screened or built)
        key, holder = built.number, self._share.holder
        del self._here[key]
        self.done += self._orders.finish(key, holder, built, screened, artefact)


class BuilderWork(HelperWork):
    """The work of a host that only builds."""

    def __init__(
        self,
        orders: SweepOrders,
        share: Evaluation,
        cache: BuildCache,
        goes_on: Callable[[], bool],
        beat: Callable[[], None],
    ) -> None:
        super().__init__(orders, share, None, goes_on, beat)
        self._cache = cache

    def built(self, result: BuildResult) -> bool:
        passed = result.outcome is Outcome.PASSED
        artefact = self._cache.pack(self._here[result.number]) if passed else None
        self._finish(result, artefact=artefact)
        return False
