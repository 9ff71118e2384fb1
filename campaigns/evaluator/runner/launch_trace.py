"""How a kernel was launched, read from the trace that the profiler writes. Registers nothing."""

from __future__ import annotations

import json
from typing import Any

from campaigns.evaluator.contract import Launch


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
