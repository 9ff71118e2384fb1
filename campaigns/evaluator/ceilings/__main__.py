"""Measure one device: `python -m campaigns.evaluator.ceilings --device cpu|cuda:0 [--json]`.

With `--array-bytes N` only copies between two arrays of that size are measured.
"""

from __future__ import annotations

import argparse
import re
import socket
import sys
from datetime import UTC, datetime

from campaigns.evaluator.ceilings.cpu import measure_cpu, measure_cpu_copy
from campaigns.evaluator.ceilings.document import shown
from campaigns.evaluator.ceilings.result import CeilingsError, Result, dump

DEVICE = re.compile(r"cpu|cuda:(?P<index>\d+)")


def measure(device: str, array_bytes: int | None = None) -> Result:
    """Measure "cpu" or "cuda:<index>". Raises CeilingsError with one line.

    array_bytes: of copies of this size alone; None measures every ceiling.
    """
    found = DEVICE.fullmatch(device)
    if found is None:
        raise CeilingsError(f"device '{device}'; accepted: cpu, cuda:0, cuda:1, …")
    if array_bytes is not None and array_bytes < 1:
        raise CeilingsError(f"array-bytes: {array_bytes}; accepted: 1 or more")
    only = f" --array-bytes {array_bytes}" if array_bytes else ""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    where = {
        "device": device,
        "host": socket.gethostname(),
        "measured_at": now,
        "command": f"python -m campaigns.evaluator.ceilings --device {device}{only} --json",
    }
    if found["index"] is None:
        return measure_cpu_copy(where, array_bytes) if array_bytes else measure_cpu(where)
    # Late: a host without a card has no use for torch and may not even have it.
    from campaigns.evaluator.ceilings.gpu import measure_gpu, measure_gpu_copy

    index = int(found["index"])
    return measure_gpu_copy(index, where, array_bytes) if array_bytes else measure_gpu(index, where)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campaigns.evaluator.ceilings")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:<index>")
    parser.add_argument("--array-bytes", type=int, help="only copies between arrays of this size")
    parser.add_argument("--json", action="store_true", dest="as_json")
    words = parser.parse_args()
    try:
        result = measure(words.device, words.array_bytes)
    except CeilingsError as error:
        print(f"ceilings: {error}", file=sys.stderr)
        return 1
    if words.as_json:
        print(dump(result))
        return 0
    for ceiling in result.ceilings:
        label = " ".join((ceiling.metric, *(f"{k}={v}" for k, v in ceiling.qualifiers.items())))
        print(f"{label}: {shown(ceiling.rate, ceiling.unit)} ({ceiling.basis})")
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
