"""The other evaluators: which module asks each, where its code lies, and one evaluation by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.peers import contained, kernelbench, sol
from campaigns.benchmarks.peers.form import TURN, Form
from campaigns.benchmarks.peers.task import Opinion, PeerAnswer, PeerTask, read_answer
from campaigns.benchmarks.trick import Trick
from campaigns.devices.discover import Device
from campaigns.devices.launch import ROOT, clean_environment
from campaigns.evaluator.layout import Layout

# A whole evaluation by another evaluator; honest ones take some ten seconds, compiled ones more.
LIMIT_S = 45.0


class PeerError(BenchmarkError):
    """A folder that does not hold what it should; the message names what is missing."""


@dataclass(frozen=True, slots=True)
class Peer:
    """module: what is run. holds: a file of its sources. no_form: why it cannot be asked.

    state: a candidate and its problem in its own schema, where it has one. packages: what it does
    without where it is not installed, so that a report has to say so.
    """

    name: str
    module: str
    holds: str
    no_form: Callable[[Layout], str | None]
    state: Callable[[PeerTask, Form], dict[str, Any]] = lambda task, form: {}
    folder: Path | None = None
    packages: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        return (str(self.folder / "src"),) if self.folder else ()

    def commit(self) -> str:
        """What is checked out; a copy without its history says so in a file `COMMIT`."""
        if self.folder is None:
            return ""
        noted = self.folder / "COMMIT"
        if noted.is_file():
            return noted.read_text().strip()
        command = ["git", "-C", str(self.folder), "rev-parse", "HEAD"]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        return said.stdout.strip() or "unknown commit"


PLAIN = Peer("do_bench", "plain", "", lambda layout: None)
KERNELBENCH = Peer("KernelBench", "kernelbench", "src/kernelbench/eval.py", kernelbench.no_form)
SOL = Peer(
    "SOL-ExecBench",
    "sol",
    "src/sol_execbench/driver",
    sol.no_form,
    sol.state,
    packages=("cupti-python",),
)


def at(peer: Peer, folder: Path) -> Peer:
    """`peer` with its code in `folder`. Raises PeerError."""
    if not (folder / peer.holds).exists():
        raise PeerError(f"{folder}: {peer.holds}: missing; a checkout of {peer.name} is needed")
    return replace(peer, folder=folder.resolve())


def ask(peer: Peer, trick: Trick, device: Device, turn: Path) -> PeerAnswer:
    """One evaluation in processes of its own; never raises for what the candidate does."""
    form = Form(str(trick.problem.resolve()), trick.params)
    if reason := _no_updates(form.layout) or peer.no_form(form.layout):
        return PeerAnswer(Opinion.NO_FORM, reason)
    folder = Path(mkdtemp(prefix="kopt-trust-"))
    try:
        task = _task(trick, device, folder)
        environment = _environment(peer, task, turn) | _seeing(device)
        return _ask(peer, replace(task, stated=peer.state(task, form)), environment, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _no_updates(layout: Layout) -> str | None:
    """None of them hands a call the contents that its outputs start with."""
    updated = any(arg.update for arg in layout.outputs)
    return "it has no outputs that are updated in place" if updated else None


def _seeing(device: Device) -> dict[str, str]:
    """Each of them takes the first card that it sees, so it sees one."""
    return {"CUDA_VISIBLE_DEVICES": device.uuid} if device.kind == "gpu" else {}


def _task(trick: Trick, device: Device, folder: Path) -> PeerTask:
    work = folder / "work"
    work.mkdir()
    return PeerTask(
        source=str(trick.path.resolve()),
        backend=trick.backend,
        problem=str(trick.problem.resolve()),
        params=trick.params,
        flags=trick.flags,
        device="cuda:0" if device.kind == "gpu" else device.device,
        folder=str(work),
        out=str(folder / "answer.json"),
    )


def _ask(peer: Peer, task: PeerTask, environment: dict[str, str], folder: Path) -> PeerAnswer:
    module = f"campaigns.benchmarks.peers.{peer.module}"
    command = [sys.executable, "-m", contained.__name__, str(LIMIT_S), str(folder / "log")]
    ended = subprocess.run(
        [*command, sys.executable, "-m", module, task.dump()],
        cwd=task.folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    ).stdout.strip()
    found = read_answer(Path(task.out))
    if found is not None:
        # Threads of a candidate may keep the process from ending after that.
        return found
    if ended == contained.HUNG:
        return PeerAnswer(Opinion.HUNG, f"not done after {LIMIT_S:.0f} s")
    said = (folder / "log").read_text(errors="replace")[-4000:].strip().splitlines()
    if ended == "exit status 1" and any("Traceback" in line for line in said):
        return PeerAnswer(Opinion.REFUSED, f"raised: {said[-1][:200]}")
    return PeerAnswer(Opinion.DIED, ended)


def _environment(peer: Peer, task: PeerTask, turn: Path) -> dict[str, str]:
    """As of our own evaluator, with nothing kept from one evaluation to the next."""
    work = Path(task.folder)
    kept = clean_environment()
    paths = [*peer.sources, str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
    own = {
        "PYTHONPATH": os.pathsep.join(paths),
        "HOME": str(work),
        "TMPDIR": str(work),
        "TRITON_CACHE_DIR": str(work / "triton"),
        "TORCH_EXTENSIONS_DIR": str(work / "extensions"),
        TURN: str(turn),
    }
    if task.device == "cpu":
        own["TRITON_INTERPRET"] = "1"
    return kept | own
