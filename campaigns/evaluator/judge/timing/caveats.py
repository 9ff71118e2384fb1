"""A caveat beside the times of short calls on a CPU."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from campaigns.evaluator.contract import Timing

# Calls of a burst follow each other in the candidate's process, which can find the next call's
# inputs. Fetching them early gains little in a longer call.
SHORT_CALL_US = 400.0


def short_call_caveats(timings: Mapping[str, Mapping[str, Timing]]) -> list[str]:
    """One sentence where the candidate's calls are short, or none; timings: by case and arm."""
    short = [
        case for case, arms in timings.items() if _median_us(arms["candidate"]) < SHORT_CALL_US
    ]
    if not short:
        return []
    return [
        f"Calls under {SHORT_CALL_US / 1e3:g} ms ({', '.join(short)}): a kernel may fetch the next "
        "call's inputs early; kopt does not measure that on a CPU."
    ]


def _median_us(timing: Timing) -> float:
    return statistics.median(timing.samples_us)
