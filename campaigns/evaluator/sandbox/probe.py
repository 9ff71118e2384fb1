"""Which layers this host has: each is really tried in a forked child, never guessed.

Must run in a process with one thread. Nothing that is tried outlives its child.
"""

from __future__ import annotations

import errno
import os
import select
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from campaigns.evaluator.sandbox import identity, landlock, limits, places, view
from campaigns.evaluator.sandbox.layers import NOT_FOR_CUDA_USER, Layer, SandboxPlan, wanted
from campaigns.evaluator.sandbox.linux import calls, filters, seccomp

KINDS = ("cpu", "cuda")
ANSWER_S = 5.0
NOT_THERE = "/kopt-audit"


def plan_for(kind: str, memory_bytes: int = 0) -> SandboxPlan:
    """Try every layer that a runner on this kind of device should have.

    memory_bytes: the most that a runner may take; 0 for half of this host's memory.
    """
    root = os.getuid() == 0
    readable, devices = places.readable(kind), places.nodes(kind)
    trial = _Trial(root, (*readable, *devices))
    unused = NOT_FOR_CUDA_USER if kind == "cuda" and not root else frozenset()
    lacks = dict.fromkeys(unused, "not used with CUDA by an ordinary user")
    for layer in wanted(root=root):
        if layer in unused:
            continue
        if said := trial.attempt(layer):
            lacks[layer] = said
        else:
            trial.holds[layer] = str(landlock.version()) if layer is Layer.LANDLOCK else ""
    memory = limits.memory_limit(memory_bytes)
    return SandboxPlan(
        kind, root, trial.holds, lacks, tuple(readable), tuple(devices), memory_bytes=memory
    )


class _Trial:
    """Attempts that build upon each other: a layer is tried with those before it that worked."""

    def __init__(self, root: bool, shown: tuple[Path, ...]) -> None:
        self.holds: dict[Layer, str] = {}
        self._root = root
        self._shown = shown

    def attempt(self, layer: Layer) -> str:
        """ "" when it worked, else why not."""
        if layer is Layer.AUDIT and Layer.SECCOMP not in self.holds:
            return "no system call filter"
        attempts: Mapping[Layer, Callable[[], None]] = {
            Layer.USER: lambda: None,
            Layer.MOUNTS: self._mounts,
            Layer.PROC: self._proc,
            Layer.PROCESSES: self._processes,
            Layer.UID: self._uid,
            Layer.CAPABILITIES: self._capabilities,
            Layer.LANDLOCK: self._landlock,
            Layer.SECCOMP: self._seccomp,
            Layer.AUDIT: self._audit,
        }

        def prepared() -> None:
            if not self._root and (layer is Layer.USER or Layer.USER in self.holds):
                view.enter_user_namespace()
            attempts.get(layer, lambda: view.enter_namespaces({layer}))()

        return calls.in_child(prepared)

    def _mounts(self) -> None:
        view.enter_namespaces({Layer.MOUNTS})
        owner = (os.getuid(), os.getgid())
        view.build_view(self._shown, owner, fresh_proc=False, shared=False)
        # The interpreter must be there, and what is not listed must not.
        Path(os.__file__).stat()
        if os.path.exists("/etc/hostname") or os.path.exists("/home"):
            raise OSError(errno.EEXIST, "the old root can still be seen")

    def _proc(self) -> None:
        def mount() -> None:
            view.enter_namespaces({Layer.MOUNTS})
            calls.mount("", "/", flags=calls.MS_REC | calls.MS_PRIVATE)
            view.mount_proc("/proc", fresh=True)

        view.enter_process_namespace()
        _raise(calls.in_child(mount))

    def _processes(self) -> None:
        def is_first() -> None:
            if os.getpid() != 1:
                raise OSError(errno.EPERM, "not the first process of its namespace")

        view.enter_process_namespace()
        _raise(calls.in_child(is_first))

    def _uid(self) -> None:
        lease = identity.lease_uid()
        identity.become(lease.uid)
        if Layer.MOUNTS not in self.holds:
            # Without a view of its own it gets to Python by the host's folders.
            with open(os.__file__, "rb"):
                pass

    def _capabilities(self) -> None:
        identity.no_new_privileges()
        if self._root or Layer.USER in self.holds:
            calls.drop_bounding_set()
        calls.drop_capabilities()
        _raise("; ".join(identity.unlocked_threads(uid=None, filtered=False)))

    def _landlock(self) -> None:
        identity.no_new_privileges()
        landlock.restrict([Path("/usr")], [], [])
        try:
            os.listdir("/")
        except PermissionError:
            return
        raise OSError(errno.EINVAL, "it does not restrict")

    def _seccomp(self) -> None:
        self._filter(notify=False)
        try:
            socket.socket().close()
        except PermissionError:
            return
        raise OSError(errno.EINVAL, "it does not filter")

    def _filter(self, *, notify: bool) -> int | None:
        identity.no_new_privileges()
        allowed = filters.Permissions(
            programs=False, on_gpu=False, shares_uid=True, notify=notify, changes_files=False
        )
        return seccomp.install(filters.program(allowed), listen=notify)

    def _audit(self) -> None:
        """A call of another process is seen with its path, answered, and goes on."""
        ours, theirs = socket.socketpair()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if Layer.UID in self.holds:
                    identity.become(identity.lease_uid().uid)
                listener = self._filter(notify=True)
                if listener is not None:
                    socket.send_fds(theirs, [b"listener"], [listener])
                os.open(NOT_THERE, os.O_RDONLY)
            except FileNotFoundError:
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        _, fds, _, _ = socket.recv_fds(ours, 16, 1)
        if not fds:
            raise OSError(errno.ENOSYS, "no listener")
        try:
            _answer_one(fds[0])
        finally:
            os.close(fds[0])
        _, status = os.waitpid(child, 0)
        if status:
            raise OSError(errno.EPERM, "a call that was let pass did not come back")


def _answer_one(listener: int) -> None:
    while select.select([listener], [], [], ANSWER_S)[0]:
        if waiting := seccomp.receive(listener):
            at = filters.PATHS["openat"][0]
            path = seccomp.text_at(waiting.pid, waiting.arguments[at])
            seccomp.let_pass(listener, waiting)
            if path == NOT_THERE:
                return
    raise OSError(errno.ETIMEDOUT, "no call was seen")


def _raise(said: str) -> None:
    if said:
        raise OSError(errno.EPERM, said)
