"""The other evaluators: which module asks each, where its code lies, and one evaluation by it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.peers import contained
from campaigns.benchmarks.peers.form import TURN, Opinion, PeerAnswer, PeerTask
from campaigns.benchmarks.trick import Trick
from campaigns.devices.discover import Device
from campaigns.devices.launch import ROOT, clean_environment

# A whole evaluation by another evaluator; honest ones take some ten seconds, compiled ones more.
LIMIT_S = 45.0


class PeerError(BenchmarkError):
    """A folder that does not hold what it should; the message names what is missing."""


@dataclass(frozen=True, slots=True)
class Peer:
    """module: what is run. holds: a file of its sources, which lie in `folder`.

    packages: what it does without where it is not installed, so that a report has to say so.
    """

    name: str
    module: str
    holds: str = ""
    folder: Path | None = None
    packages: tuple[str, ...] = ()

    def commit(self) -> str:
        """What is checked out; a copy without its history says so in a file `COMMIT`."""
        if self.folder is None:
            return ""
        noted = self.folder / "COMMIT"
        if noted.is_file():
            return noted.read_text().strip()
        command = ["git", "-C", str(self.folder), "rev-parse", "HEAD"]
        printed = subprocess.run(command, capture_output=True, text=True, check=False)
        return printed.stdout.strip() or "unknown commit"


PLAIN = Peer("do_bench", "plain")
KERNELBENCH = Peer("KernelBench", "kernelbench", "src/kernelbench/eval.py")
SOL = Peer("SOL-ExecBench", "sol", "src/sol_execbench/driver", packages=("cupti-python",))


def at(peer: Peer, folder: Path) -> Peer:
    """`peer` with its code in `folder`. Raises PeerError."""
    if not (folder / peer.holds).exists():
        raise PeerError(f"{folder}: {peer.holds}: missing; a checkout of {peer.name} is needed")
    return replace(peer, folder=folder.resolve())


def ask(peer: Peer, trick: Trick, device: Device, turn: Path) -> PeerAnswer:
    """One evaluation in processes of its own; never raises for what the candidate does."""
    with TemporaryDirectory(prefix="kopt-trust-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        work = folder / "work"
        work.mkdir()
        task = PeerTask(
            source=str(trick.path.resolve()),
            backend=trick.backend,
            problem=str(trick.problem.resolve()),
            params=trick.params,
            flags=trick.flags,
            # Each of them takes the first card that it sees, so it sees one.
            device="cuda:0" if device.kind == "gpu" else device.device,
            folder=str(work),
            out=str(folder / "answer.json"),
        )
        module = f"campaigns.benchmarks.peers.{peer.module}"
        command = [sys.executable, "-m", contained.__name__, str(LIMIT_S), str(folder / "log")]
        ended = subprocess.run(
            [*command, sys.executable, "-m", module, msgspec.json.encode(task).decode()],
            cwd=work,
            env=_environment(peer, device, work) | {TURN: str(turn)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout.strip()
        # Threads of a candidate may keep the process from ending after it has answered.
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(Path(task.out).read_bytes(), type=PeerAnswer)
        if ended == contained.HUNG:
            return PeerAnswer(Opinion.HUNG, f"not done after {LIMIT_S:.0f} s")
        printed = (folder / "log").read_text(errors="replace")[-4000:].strip().splitlines()
        if ended == "exit status 1" and any("Traceback" in line for line in printed):
            return PeerAnswer(Opinion.REFUSED, f"raised: {printed[-1][:200]}")
        return PeerAnswer(Opinion.DIED, ended)


def _environment(peer: Peer, device: Device, work: Path) -> dict[str, str]:
    """As of our own evaluator, with nothing kept from one evaluation to the next."""
    inherited = clean_environment()
    sources = [str(peer.folder / "src")] if peer.folder else []
    paths = [*sources, str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])]
    own = {
        "PYTHONPATH": os.pathsep.join(paths),
        "HOME": str(work),
        "TMPDIR": str(work),
        "TRITON_CACHE_DIR": str(work / "triton"),
        "TORCH_EXTENSIONS_DIR": str(work / "extensions"),
    }
    if device.kind == "gpu":
        return inherited | own | {"CUDA_VISIBLE_DEVICES": device.uuid}
    return inherited | own | {"TRITON_INTERPRET": "1"}
