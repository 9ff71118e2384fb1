"""What a profiler starts in the box of a runner, by this file's path: a module of ours by its name.

    python started.py sealed ./program
    python started.py calls cuda:0 3

A runner may read the evaluator's folder, and not list those above it.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

EVALUATOR = Path(__file__).resolve().parents[1]
PACKAGES = {"campaigns": EVALUATOR.parent, "campaigns.evaluator": EVALUATOR}


def main(module: str, *given: str) -> None:
    importlib.import_module(f"campaigns.evaluator.profile.{module}").main(*given)


if __name__ == "__main__":
    for name, folder in PACKAGES.items():
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    main(*sys.argv[1:])
