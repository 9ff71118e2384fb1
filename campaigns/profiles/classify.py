"""What limits a kernel, by counters: one class, and the second where two are alike (R25).

The first rule that fits counts. Memory is the busiest part of it, caches among them: DRAM alone
makes a kernel that is limited by L1 or shared memory look idle. The rules are the same for every
vendor, by the names that `metrics` gives to its counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.profiles.metrics import STALLS
from knowledge.experience.terms import Bottleneck

# Under this a launch takes as long as its work.
SHORT_US, FEW_WAVES = 5.0, 0.5
# The busiest SM worked so much longer than a mean one, in so few full loads of blocks.
UNEVEN, TAIL_WAVES = 0.75, 4.0
HIGH_PCT, LOW_PCT, CLEARLY = 60.0, 40.0, 1.5
# Of the memory's share, from which on it is DRAM.
DRAM = 0.8
# Under half of what fits, or where little fits.
OCCUPIED, LITTLE_PCT = 0.5, 25.0


SAID = {
    Bottleneck.MEMORY_DRAM: "DRAM",
    Bottleneck.MEMORY_CACHE: "the caches",
    Bottleneck.COMPUTE_TENSOR: "the tensor cores",
    Bottleneck.COMPUTE_ALU: "arithmetic",
    Bottleneck.LATENCY: "waiting",
    Bottleneck.OCCUPANCY: "too few warps",
    Bottleneck.SYNC: "barriers",
    Bottleneck.LAUNCH: "its launch",
    Bottleneck.TAIL: "its last blocks",
    Bottleneck.UNKNOWN: "what was not counted",
}


@dataclass(frozen=True, slots=True)
class Classified:
    """kind: of `Bottleneck`. second: of a mixed one, what is almost as near. why: in numbers."""

    kind: Bottleneck
    first: Bottleneck | None
    second: Bottleneck | None
    why: str

    @property
    def said(self) -> str:
        """Words for it after "limited by"."""
        parts = [SAID[one] for one in (self.first, self.second) if one]
        return " and ".join(parts) or SAID[self.kind]

    @property
    def words(self) -> str:
        parts = [one.words for one in (self.first, self.second) if one]
        return f"{self.kind.words}: {' and '.join(parts)}" if parts else self.kind.words


def classify(values: Mapping[str, float]) -> Classified:
    """values: by the names of `metrics`. UNKNOWN, with what is missing, where that decides."""
    needed = ("duration_us", "waves", "sm_pct", "memory_pct", "dram_pct")
    if missing := [name for name in needed if name not in values]:
        return Classified(Bottleneck.UNKNOWN, None, None, f"not counted: {', '.join(missing)}")
    time_us, waves = values["duration_us"], values["waves"]
    if time_us < SHORT_US:
        return _as(Bottleneck.LAUNCH, f"it takes {time_us:.3g} µs, a launch about as long")
    if waves < FEW_WAVES:
        return _as(Bottleneck.LAUNCH, f"its blocks fill {waves:.2g} of the SMs' room once")
    mean, most = values.get("busy_cycles"), values.get("busiest_cycles")
    if mean is not None and most and waves < TAIL_WAVES and mean < UNEVEN * most:
        share = mean / most
        return _as(Bottleneck.TAIL, f"a mean SM works {100 * share:.0f} % as long as the busiest")
    return _by_share(values)


def _by_share(values: Mapping[str, float]) -> Classified:
    sm, memory = values["sm_pct"], values["memory_pct"]
    why = f"SMs at {sm:.0f} %, memory at {memory:.0f} %, DRAM at {values['dram_pct']:.0f} %"
    of_memory, of_sms = _memory(values), _compute(values)
    if of_memory is Bottleneck.MEMORY_DRAM and memory - values["dram_pct"] >= 1:
        why += f" (memory is its busiest part, here a cache; DRAM counts from {DRAM:.0%} of it on)"
    if (cache := values.get("l2_pct", 0.0)) - memory >= 1:
        why += f"; L2 at {cache:.0f} %, by parts that the share of memory leaves out"
    if memory >= HIGH_PCT and memory >= CLEARLY * sm:
        return _as(of_memory, why)
    if sm >= HIGH_PCT and sm >= CLEARLY * memory:
        return _as(of_sms, why)
    if sm < LOW_PCT and memory < LOW_PCT:
        kind, more = _waiting(values)
        return _as(kind, f"{why}; {more}" if more else why)
    first, second = (of_memory, of_sms) if memory >= sm else (of_sms, of_memory)
    # If neither unit is near its limit, the rest of the time is latency.
    second = second if min(sm, memory) >= LOW_PCT else Bottleneck.LATENCY
    return Classified(Bottleneck.MIXED, first, second, why)


def _memory(values: Mapping[str, float]) -> Bottleneck:
    by_dram = values["dram_pct"] >= DRAM * values["memory_pct"]
    return Bottleneck.MEMORY_DRAM if by_dram else Bottleneck.MEMORY_CACHE


def _compute(values: Mapping[str, float]) -> Bottleneck:
    plain = values.get("fma_pct", values.get("valu_pct", 0.0))
    by_tensor = values.get("tensor_pct", 0.0) >= max(plain, 1.0)
    return Bottleneck.COMPUTE_TENSOR if by_tensor else Bottleneck.COMPUTE_ALU


def _waiting(values: Mapping[str, float]) -> tuple[Bottleneck, str]:
    """Find why a kernel keeps nothing busy, and the number that says so."""
    if worst_stall(values)[0] == "stall_barrier":
        return Bottleneck.SYNC, "its warps wait at barriers most"
    most, there = values.get("occupancy_most_pct"), values.get("occupancy_pct")
    if most is not None and there is not None and (most < LITTLE_PCT or there < OCCUPIED * most):
        return Bottleneck.OCCUPANCY, f"{there:.0f} % of the warps are there, {most:.0f} % fit"
    return Bottleneck.LATENCY, ""


def worst_stall(values: Mapping[str, float]) -> tuple[str, float]:
    """What most warps wait for, and its share of all stalls; "" and 0 where none was counted."""
    shares = stall_shares(values)
    worst = max(shares, key=shares.__getitem__, default="")
    return worst, shares.get(worst, 0.0)


def stall_shares(values: Mapping[str, float]) -> dict[str, float]:
    """Each stall's share of all; nothing where none was counted."""
    stalls = {name: values[name] for name in STALLS if name in values}
    total = sum(stalls.values())
    return {name: value / total for name, value in stalls.items()} if total else {}


def _as(kind: Bottleneck, why: str) -> Classified:
    return Classified(kind, None, None, why)
