"""Bursts that are stopped early: has a call's memory been touched before its turn?

What calls of a burst are made on lies somewhere in the candidate's process. Who finds it there can
fetch the next call's inputs while this one still works, and a kernel that waits for memory looks up
to twice as fast as in any use. So now and then the runner is stopped in the middle of a burst, like
any other until then, and the kernel of the operating system says which pages its processor has
touched: loads, stores and prefetches alike. The time of such a burst is nobody's.

On a CPU only, and for slots of some pages: page by page is as closely as a processor tells.
"""

from __future__ import annotations

import mmap
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import run_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.looks import Belief, Spots, believed
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.layout import TensorArg, inner_pages

# Looks that say something; where one of the first is odd there are more. An honest call touches
# nothing of another slot's inner pages, so that several are odd is no chance.
FIRST, MOST, ODD = 3, 8, 3
# When to stop the runner, in shares of the usual time: the earlier, the more calls are to come.
STOP = (0.05, 0.5)
FORGET = b"1"
# Of a process's maps those of the judge's memory: where in it they begin, and what was touched.
MAPS = re.compile(
    rb"^[0-9a-f]+-[0-9a-f]+ \S+ ([0-9a-f]+) \S+ \d+ +/memfd:kopt-arena[^\n]*\n"
    rb"(?:(?!Referenced:)[A-Z][^\n]*\n)*Referenced: +(\d+) kB",
    re.MULTILINE,
)


def forget(pid: int) -> None:
    """From now on only what is touched afterwards counts as touched. Raises OSError."""
    # Unbuffered, since what a close could not write would go unseen.
    with Path(f"/proc/{pid}/clear_refs").open("wb", buffering=0) as file:
        file.write(FORGET)


def touched(pid: int) -> dict[int, int]:
    """Where parts of the judge's memory begin in it → KiB of them that were touched since.

    Raises OSError.
    """
    text = Path(f"/proc/{pid}/smaps").read_bytes()
    return {int(start, 16): int(kib) for start, kib in MAPS.findall(text)}


@dataclass(frozen=True, slots=True)
class Found:
    """How many calls were finished in a burst that was stopped, and whether the next was begun."""

    finished: int
    odd: bool


def touched_next(
    order: Sequence[int], finished: int, starts: Mapping[int, int], seen: Mapping[int, int]
) -> bool | None:
    """Whether the slot was touched that comes after the one under way; None where there is none.

    order: the slots in turn. starts: where a slot's inner pages begin. seen: of `touched`. Who
    fetches further ahead has fetched that one as well, some calls before. Who reads on behind its
    slot, or before it, may do so for a few pages. Of the others none is asked: on a busy host
    single pages of one slot in a hundred seem touched that nobody has touched.
    """
    begun, later = set(order[: finished + 1]), order[finished + 1 :]
    if not later or {later[0] - 1, later[0] + 1} & begun:
        return None
    return seen[starts[later[0]]] > 0


class Ahead:
    """Looks for what one arm touches ahead of its calls. `arg`: an output that tells a call."""

    def __init__(self, bench: Bench, channel: Channel, slots: Slots, arg: TensorArg | None) -> None:
        self._bench, self._channel, self._slots, self._arg = bench, channel, slots, arg
        page, stride = mmap.PAGESIZE, slots.layout.stride
        pages = {slot: inner_pages(stride, slot, page) for slot in range(slots.count)}
        self._starts = {slot: part.start for slot, part in pages.items() if part}
        self._can_be_seen = (
            bench.device.type == "cpu" and arg is not None and len(self._starts) == slots.count
        )

    def look_into(self, calls: int, usual_s: float, first: int = FIRST) -> None:
        """Stop some bursts of `calls` calls, which take about `usual_s`; `first` if none is odd.

        Raises what `Channel.blame` makes of calls that are touched before their turn.
        """

        def look() -> Found | None:
            return self._look(calls, usual_s) if self._can_be_seen else None

        found = believed(look, Belief(first, MOST, ODD))
        if not found:
            return
        odd = [one for one in found if one.odd]
        words = (
            "touched before its turn what the next call was to be made on: in "
            f"{len(odd)} of {len(found)} bursts that were stopped halfway, the last one "
            f"after {odd[-1].finished} of {calls} calls"
        )
        raise self._channel.blame(Outcome.CHEATED, words)

    def _look(self, calls: int, usual_s: float) -> Found | None:
        if self._arg is None:
            return None
        delay_s = self._bench.supply.draw.uniform(*STOP) * usual_s
        stop = _Stop(self._arg, self._channel, delay_s)
        run_burst(self._bench, self._channel, self._slots, calls, look=stop)
        trouble = stop.trouble
        if not trouble and any(self._starts[slot] not in stop.touched for slot in stop.order):
            # The host would not, or a candidate has undone it: a reviewer should know.
            trouble = "slots are no maps of their own"
        if trouble:
            self._can_be_seen = False
            words = f"what calls touch ahead of their turn can not be seen here: {trouble}"
            self._bench.reference.note(words)
            return None
        early = touched_next(stop.order, stop.finished, self._starts, stop.touched)
        return None if early is None else Found(stop.finished, early)


class _Stop:
    """Stops the runner after `delay_s`, sees what there is to be seen, and lets it go on.

    trouble: why nothing can be seen on this host; "" where it can.
    """

    def __init__(self, arg: TensorArg, channel: Channel, delay_s: float) -> None:
        self._arg, self._channel, self._delay_s = arg, channel, delay_s
        self.trouble = ""
        self.order: Sequence[int] = ()
        self.finished = 0
        self.touched: dict[int, int] = {}

    def ready(self, stage: Stage) -> None:
        self.order = stage.order
        self._spots = Spots(stage, self._arg, stage.order)
        try:
            forget(self._channel.process)
        except OSError as error:
            self.trouble = f"/proc/PID/clear_refs: {error.strerror}"

    def during(self, started: float) -> None:
        if self.trouble:
            return
        time.sleep(self._delay_s)
        self._channel.freeze()
        # Outputs change one after the other, whichever calls have been made.
        changed = self._spots.changed(self._spots.read()).all(1)
        self.finished = int(torch.cumprod(changed.to(torch.int64), 0).sum())
        try:
            self.touched = touched(self._channel.process)
        except OSError as error:
            self.trouble = f"/proc/PID/smaps: {error.strerror}"
        self._channel.thaw()
