"""Runs Triton sources in Triton's interpreter and compiles them for two GPUs that are not here.

    python -m tests.campaigns.proposers.triton_check FOLDER

FOLDER holds `<op>.<anything>.py`. Prints {file: largest error as a share of its tolerance} as JSON.
A process of its own, because Triton decides at import whether to interpret.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

from campaigns.evaluator.backends.triton import compile_for
from campaigns.evaluator.builds.python_entry import load_candidate
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.interpreter.stand_in import install_stub, put_in
from campaigns.evaluator.sandbox.processes import fork
from tests.campaigns.problems.interpreted import wait
from tests.campaigns.problems.test_problems import SMALL, reference_module, worst_margin

TARGETS = ("sm_90", "gfx942")


def main(folder: Path) -> None:
    wait(fork(lambda: _compile_all(folder), sys.stderr.fileno()), "")
    os.environ["TRITON_INTERPRET"] = "1"
    install_stub(TARGETS[0])
    put_in(TARGETS[0])
    print(json.dumps({path.name: _margin(path) for path in sorted(folder.glob("*.py"))}))


def _compile_all(folder: Path) -> int:
    """In a process that does not interpret, and imports Triton once for the compilers it forks."""
    os.environ.pop("TRITON_INTERPRET", None)
    importlib.import_module("triton")
    for path in sorted(folder.glob("*.py")):
        for target in TARGETS:
            child = fork(lambda t=target, p=path: _compile(t, p), sys.stderr.fileno())
            wait(child, f"{path.name} for {target}: ")
    return 0


def _compile(target: str, path: Path) -> int:
    op = path.name.split(".")[0]
    run = reference_module(op).setup(**SMALL[op], seed=1, device="cpu")
    args = [
        ScalarArg(name, value)
        if isinstance(value, int)
        else Plain(name, "float32", tuple(value.shape), name in run["outputs"])
        for name, value in run["inputs"].items()
    ]
    compile_for(target, path, lay_out(args))
    return 0


def _margin(path: Path) -> float:
    op = path.name.split(".")[0]
    run = reference_module(op).setup(**SMALL[op], seed=4, device="cpu")
    for output in run["outputs"]:
        run["inputs"][output].fill_(float("nan"))
    load_candidate(path).run_kernel(**run["inputs"])
    return worst_margin(op, run)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
