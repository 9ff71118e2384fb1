"""The last step before a program that perf counts: from here on it may not count by itself.

What perf was allowed (`filters.FOR_EVENTS`) is taken away, and then this process becomes the
candidate's program. A filter is never opened again, and holds for all that it starts.
"""

from __future__ import annotations

import os

from campaigns.evaluator.sandbox.linux import filters, seccomp


def main(program: str) -> None:
    """Raises OSError where no filter can be had: then there is nothing to count."""
    seccomp.install(filters.refusing(filters.FOR_EVENTS), listen=False)
    os.execv(program, [program])
