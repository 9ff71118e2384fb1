"""What a trace of the driver tells: how a kernel was launched, how long calls take. No backend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from campaigns.evaluator.contract import Launch

# The share of a trace's calls that pay for its start: what was written before leaves the caches,
# and code and tables come in. That is some 30 µs, and no call of a long burst has it.
STARTING = 8


def steady_us(kernels: Sequence[tuple[float, float]], calls: int) -> float:
    """Device time of a call, in µs, of what was traced of `calls` calls in a row.

    kernels: (start, duration) of each in µs. Without the first calls where all of them launched as
    many; else of all.
    """
    each, rest = divmod(len(kernels), calls)
    left_out = 0 if rest else calls // STARTING
    kept = sorted(kernels)[left_out * each :]
    return sum(us for _, us in kept) / (calls - left_out)


def read_launch(text: str) -> Launch | None:
    """The longest kernel of a trace of one call; None where the trace has no kernel with a grid.

    ValueError, KeyError or TypeError for a text that is no such trace.
    """
    kernels = [
        event
        for event in json.loads(text)["traceEvents"]
        if event.get("cat") == "kernel" and "grid" in event.get("args", {})
    ]
    if not kernels:
        return None
    args: dict[str, Any] = max(kernels, key=lambda event: float(event["dur"]))["args"]
    occupancy = args.get("est. achieved occupancy %")
    return Launch(
        kernels=len(kernels),
        grid=tuple(int(n) for n in args["grid"]),
        block=tuple(int(n) for n in args["block"]),
        registers=int(args.get("registers per thread", 0)),
        shared_bytes=int(args.get("shared memory", 0)),
        occupancy_percent=None if occupancy is None else int(occupancy),
    )
