"""Run one command of a project's harness, locked down; a program of its own.

It reads an `Order` as JSON, and shows the folder of that order at `view.WORK`, the only place of
the host that the command can write to. There is no network, no other process and no home. What is
written to the file descriptor in its argument is ours: `LOCKED` once the command is about to begin,
else why it cannot. The exit status is the command's, as a shell tells it.

There is no filter of system calls, because tools that build and test use many that no kernel needs;
on a GPU there is no Landlock, under which CUDA does not start. Namespaces, view and user hold by
themselves, as they do for sanitizers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from campaigns.evaluator.processes import die_with_parent
from campaigns.evaluator.sandbox import (
    calls,
    cgroup,
    identity,
    landlock,
    limits,
    namespaces,
    places,
    probe,
    view,
)
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan

LOCKED = b"locked"
TREE, HOME = f"{view.WORK}/tree", f"{view.WORK}/home"
# Without these the command would see the host's files, or talk to its network.
NEEDED = (Layer.NETWORK, Layer.MOUNTS)


@dataclass(frozen=True, slots=True)
class Order:
    """folder: holds `tree`, where the command runs, and `home`. kind: of device, "cpu" or "cuda".

    extra: more folders to read, whose programs come first. total_s: processor seconds a core.
    """

    folder: str
    command: str
    kind: str
    total_s: float
    memory_bytes: int
    require_all: bool
    extra: tuple[str, ...] = ()


def main(told: int) -> int:
    """told: the file descriptor to tell on."""
    order = Order(**json.load(sys.stdin))
    os.set_inheritable(told, False)
    plan = probe.plan_for("cpu", order.memory_bytes)
    needed = (*NEEDED, *(plan.missing if order.require_all else ()))
    lacking = [layer for layer in needed if layer not in plan.holds]
    if lacking:
        os.write(told, f"this host lacks {', '.join(lacking)} for its sandbox".encode())
        return 1
    return _LockedProgram(order, plan, told).run()


class _LockedProgram:
    """The processes between this one and the command."""

    def __init__(self, order: Order, plan: SandboxPlan, told: int) -> None:
        self._order = order
        self._plan = plan
        self._told = told
        self._lease = identity.lease_uid() if Layer.UID in plan.holds else None
        self._groups = cgroup.make(plan.memory_bytes, limits.most_threads())

    @property
    def _uid(self) -> int | None:
        return self._lease.uid if self._lease else None

    def run(self) -> int:
        try:
            if self._uid is not None:
                _hand_over(Path(self._order.folder), self._uid)
            if Layer.USER in self._plan.holds:
                namespaces.enter_user_namespace()
            if Layer.PROCESSES in self._plan.holds:
                namespaces.enter_process_namespace()
            return self._in_child(partial(self._first, os.getpid()))
        except OSError as error:
            return self._refused(error)
        finally:
            self._groups.remove()

    def _first(self, parent: int) -> int:
        """The first process of the PID namespace: all others end with it."""
        die_with_parent(parent)
        self._groups.enter()
        holds, uid = self._plan.holds, self._uid
        shown = _shown(self._order, self._plan)
        namespaces.enter(holds)
        view.build_view(
            shown,
            (os.getuid(), os.getgid()) if uid is None else (uid, uid),
            fresh_proc=Layer.PROC in holds,
            shared=False,
            work=Path(self._order.folder),
        )
        if Layer.CAPABILITIES in holds:
            calls.drop_bounding_set()
        return self._in_child(partial(self._become, shown))

    def _become(self, shown: tuple[Path, ...]) -> int:
        """Lock this process and become the command."""
        order, uid = self._order, self._uid
        bounded = self._groups.memory or order.kind == "cuda"
        limits.limit_runner(
            order.total_s,
            order.kind,
            own_count=uid is not None,
            address_bytes=None if bounded else self._plan.memory_bytes,
        )
        if uid is None:
            calls.drop_capabilities()
        else:
            identity.become(uid)
        identity.no_new_privileges()
        if order.kind == "cpu":
            _restrict(self._plan.holds, shown)
        os.chdir(TREE)
        os.write(self._told, LOCKED)
        os.execve("/bin/sh", ["sh", "-c", order.command], _environment(order))

    def _in_child(self, body: Callable[[], int]) -> int:
        """Run it in a child, wait for that and for what it leaves to us; its exit status."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = body()
            except OSError as error:
                status = self._refused(error)
            finally:
                os._exit(status)
        while True:
            ended, status = os.wait()
            if ended == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code

    def _refused(self, error: OSError) -> int:
        words = f"sandbox: {error.filename or 'a limit'}: {error.strerror}"
        os.write(self._told, words.encode())
        return 1


def _shown(order: Order, plan: SandboxPlan) -> tuple[Path, ...]:
    """Files, folders and device nodes that the command may read."""
    on_gpu = order.kind == "cuda"
    own = places.readable(order.kind) if on_gpu else plan.readable
    nodes = places.nodes(order.kind) if on_gpu else plan.devices
    extra = [Path(os.path.abspath(name)) for name in order.extra if Path(name).is_dir()]
    added = [path for path in extra if not any(path.is_relative_to(one) for one in own)]
    return (*own, *added, *nodes)


def _restrict(holds: Container[Layer], shown: tuple[Path, ...]) -> None:
    if Layer.LANDLOCK in holds:
        writable = [Path(view.WORK), Path(view.TEMPORARY), Path(view.SHARED)]
        readable = [*shown, Path("/proc"), Path("/etc"), Path("/dev"), *writable]
        landlock.restrict(readable, [path for path in shown if path.is_char_device()], writable)


def _environment(order: Order) -> dict[str, str]:
    programs = [Path(name, "bin") for name in order.extra] + [Path(sys.executable).parent]
    usual = os.environ.get("PATH", os.defpath)
    kept = {
        name: os.environ[name]
        for name in ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "LANG")
        if name in os.environ
    }
    return kept | {
        "PATH": ":".join([*map(str, programs), usual]),
        "HOME": HOME,
        "TMPDIR": view.TEMPORARY,
        # As with `pip install -e .`, which nobody has run in this tree.
        "PYTHONPATH": f"{TREE}:{TREE}/src",
        "USER": "runner",
        "LOGNAME": "runner",
        # Trees differ in a file or two of the same path and size; nothing compiled may be mixed up.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _hand_over(folder: Path, uid: int) -> None:
    """Make the folder and all in it this user's. Nothing of an earlier command still runs."""
    os.chown(folder, uid, uid, follow_symlinks=False)
    for _, folders, files, handle in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, uid, uid, dir_fd=handle, follow_symlinks=False)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
