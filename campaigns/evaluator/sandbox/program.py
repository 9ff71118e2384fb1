"""Run one command of a project's harness, locked down; a program of its own.

It reads an `Order` as JSON. The command finds a copy of that order's folder at `view.WORK`, in
memory: whatever it writes is bounded in sum, and counts as its memory. When all that it started has
ended, its files are copied back. There is no network, no other process and no home. What is written
to the file descriptor in its argument is ours, as `order.Told` has it. The exit status is the
command's, as a shell tells it.

There is no filter of system calls, because tools that build and test use many that no kernel needs;
on a GPU there is no Landlock, under which CUDA does not start. Namespaces, view and user hold by
themselves, as they do for sanitizers.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from campaigns.evaluator.sandbox import (
    folder,
    identity,
    landlock,
    limits,
    places,
    probe,
    view,
)
from campaigns.evaluator.sandbox.folder import MIB, OverRoom, Room, is_full
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.linux import calls
from campaigns.evaluator.sandbox.policy import LOG_BYTES, TABLE_BYTES, Order
from campaigns.evaluator.sandbox.processes import die_with_parent

TREE, HOME = f"{view.WORK}/tree", f"{view.WORK}/home"
# Without these the command would see the host's files, talk to its network, or go on unseen.
NEEDED = (Layer.NETWORK, Layer.MOUNTS, Layer.PROCESSES)
LOOK_S = 0.1
NO_ROOM = os.strerror(errno.ENOSPC).encode()


def main(told: int) -> int:
    """told: the file descriptor to tell on."""
    order = Order(**json.load(sys.stdin))
    os.set_inheritable(told, False)
    plan = probe.plan_for("cpu", order.memory_bytes)
    needed = (*NEEDED, *(plan.missing if order.require_all else ()))
    lacking = [layer for layer in needed if layer not in plan.holds]
    if lacking:
        _tell(told, broken=f"this host lacks {', '.join(lacking)} for its sandbox")
        return 1
    return _LockedProgram(order, plan, told).run()


def _tell(told: int, **what: str | bool) -> None:
    os.write(told, json.dumps(what).encode() + b"\n")


class _LockedProgram:
    """The processes between this one and the command."""

    def __init__(self, order: Order, plan: SandboxPlan, told: int) -> None:
        self._order = order
        self._plan = plan
        self._told = told
        self._room = Room(order.disk_bytes)
        self._allowed = f"{self._room} are allowed, the tree's among them (KOPT_HARNESS_MIB)"
        most = f"{plan.memory_bytes // MIB:,} MiB"
        self._over_memory = f"took more memory than the {most} that are allowed (KOPT_RUNNER_MIB)"
        self._lease = identity.lease_uid() if Layer.UID in plan.holds else None
        self._uid = self._lease.uid if self._lease else None
        self._groups = limits.make_groups(plan.memory_bytes)

    def run(self) -> int:
        try:
            if Layer.USER in self._plan.holds:
                view.enter_user_namespace()
            view.enter_process_namespace()
            child = self._fork(partial(self._first, os.getpid()))
            status = _exit_status(os.waitpid(child, 0)[1])
            if self._groups.ran_out_of_memory():
                _tell(self._told, over=self._over_memory)
            return status
        except OSError as error:
            return self._refused(error)
        finally:
            self._groups.remove()

    def _first(self, parent: int) -> int:
        """The first process of the PID namespace: all others end with it."""
        die_with_parent(parent)
        if os.getpid() != 1:
            raise OSError(errno.EPERM, "is not of its own", "the PID namespace")
        self._groups.enter()
        holds, uid = self._plan.holds, self._uid
        shown = _shown(self._order, self._plan)
        # By names that hold when the host's files are taken out of sight.
        flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        work, *folders = (
            Path(f"/proc/self/fd/{os.open(path, flags)}")
            for path in (Path(self._order.folder), *self._groups.folders)
        )
        self._groups = replace(self._groups, folders=tuple(folders))
        view.enter_namespaces(holds)
        view.build_view(
            shown,
            (os.getuid(), os.getgid()) if uid is None else (uid, uid),
            fresh_proc=Layer.PROC in holds,
            shared=False,
            work=self._room.options,
        )
        if Layer.CAPABILITIES in holds:
            calls.drop_bounding_set()
        try:
            for name in (TREE, HOME):
                self._room.copy(work / Path(name).name, Path(name), uid)
        except (OverRoom, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOSPC:
                raise
            _tell(self._told, locked=True, over=f"has too large a tree: {self._allowed}")
            return 1
        return self._ended(work, shown)

    def _ended(self, work: Path, shown: tuple[Path, ...]) -> int:
        """The command's exit status, when nothing of it runs any more and all is told."""
        said = _Said(self._uid)
        child = self._fork(partial(self._become, shown, said))
        status, ended = self._watched(child)
        # Every other process of this PID namespace, of which this one is the first.
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        said.hand_on()
        over = "" if ended else self._over()
        # A tool that removes what it could not complete leaves room behind.
        if not ended and not over and status and NO_ROOM in said.end():
            over = f"had no room to write: {self._allowed}"
        if over:
            ended = {"over": over}
        elif not ended:
            ended = self._taken_back(work)
        if ended:
            _tell(self._told, **ended)
        return status

    def _taken_back(self, work: Path) -> dict[str, str | bool]:
        """Copy what the command left to where the folder came from; what to tell if it failed."""
        try:
            for name in (TREE, HOME):
                folder.clear(work / Path(name).name)
                (work / Path(name).name).rmdir()
                self._room.copy(Path(name), work / Path(name).name, None)
        except OverRoom as error:
            return {"over": f"left files that are not kept: {error}; {self._allowed}"}
        except OSError as error:
            return {"broken": f"{error.filename or 'its files'}: {error.strerror}"}
        return {}

    def _watched(self, child: int) -> tuple[int, dict[str, str | bool]]:
        """Wait until it has ended or has to be; its exit status, and what to tell."""
        deadline = time.monotonic() + self._order.total_s
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == child:
                return _exit_status(status), {}
            if time.monotonic() > deadline:
                return 1, {"late": True}
            if over := self._over():
                return 1, {"over": over}
            if not ended:
                signal.sigtimedwait({signal.SIGCHLD}, LOOK_S)

    def _over(self) -> str:
        """Which limit of the whole is met; "" for none."""
        if is_full(view.WORK):
            return f"filled {view.WORK}: {self._allowed}"
        for place, size in ((view.TEMPORARY, view.SCRATCH_BYTES), (view.SHARED, view.SHARED_BYTES)):
            if is_full(place):
                return f"filled {place}: {size // MIB:,} MiB and {view.FILES:,} files are allowed"
        if self._groups.memory:
            return self._over_memory if self._groups.ran_out_of_memory() else ""
        # The number that /proc gives this process, be it that of the host.
        taken = limits.resident_below(int(os.readlink("/proc/self")))
        found = [os.statvfs(place) for place in (view.WORK, view.TEMPORARY, view.SHARED)]
        taken += sum((one.f_blocks - one.f_bfree) * one.f_frsize for one in found)
        return self._over_memory if taken > self._plan.memory_bytes else ""

    def _become(self, shown: tuple[Path, ...], said: _Said) -> int:
        """Lock this process and become the command."""
        order, uid = self._order, self._uid
        # Where a kernel shares time out by session, those that watch get theirs.
        os.setsid()
        for number, file in enumerate(said.files, 1):
            os.dup2(file, number)
        bounded = self._groups.memory or order.kind == "cuda"
        limits.limit_runner(
            order.total_s,
            order.kind,
            own_count=uid is not None,
            address_bytes=None if bounded else self._plan.memory_bytes,
            # What is met is the limit of the whole, which is told.
            file_bytes=max(limits.FILE_BYTES, order.disk_bytes),
        )
        if uid is None:
            calls.drop_capabilities()
        else:
            identity.become(uid)
        identity.no_new_privileges()
        if order.kind == "cpu" and Layer.LANDLOCK in self._plan.holds:
            writable = [Path(view.WORK), Path(view.TEMPORARY), Path(view.SHARED)]
            readable = [*shown, Path("/proc"), Path("/etc"), Path("/dev"), *writable]
            landlock.restrict(readable, [path for path in shown if path.is_char_device()], writable)
        os.chdir(TREE)
        _tell(self._told, locked=True)
        os.execve("/bin/sh", ["sh", "-c", order.command], _environment(order))

    def _fork(self, body: Callable[[], int]) -> int:
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            status = body()
        except OSError as error:
            status = self._refused(error)
        finally:
            os._exit(status)

    def _refused(self, error: OSError) -> int:
        _tell(self._told, broken=f"sandbox: {error.filename or 'a limit'}: {error.strerror}")
        return 1


class _Said:
    """What the command prints: files without a name, bounded with its temporary ones.

    Not with those of its tree: a tool could not say that there is no more room.
    """

    def __init__(self, uid: int | None) -> None:
        flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
        self.files = [os.open(view.TEMPORARY, flags, 0o600) for _ in range(2)]
        if uid is not None:
            for file in self.files:
                os.fchown(file, uid, uid)

    def hand_on(self) -> None:
        """Print the first `TABLE_BYTES` to where this process prints, and the end."""
        for number, file in enumerate(self.files, 1):
            size = os.fstat(file).st_size
            first = os.pread(file, TABLE_BYTES + 1, 0)
            rest = max(len(first), size - LOG_BYTES)
            for data in (first, os.pread(file, LOG_BYTES, rest)):
                with os.fdopen(number, "wb", closefd=False) as out:
                    out.write(data)

    def end(self) -> bytes:
        starts = [max(0, os.fstat(file).st_size - LOG_BYTES) for file in self.files]
        ends = zip(self.files, starts, strict=True)
        return b"".join(os.pread(file, LOG_BYTES, start) for file, start in ends)


def _exit_status(status: int) -> int:
    """Exit status in a shell's convention."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _shown(order: Order, plan: SandboxPlan) -> tuple[Path, ...]:
    """Files, folders and device nodes that the command may read."""
    on_gpu = order.kind == "cuda"
    own = places.readable(order.kind) if on_gpu else plan.readable
    nodes = places.nodes(order.kind) if on_gpu else plan.devices
    extra = [Path(os.path.abspath(name)) for name in order.extra if Path(name).is_dir()]
    added = [path for path in extra if not any(path.is_relative_to(one) for one in own)]
    return (*own, *added, *nodes)


def _environment(order: Order) -> dict[str, str]:
    programs = [Path(name, "bin") for name in order.extra] + [Path(sys.executable).parent]
    usual = os.environ.get("PATH", os.defpath)
    names = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "LANG")
    return {name: os.environ[name] for name in names if name in os.environ} | {
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


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
