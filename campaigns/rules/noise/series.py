"""What it means when an accepted kernel, measured against v0 again, shows other numbers.

The gain against v0 is paired and interleaved, so it holds across hosts and days; the times of the
two arms do not. When the gain moved clear of noise, the kernel changed against v0: that is real.
When both arms moved alike, the gain holds, and what measures or what they run on has changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from campaigns.rules.noise.drift import LEAST_SHIFT
from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import WordedEnum, change, duration


class SeriesSort(WordedEnum):
    """What a measurement says beside the one before; the words complete "it is …"."""

    FIRST = "first", "the first of its series"
    NOISE = "noise", "no change shown"
    METHOD = "method", "kopt measures otherwise"
    HARDWARE = "hardware", "device or host changed"
    REAL = "real", "the kernel changed against v0"

    @property
    def asks(self) -> bool:
        """Whether a person has to decide what follows."""
        return self not in (SeriesSort.FIRST, SeriesSort.NOISE)


# What measures, what it runs on, and what builds the kernels, by the names in an environment.
METHOD = ("kopt", "protocol", "torch")
HARDWARE = ("driver", "clock policy", "card")
BUILD = ("compiler",)
NAMES = (*BUILD, *METHOD, *HARDWARE)
# A change of these is a reason to measure again. Cards and clocks change by themselves.
DUE = (*BUILD, *METHOD, "driver")

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SeriesSession:
    """One measurement of a kernel beside v0.

    gain: against v0; None where it did not pass, and `said` is why. v0_us, kernel_us: geometric
    means over the cases of the median times; None where an arm was not timed. floor: the noise
    floor, a fraction, with its origin in words. environment: `NAMES` → what it was; "" is unknown.
    """

    gain: Gain | None
    v0_us: float | None
    kernel_us: float | None
    floor: float
    floor_words: str = ""
    environment: Environment = field(default_factory=dict)
    said: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing that differs between two environments."""

    name: str
    before: str
    after: str

    @property
    def words(self) -> str:
        """Such as "triton 3.6.0 → 3.7.1"."""
        if self.name == "card":
            return "on another card"
        named = self.name if self.name != "compiler" else ""
        first, _, rest = self.after.partition(" ")
        after = rest if rest and self.before.startswith(f"{first} ") else self.after
        return f"{named} {self.before} → {after}".strip()


@dataclass(frozen=True, slots=True)
class Sorted:
    """The sort, why in one sentence, and what differs between the two environments."""

    sort: SeriesSort
    sentence: str
    changed: tuple[Changed, ...] = ()


def changes(before: Environment, after: Environment, names: Iterable[str] = NAMES) -> list[Changed]:
    """What differs; what is unknown on one side says nothing."""
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return [Changed(name, old, new) for name, old, new in pairs if old and new and old != new]


def changed_words(found: Iterable[Changed]) -> str:
    """The changes in one line; "" for none."""
    return ", ".join(one.words for one in found)


def sort_session(before: SeriesSession | None, after: SeriesSession) -> Sorted:
    """Sort one measurement by the one it is compared with; None where there is none."""
    if before is None or before.gain is None:
        if after.gain is None:
            return Sorted(SeriesSort.REAL, f"It does not pass: {after.said.rstrip('.')}.")
        return Sorted(SeriesSort.FIRST, f"The first of its series: {after.gain.over('v0')}.")
    found = tuple(changes(before.environment, after.environment))
    since = _since(found)
    if after.gain is None:
        was = before.gain.over("v0")
        words = f"It no longer passes{since}: {after.said.rstrip('.')}. It was {was}."
        return Sorted(SeriesSort.REAL, words, found)
    floor = max(before.floor, after.floor)
    if _moved(before.gain, after.gain, floor):
        return Sorted(SeriesSort.REAL, _of_gain(before.gain, after.gain, since), found)
    return _alike(before, after, found, floor)


def _moved(before: Gain, after: Gain, floor: float) -> bool:
    """Whether the intervals lie apart and the gains differ by more than the noise floor."""
    apart = before.high < after.low or after.high < before.low
    return apart and abs(math.log((1 + after.gain) / (1 + before.gain))) > math.log1p(floor)


def _alike(
    before: SeriesSession, after: SeriesSession, found: tuple[Changed, ...], floor: float
) -> Sorted:
    """The gain holds; sort by whether the times of both arms moved the same way."""
    v0, kernel = _shift(before.v0_us, after.v0_us), _shift(before.kernel_us, after.kernel_us)
    least = max(LEAST_SHIFT, floor)
    both = min(abs(math.log1p(v0)), abs(math.log1p(kernel))) > math.log1p(least)
    if not both or (v0 > 0) != (kernel > 0):
        assert before.gain is not None
        assert after.gain is not None
        shown = f"it was {before.gain.over('v0')} and is {after.gain.over('v0')}"
        return Sorted(SeriesSort.NOISE, f"The gain holds{_since(found)}: {shown}.", found)
    names = {one.name for one in found}
    moved = (
        f"The gain against v0 holds, but both moved alike: v0 {_step(before.v0_us, after.v0_us)}, "
        f"the kernel {_step(before.kernel_us, after.kernel_us)}"
    )
    if names & {*METHOD}:
        return Sorted(SeriesSort.METHOD, f"{moved}{_since(found)}.", found)
    if names & {*HARDWARE}:
        return Sorted(SeriesSort.HARDWARE, f"{moved}{_since(found)}.", found)
    if names & {*BUILD}:
        return Sorted(SeriesSort.REAL, f"{moved}{_since(found)}.", found)
    why = "; nothing on record changed, so the device or its host did"
    return Sorted(SeriesSort.HARDWARE, f"{moved}{why}.", found)


def _since(found: Iterable[Changed]) -> str:
    words = changed_words(found)
    return f" after {words}" if words else ""


def _of_gain(before: Gain, after: Gain, since: str) -> str:
    way = "less" if after.gain < before.gain else "more"
    why = since or "; nothing on record changed"
    return f"The gain is {way}: it was {before.over('v0')}, is {after.over('v0')}{why}."


def _shift(before: float | None, after: float | None) -> float:
    """The change of a time as a fraction; 0 where one is unknown."""
    return after / before - 1 if before and after else 0.0


def _step(before: float | None, after: float | None) -> str:
    shift = change(_shift(before, after))
    return f"{duration(before or 0.0)} → {duration(after or 0.0)}, {shift}"
