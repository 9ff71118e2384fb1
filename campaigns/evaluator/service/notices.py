"""What people are told of an evaluation: how long it will take."""

from __future__ import annotations

from collections.abc import Sequence

from campaigns.evaluator.contract import Protocol

# Calls of a check, each with an answer in float64, which takes about twice as long; counted on the
# shipped problems.
CHECKED, RAISED = 60, 2
# Bursts of an arm on a case before its first sample: the runner's trial, the calibration, probes.
BEFORE = 8
# The spare slots of a burst (`campaigns.evaluator.judge.timing.burst.SPARE`).
SPARE = 2
# Bursts made again, probes and comparisons, as a multiple of the proofs that are counted here: an
# int8 matrix times vector of two cases took 110 s on two idle cores where 39 s were counted.
MORE = 3
# A shorter wait needs no word beforehand.
LONG_S = 60.0
FASTER = "smaller cases, or fewer of them by --case"
SHIFT = 'refresh = "shift" in problem.toml where elements may be mixed'


def forecast(
    proofs: Sequence[tuple[float, int]], arms: int, timed: Protocol | None, refresh: str
) -> str:
    """What to expect of an evaluation that will take minutes, and how to make it faster; or "".

    See `forecast_s`. refresh: of the problem.
    """
    longest_s = max(proof_s for proof_s, _ in proofs)
    return forecast_words(forecast_s(proofs, arms, timed), longest_s, refresh)


def forecast_s(proofs: Sequence[tuple[float, int]], arms: int, timed: Protocol | None) -> float:
    """Seconds, roughly.

    proofs: by case the seconds of inputs and reference for one call, and the most calls in a
    burst. timed: None where there are no bursts.
    """
    total_s = sum(proof_s for proof_s, _ in proofs) * CHECKED * RAISED
    if timed is not None:
        blocks = timed.blocks if arms > 1 else timed.blocks_alone
        # A sample is a long and a short burst, and an arm has two in each block.
        bursts = 2 * blocks + BEFORE
        total_s += sum(proof_s * (most + 2 * SPARE) for proof_s, most in proofs) * bursts * MORE
    return arms * total_s


def forecast_words(seconds: float, proof_s: float, refresh: str) -> str:
    """What to expect and how to make it faster; "" for less than a minute. proof_s: the longest."""
    if seconds < LONG_S:
        return ""
    ways = FASTER if refresh == "shift" else f"{SHIFT}, {FASTER}"
    return (
        f"about {seconds / 60:.0f} min in all, as inputs and reference take {proof_s:.2g} s for "
        f"each call; faster with {ways}"
    )
