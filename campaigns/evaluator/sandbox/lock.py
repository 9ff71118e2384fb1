"""The lock of one runner (R60), closed in three steps; none of them can be opened again.

    enter      single-threaded, before the device starts: namespaces, view, bounding set
    lock_down  the device runs and the judge's memory is open: environment, limits, user, Landlock
    seal       the candidate is built, its first byte has not run: the system call filter

The order is forced. A GPU allocation cannot be opened by another user, nor CUDA be started under
Landlock; a namespace cannot be entered by a process with threads, and a driver starts some.
So what binds *all* threads has to carry the guarantee by itself: the namespaces and the view, which
every later thread inherits, the user id, which libc changes in all threads, and the filter, which
the kernel puts on all threads. Landlock binds the main thread and what it starts; it comes on top.
Whatever fails here raises, and then nothing of the candidate's is loaded.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.sandbox import identity, landlock, limits, places, view
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.linux import calls, filters, seccomp
from campaigns.evaluator.sandbox.processes import die_with_parent

KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "LANG"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
)


class NotLocked(Exception):
    """A layer that this host has could not be closed; nothing may be loaded."""


@dataclass(frozen=True, slots=True)
class RunnerBox:
    """One runner's place. control: the socket on which the warden is told what holds.

    uid: the user it becomes; None where it keeps its own. build_log: a memory file of the
    supervisor's. memory_is_bounded: by a control group, for all its processes together.
    opens_shared: whether the judge's memory is opened by CUDA's interprocess calls.
    """

    plan: SandboxPlan
    uid: int | None
    scratch: Path
    control: int
    build_log: int
    memory_is_bounded: bool
    opens_shared: bool = True

    @property
    def owner(self) -> tuple[int, int]:
        return (os.getuid(), os.getgid()) if self.uid is None else (self.uid, self.uid)

    @property
    def covers_shared(self) -> bool:
        """Whether /dev/shm is the host's until the judge's memory on a GPU is open."""
        return self.opens_shared and self.plan.kind == "cuda" and Layer.MOUNTS in self.plan.holds

    @property
    def writable(self) -> tuple[Path, ...]:
        if Layer.MOUNTS in self.plan.holds:
            return Path(view.TEMPORARY), Path(view.SHARED)
        return (self.scratch,)


def enter(box: RunnerBox) -> None:
    """The first step. Raises OSError."""
    holds = box.plan.holds
    view.enter_namespaces(holds)
    if Layer.MOUNTS in holds:
        paths = (*box.plan.readable, *box.plan.devices)
        fresh = Layer.PROC in holds
        view.build_view(paths, box.owner, fresh_proc=fresh, shared=box.covers_shared)
    if Layer.CAPABILITIES in holds and (box.plan.root or Layer.USER in holds):
        # An ordinary user without a namespace may not, and has no_new_privs in its place.
        calls.drop_bounding_set()
    if box.uid is None:
        # Nobody to become later: what is left of privileges ends before there are other threads.
        calls.drop_capabilities()


class Lock:
    """The second and third step, in the runner itself."""

    def __init__(self, box: RunnerBox, total_s: float, *, watched: bool = False) -> None:
        """watched: the candidate runs only in programs of its own, under a tool that watches."""
        self._box = box
        self._total_s = total_s
        self._is_watched = watched
        self._holds = dict(box.plan.holds)
        if watched and box.plan.kind == "cuda":
            # CUDA is started anew in each of those programs, which it cannot be under Landlock.
            self._holds.pop(Layer.LANDLOCK, None)
        for layer in (Layer.SECCOMP, Layer.AUDIT):
            self._holds.pop(layer, None)

    @property
    def no_watching(self) -> str:
        return self._box.plan.no_watching

    @property
    def files(self) -> tuple[int, ...]:
        """What a process needs open in which `seal` is called."""
        return (self._box.control, self._box.build_log)

    def lock_down(self) -> None:
        """The second step; told to the warden. Raises NotLocked."""
        box = self._box
        _clean_environment(box.scratch)
        try:
            if box.covers_shared:
                view.cover_shared()
            in_namespace = Layer.USER in box.plan.holds and limits.counts_are_per_namespace()
            free = box.plan.kind == "cuda" or box.memory_is_bounded or self._is_watched
            limits.limit_runner(
                self._total_s,
                box.plan.kind,
                own_count=box.uid is not None or in_namespace,
                address_bytes=None if free else box.plan.memory_bytes,
            )
            if box.uid is not None:
                parent = os.getppid()
                identity.become(box.uid)
                die_with_parent(parent)
            # Its memory may hold what is not for code that runs as the same user.
            calls.prctl(calls.PR_SET_DUMPABLE, 0)
            # What Landlock and filters need as well; Linux has had it since 3.5.
            identity.no_new_privileges()
            if Layer.LANDLOCK in self._holds:
                self._holds[Layer.LANDLOCK] = self._restrict()
        except OSError as error:
            raise NotLocked(f"sandbox: {error.filename or 'a limit'}: {error.strerror}") from error
        self._look_at_threads(filtered=False)
        os.chdir(box.scratch)
        self._tell({"holds": self._holds})

    def _restrict(self, *, writes: bool = True) -> str:
        box = self._box
        # In a view of its own these hold what was put there; else the host's accounts and devices.
        viewed = ("/etc", "/dev") if Layer.MOUNTS in self._holds else places.ACCOUNTS
        readable = (*box.plan.readable, *map(Path, ("/proc", *viewed)), *box.writable)
        version = landlock.restrict(readable, box.plan.devices, box.writable if writes else ())
        others = identity.threads() - 1
        return f"{version} (not {others} threads of the driver)" if others else str(version)

    def seal(self, *, programs: bool) -> None:
        """The third step. Raises NotLocked.

        programs: whether what runs now may start compilers.
        """
        box, holds = self._box, self._holds
        on_disk = Layer.MOUNTS not in holds and Layer.LANDLOCK in holds
        if not programs and on_disk and box.plan.kind != "cuda":
            # Its scratch folder lies on a disk of the host, where nothing bounds the number of
            # files. On a GPU the driver's tracer has to write there.
            self._restrict(writes=False)
        if Layer.SECCOMP in box.plan.holds:
            notify = Layer.AUDIT in box.plan.holds
            listener = self._filter(programs=programs, notify=notify)
            told = {layer: "" for layer in (Layer.SECCOMP, Layer.AUDIT) if layer in box.plan.holds}
            self._tell({"holds": told}, listener)
            if listener is not None:
                os.close(listener)
            self._look_at_threads(filtered=True)
        os.close(box.control)
        os.close(box.build_log)
        if box.uid is None:
            # For the warden, the only other process of this user and namespace.
            calls.prctl(calls.PR_SET_DUMPABLE, 1)

    def compiler(self, seconds: float) -> Callable[[], None]:
        """What a compiler's process runs before it becomes the compiler: the same lock, but with
        programs, and refused calls that are not counted.
        """
        box = self._box

        def lock() -> None:
            if Layer.SECCOMP in box.plan.holds:
                self._filter(programs=True, compiles=True)
            # Last: this process, a copy of the runner, has more mapped than a compiler may have.
            limits.limit_compiler(seconds, box.plan.memory_bytes)

        return lock

    def watched(self, seconds: float, *, opens_events: bool = False) -> Callable[[], None]:
        """What the process of a program with a sanitizer in it runs before it becomes that.

        As for a compiler, but its shadow memory takes terabytes of addresses at fixed places. On a
        GPU there is no filter: compute-sanitizer traces processes and talks through sockets.
        opens_events: it is a profiler of the CPU, which counts. Raises NotLocked where other layers
        are not there to hold it.
        """
        box = self._box
        if box.plan.no_watching:
            raise NotLocked(box.plan.no_watching)

        def lock() -> None:
            if box.plan.kind != "cuda":
                calls.keep_addresses_fixed()
                if Layer.SECCOMP in box.plan.holds:
                    self._filter(programs=True, opens_events=opens_events)
            limits.limit_watched(seconds)

        return lock

    def _filter(
        self,
        *,
        programs: bool,
        notify: bool = False,
        compiles: bool = False,
        opens_events: bool = False,
    ) -> int | None:
        holds = self._box.plan.holds
        allowed = filters.Permissions(
            programs=programs,
            on_gpu=self._box.plan.kind == "cuda",
            shares_uid=not {Layer.UID, Layer.PROCESSES} & {*holds},
            notify=notify,
            changes_files=compiles or Layer.MOUNTS in holds,
            opens_events=opens_events,
        )
        try:
            return seccomp.install(filters.program(allowed), listen=notify)
        except OSError as error:
            raise NotLocked(f"sandbox: seccomp: {error.strerror}") from error

    def _look_at_threads(self, *, filtered: bool) -> None:
        looked_at = Layer.CAPABILITIES in self._holds
        found = looked_at and identity.unlocked_threads(uid=self._box.uid, filtered=filtered)
        if found:
            raise NotLocked(f"sandbox: {found[0]}")

    def _tell(self, message: Mapping[str, object], listener: int | None = None) -> None:
        fds = [listener] if listener is not None else []
        with socket.socket(fileno=os.dup(self._box.control)) as control:
            socket.send_fds(control, [json.dumps(message).encode()], fds)


def _clean_environment(scratch: Path) -> None:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    home = str(scratch)
    own = {"HOME": home, "TMPDIR": home, "TRITON_CACHE_DIR": f"{home}/triton-cache"}
    # torch asks for the user's name, which a fresh user id does not have.
    os.environ.update(kept | own | {"USER": "runner", "LOGNAME": "runner"})
    # Remembered from before, when this was another folder.
    tempfile.tempdir = None
    # It may not look there, and an import that did would be counted as an attempt of the candidate.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != places.ROOT]
