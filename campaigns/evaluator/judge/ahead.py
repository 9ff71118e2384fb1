"""Bursts that are stopped early: has a call's memory been touched before its turn?

What calls of a burst are made on lies somewhere in the candidate's process. Who finds it there can
fetch the next call's inputs while this one still works, and a kernel that waits for memory looks up
to twice as fast as in any use. So now and then the runner is stopped in the middle of a burst, like
any other until then, and the kernel of the operating system says which pages its processor has
touched: loads, stores and prefetches alike. The time of such a burst is nobody's.

On a CPU only, where every slot has pages of its own: that is as closely as a processor tells.
"""

from __future__ import annotations

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
from campaigns.evaluator.judge.looks import Spots
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.layout import Layout, TensorArg

# Looks that say something, before any sample; how many more for each odd one; and how many odd ones
# of one arm are believed. An honest call touches nothing of another slot's pages, so that several
# are odd is no chance. Who fetches only at the end of each call is seen only now and then.
FIRST, MORE, ODD = 14, 8, 3
# How many bursts are stopped at most each time, and how many in a row that say nothing. On a busy
# host many do: the runner has not woken yet, or it is done before the judge has. Of calls that are
# all over in some 30 us nearly all do, as a signal takes as long.
TRIES, BARREN = 40, 16
# Most are stopped when a call drawn by chance is seen to write: a runner takes now more, now less
# time to wake, which is more than a short burst's calls take. The judge sleeps so long between two
# looks at it, for who only spins has to wait for a core just when others want one; and at most so
# many times as long as a burst usually takes.
STEP_S, PATIENCE = 3e-5, 4.0
# The others after shares of the usual time: who writes late is done with what it touches early.
BY_TIME, STOP = 1 / 4, (0.05, 0.9)
# Of a slot's pages so many must have been touched. Where the system watches memory for itself
# (DAMON) it now and then marks single pages that anybody, such as the judge, has touched: of a slot
# of 2 MiB up to six, on a host so busy that a burst took four times as long.
PART = 1 / 32
# A loop that fetches a fixed way ahead and does not ask for the end reads on so far at the most;
# it does so behind every slot, so at most of those that were begun; of fewer that can not be said,
# and then what lies side by side tells nothing.
REACH_BYTES, MOST, FEWEST = 64 << 10, 1 / 2, 4
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
class Halt:
    """A burst when it was stopped.

    order: the slots in turn. finished: how many calls were. kib: of `touched`.
    """

    layout: Layout
    order: Sequence[int]
    finished: int
    kib: Mapping[int, int]

    @property
    def begun(self) -> set[int]:
        """The slots of the calls that were made and of the one that may be under way."""
        return set(self.order[: self.finished + 1])

    @property
    def later(self) -> Sequence[int]:
        return self.order[self.finished + 1 :]

    def touched_kib(self, slot: int) -> int:
        return self.kib[self.layout.used(slot).start]

    def next_touched(self) -> bool | None:
        """Whether the slot was touched that comes after the one under way; None if that is unclear.

        Where nothing was begun at all the runner may not have woken yet. Who fetches further ahead
        has fetched the next one as well, some calls before. Who reads on behind its slot, or before
        it, may do so for some pages. Of the others none is asked: chance may have marked each.
        """
        later = self.later
        if not later or (not self.finished and not self.touched_kib(self.order[0])):
            return None
        if later[0] in self.reached():
            return None
        kib = self.touched_kib(later[0])
        return kib > 0 and kib >= PART * (self.layout.nbytes >> 10)

    def reached(self) -> set[int]:
        """Of the later slots those where this kernel may read on to, as what it has begun shows.

        They lie at one distance from slots that were begun, and most at that distance were touched.
        """
        begun, later, found = self.begun, set(self.later), set[int]()
        far = REACH_BYTES // self.layout.stride
        for distance in (*range(-far - 1, 0), *range(1, far + 2)):
            there = {slot + distance for slot in begun} & later
            if len(there) >= FEWEST:
                touched_there = sum(self.touched_kib(slot) > 0 for slot in there)
                may_reach = touched_there > MOST * len(there)
            else:
                may_reach = abs(distance) == 1
            if may_reach:
                found |= there
        return found


class Ahead:
    """Looks for what one arm touches ahead of its calls. `arg`: an output that tells a call."""

    def __init__(self, bench: Bench, channel: Channel, slots: Slots, arg: TensorArg | None) -> None:
        self._bench, self._channel, self._slots, self._arg = bench, channel, slots, arg
        self._can_be_seen = arg is not None and slots.layout.edge > 0
        self._due = self._seen = self._odd = 0

    def look_into(self, calls: int, usual_s: float, more: int = FIRST) -> None:
        """Stop bursts of `calls` calls, each about `usual_s`, until `more` have said something.

        What is missing is made up for the next time, and each odd look has others follow. Raises
        what `Channel.blame` makes of calls that are touched before their turn.
        """
        self._due += more
        barren = 0
        for _ in range(TRIES):
            is_enough = self._seen >= self._due + MORE * self._odd
            if is_enough or barren >= BARREN or not self._can_be_seen:
                return
            halt = self._look(calls, usual_s)
            if halt is None or (is_odd := halt.next_touched()) is None:
                barren += 1
                continue
            barren = 0
            self._seen += 1
            self._odd += is_odd
            if is_odd and self._odd >= ODD:
                words = (
                    "touched before its turn what the next call was to be made on: in "
                    f"{self._odd} of {self._seen} bursts that were stopped halfway, the "
                    f"last one after {halt.finished} of {calls} calls"
                )
                raise self._channel.blame(Outcome.CHEATED, words)

    def tell(self) -> None:
        """After the last look: a note where too little was seen to say anything."""
        if self._can_be_seen and self._seen < min(FIRST, self._due):
            words = (
                f"what calls touch ahead of their turn was seen in {self._seen} bursts only: in "
                "many that were stopped the runner had not begun, or was done (a busy host?)"
            )
            self._bench.reference.note(words)

    def _look(self, calls: int, usual_s: float) -> Halt | None:
        """One burst, stopped; None where nothing can be seen on this host."""
        if self._arg is None:
            return None
        draw = self._bench.supply.draw
        if draw.random() < BY_TIME:
            stop = _Stop(self._arg, self._channel, draw.uniform(*STOP) * usual_s)
        else:
            stop = _Stop(self._arg, self._channel, PATIENCE * usual_s, draw.randrange(calls))
        run_burst(self._bench, self._channel, self._slots, calls, look=stop)
        trouble, layout = stop.trouble, self._slots.layout
        starts = {layout.used(slot).start for slot in stop.order}
        if not trouble and not starts <= stop.kib.keys():
            # The host would not, or a candidate has undone it: a reviewer should know.
            trouble = "slots are no maps of their own"
        if trouble:
            self._can_be_seen = False
            words = f"what calls touch ahead of their turn can not be seen here: {trouble}"
            self._bench.reference.note(words)
            return None
        return Halt(layout, stop.order, stop.finished, stop.kib)


class _Stop:
    """Stops the runner after `most_s`, sees what there is to be seen, and lets it go on.

    number: of a call, in turn; once that has begun to write, it waits no longer. trouble: why
    nothing can be seen on this host; "" where it can.
    """

    def __init__(
        self, arg: TensorArg, channel: Channel, most_s: float, number: int | None = None
    ) -> None:
        self._arg, self._channel, self._most_s, self._number = arg, channel, most_s, number
        self.trouble = ""
        self.order: Sequence[int] = ()
        self.finished = 0
        self.kib: dict[int, int] = {}

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
        self._wait()
        self._channel.halt()
        # Outputs change one after the other, whichever calls have been made.
        changed = self._spots.changed(self._spots.read()).all(1) | ~self._spots.tells
        self.finished = int(torch.cumprod(changed.to(torch.int64), 0).sum())
        try:
            self.kib = touched(self._channel.process)
        except OSError as error:
            self.trouble = f"/proc/PID/smaps: {error.strerror}"
        self._channel.thaw()

    def _wait(self) -> None:
        if self._number is None:
            time.sleep(self._most_s)
            return
        until = time.perf_counter() + self._most_s
        while not self._spots.has_begun(self._number) and time.perf_counter() < until:
            time.sleep(STEP_S)
