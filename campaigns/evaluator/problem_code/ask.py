"""Ask a problem's own code, outside of an evaluation.

Run as a module with a `Policy` as one line and how long to wait, in seconds, this imports torch
and then answers a `ProblemOrder` a line with an object that has one text: what was "said" in the
box, as JSON with an "answer" or with what is "refused"; or what is "refused" of a problem that says
nothing; or what is "lacked" by this host; or how this program "failed". Each order's code runs in a
fork and a box of its own, as runners do, under its warden. The program ends with its standard
input, and after that long without an order.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case, Job, Source, backends
from campaigns.evaluator.contract.errors import BadReference, BuildFailed, Unsupported
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.contract.origins import with_origins
from campaigns.evaluator.contract.problem_reader import ProblemOrder
from campaigns.evaluator.contract.programs import OFFLINE_TARGET, headline
from campaigns.evaluator.sandbox import warden
from campaigns.evaluator.sandbox.identity import lease_uid
from campaigns.evaluator.sandbox.layers import Layer
from campaigns.evaluator.sandbox.lock import Lock, RunnerBox
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.sandbox.processes import adopt_orphans, draw_apart, fork, wait_status
from campaigns.evaluator.sandbox.workplace import LOG_BYTES, Workplace

# An answer has a few numbers a case.
MOST_BYTES = 1 << 20


def main(policy: Policy, idle_s: float) -> None:
    """Answer until nobody asks any more."""
    # Tried before anything large is loaded, while forks are cheap and there is one thread.
    policy.examine()
    # Nothing here may start a thread, as forks would lack it.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with contextlib.suppress(ImportError):
        # For every fork to have.
        import campaigns.evaluator.problem_code.check  # noqa: F401
    while select.select([sys.stdin], [], [], idle_s)[0] and (line := sys.stdin.readline()):
        print(_in_a_fork(ProblemOrder(**json.loads(line)), policy), flush=True)


def _in_a_fork(order: ProblemOrder, policy: Policy) -> str:
    """The answer, as JSON; no order leaves anything behind in this process."""
    ours, theirs = os.pipe()

    def body() -> int:
        with os.fdopen(theirs, "w") as out:
            json.dump(answered(order, policy), out)
        return 0

    pid = fork(body, 2, (theirs,))
    os.close(theirs)
    with os.fdopen(ours) as told:
        text = told.read()
    os.waitpid(pid, 0)
    return text or json.dumps({"failed": "the program that asks a problem's code ended"})


def answered(order: ProblemOrder, policy: Policy) -> dict[str, Any]:
    why = policy.refusal("cpu") or policy.refusal_of_problem("cpu", shipped=order.shipped)
    if why:
        return {"lacked": why}
    plan = policy.reference_plan("cpu")
    lease = lease_uid() if Layer.UID in plan.holds else None
    told, record, log = (os.memfd_create(name, os.MFD_CLOEXEC) for name in ("a", "r", "l"))
    ends = warden.Ends(record, log, (told,), opens_shared=False)
    body = partial(_inside, order, told)
    watch = partial(warden.watch, plan, lease.uid if lease else None, ends, body)
    adopt_orphans()
    pid = fork(watch, 2, (told, record, log))
    if wait_status(pid, order.limit_s) is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        wait_status(pid, warden.END_S)
        return {"refused": f"{order.folder}/ref.py: no answer in {order.limit_s:.0f} s"}
    seen = warden.Record(**json.loads(os.pread(record, LOG_BYTES, 0) or b"{}"))
    if not seen.locked:
        return {"lacked": f"the sandbox could not be locked: {_last(seen.log)}"}
    said = os.pread(told, MOST_BYTES, 0)
    if not said:
        words = filter(None, ("its process ended", seen.memory, _last(seen.log)))
        return {"refused": f"{order.folder}/ref.py: {', '.join(words)}"}
    return {"said": said.decode("utf-8", "replace")}


def _inside(order: ProblemOrder, told: int, box: RunnerBox) -> int:
    """The process in the box."""
    if order.what == "built":
        os.pwrite(told, json.dumps({"answer": _unbuilt(order, box)}).encode(), 0)
        return 0
    # It imports torch, before the lock: every file that is opened behind it is looked at.
    draw_apart()
    from campaigns.evaluator.problem_code.serve import locked_folder

    if order.what == "compiled":
        from campaigns.evaluator.problem_code.inductor import prepare

        prepare(box.scratch / "inductor-cache")

    files = {name: base64.b64decode(data) for name, data in order.files.items()}
    folder = locked_folder(order.folder, files, box, order.limit_s)
    try:
        said: dict[str, Any] = {"answer": _answer(order, folder)}
    except BadReference as error:
        said = {"refused": error.reason}
    os.pwrite(told, json.dumps(said).encode(), 0)
    return 0


def _unbuilt(order: ProblemOrder, box: RunnerBox) -> str:
    """What a compiler says of the first kernel that it refuses; "" without one.

    Nothing of the problem's is run. A kernel whose compiler is not here is left out.
    """
    lock = Lock(box, order.limit_s)
    lock.lock_down()
    place = Workplace(box.scratch, lock, box.build_log, order.limit_s)
    layout = lay_out(
        [
            Plain(one["name"], one["dtype"], tuple(one["shape"]), output="output" in one["role"])
            if "shape" in one
            else ScalarArg(one["name"], one["value"])
            for one in order.arguments
        ]
    )
    for backend, name in order.kernels.items():
        source = Source(name, base64.b64decode(order.files[name]).decode("utf-8", "replace"))
        target = OFFLINE_TARGET if backend == "cuda" else "native"
        job = Job("built", Path(order.folder), backend, "cpu", target, (), source, box.scratch)
        try:
            backends.get(backend).make(job, source, place).build(layout)
        except BuildFailed as error:
            return headline(with_origins(str(error), source.text, name))
        except Unsupported:
            continue
    return ""


def _answer(order: ProblemOrder, folder: Path) -> Any:
    # What these import is ours, and nothing but numbers and names comes back from the problem's.
    from campaigns.evaluator.problem_code.check import described, works_of
    from campaigns.evaluator.problem_code.code import ProblemCode

    code = ProblemCode(folder)
    smallest, *cases = (Case(one["name"], one["params"]) for one in order.cases)
    if order.what == "works":
        return works_of(code, smallest, cases)
    if order.what == "compiled":
        from campaigns.evaluator.problem_code.inductor import compiled

        return compiled(code, smallest, cases[0], order.target)
    return described(code, folder, smallest, *cases)


def _last(log: str) -> str:
    lines = log.strip().splitlines()
    return lines[-1] if lines else ""


if __name__ == "__main__":
    main(Policy.read(sys.argv[1]), float(sys.argv[2]))
