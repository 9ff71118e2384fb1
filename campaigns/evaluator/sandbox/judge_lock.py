"""The judge's own lock. No foreign code runs in it; this bounds what a fault in it could reach.

It has no network, and sees system folders, its job's problem, its scratch folder and the folders of
what is built, but no home, no database and no other problem. Unlike a runner it keeps its user, by
which runners open its memory on a GPU, and the processes of the host: it has to stop those of
runners, to see whether they have stopped, and to place their threads. For that root keeps three
capabilities. An ordinary user's judge has the filter of system calls alone, since in a user
namespace of its own it would see less of the runners than it needs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from campaigns.evaluator.sandbox import identity, view
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.linux import calls, filters, seccomp

OWN = (Layer.NETWORK, Layer.MOUNTS)
# To stop processes of other users, to read how their threads stand, and to bind these to cores.
KEPT = (calls.CAP_KILL, calls.CAP_SYS_PTRACE, calls.CAP_SYS_NICE)


def enter(plan: SandboxPlan) -> None:
    """Before the device starts, while there is one thread. Raises OSError."""
    view.enter_namespaces(_held(plan))


def close(plan: SandboxPlan, shown: Iterable[Path], kept: Iterable[Path]) -> str:
    """Once the job is known; the layers that hold, in words.

    shown, kept: what is read and what is written besides the system's folders. Raises OSError.
    """
    held = _held(plan)
    if Layer.MOUNTS in held:
        owner = (os.getuid(), os.getgid())
        seen = [one for one in shown if not any(map(one.is_relative_to, plan.readable))]
        paths = (*plan.readable, *plan.devices, *seen)
        # Runners open its memory on a GPU through the host's /dev/shm.
        on_gpu = plan.kind == "cuda"
        view.build_view(paths, owner, fresh_proc=False, shared=on_gpu, kept=kept)
        os.environ.update({"HOME": str(view.SCRATCH), "TMPDIR": view.TEMPORARY})
        tempfile.tempdir = None
        os.chdir(view.SCRATCH)
    if held:
        calls.drop_bounding_set()
        calls.drop_capabilities(but=KEPT)
    if Layer.SECCOMP in plan.holds:
        identity.no_new_privileges()
        seccomp.install(filters.program(filters.JUDGE), listen=False)
        held = (*held, Layer.SECCOMP)
    return ", ".join(held)


def _held(plan: SandboxPlan) -> tuple[Layer, ...]:
    return tuple(layer for layer in OWN if layer in plan.holds) if plan.root else ()
