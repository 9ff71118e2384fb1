"""The last step before a program that perf counts: from here on it may not count by itself.

perf starts it by its path, in the box of a runner. What perf was allowed (`filters.FOR_EVENTS`) is
taken away, and then this process becomes the candidate's program. A filter is never opened again,
and holds for all that it starts.
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

EVALUATOR = Path(__file__).resolve().parents[1]


def main(program: str) -> None:
    """Raises OSError where no filter can be had: then there is nothing to count."""
    from campaigns.evaluator.sandbox.linux import filters, seccomp

    seccomp.install(filters.refusing(filters.FOR_EVENTS), listen=False)
    os.execv(program, [program])


if __name__ == "__main__":
    # A runner may read this folder of ours, and not list those above it.
    for name, folder in (("campaigns", EVALUATOR.parent), ("campaigns.evaluator", EVALUATOR)):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    main(sys.argv[1])
