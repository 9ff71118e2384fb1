"""What is started in the box of a runner by this file's path: a module by its name, or `sealed`.

    python started.py sealed ./program
    python started.py calls cuda:0 3

A runner may read the evaluator's folder, and not list those above it.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from pathlib import Path

EVALUATOR = Path(__file__).resolve().parents[1]
PACKAGES = {"campaigns": EVALUATOR.parent, "campaigns.evaluator": EVALUATOR}


def sealed(program: str) -> None:
    """Become the program that perf counts, which may not count by itself. Raises OSError.

    What perf was allowed is taken away; a filter is never opened again, and holds for all that it
    starts. Where none can be had there is nothing to count.
    """
    filters = importlib.import_module("campaigns.evaluator.sandbox.linux.filters")
    seccomp = importlib.import_module("campaigns.evaluator.sandbox.linux.seccomp")
    seccomp.install(filters.refusing(filters.FOR_EVENTS), listen=False)
    os.execv(program, [program])


def main(module: str, *given: str) -> None:
    if module == sealed.__name__:
        sealed(*given)
    importlib.import_module(f"campaigns.evaluator.profile.{module}").main(*given)


if __name__ == "__main__":
    for name, folder in PACKAGES.items():
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    main(*sys.argv[1:])
