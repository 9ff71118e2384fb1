"""Run one evaluation of another evaluator and leave nothing of it behind, whatever it does.

    python -m campaigns.benchmarks.peers.contained LIMIT_S LOG COMMAND…

Everything that the command starts falls to this process when it loses its parent, and is killed at
the end. Prints how the command ended: the exit status or the name of the signal, or `hung`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from campaigns.evaluator.contract.sandbox import (
    adopt_orphans,
    describe_status,
    end_descendants,
    kill_group,
    wait_status,
)

# No file that a candidate writes grows over this; endless output would fill the disk.
FILE_BYTES = 256 << 20
HUNG = "hung"


def main(limit_s: float, log: Path, command: list[str]) -> str:
    adopt_orphans()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    status = wait_status(process.pid, limit_s)
    kill_group(process.pid)
    wait_status(process.pid, 5.0)
    process.returncode = 0  # waited for above
    end_descendants()
    return HUNG if status is None else describe_status(status)


if __name__ == "__main__":
    print(main(float(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
