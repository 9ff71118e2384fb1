"""A user id that no other live runner has, and the end of all privileges."""

from __future__ import annotations

import os
import random
import socket
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.sandbox.linux import calls

# "kopt" users: far above what systems hand out. Where a container maps 65,536 ids only, the block
# that systemd lists as unused by anybody.
HIGH_BLOCK = range(0x6B6F0000, 0x6B6F0000 + 4096)
LOW_BLOCK = range(60578, 61184)


@dataclass(frozen=True, slots=True)
class Lease:
    """A user id, ours while `held` is open."""

    uid: int
    held: socket.socket

    def end(self) -> None:
        self.held.close()


def lease_uid() -> Lease:
    """Take a free id at random, so that its number does not tell which ids were used before.

    Raises OSError when this user namespace has none. The lease is an abstract socket: the kernel
    gives the name to one process only, and takes it back when that process ends, however it ends.
    """
    block = _block()
    for uid in random.SystemRandom().sample(block, len(block)):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            held.bind(f"\0kopt-runner-{uid}")
        except OSError:
            held.close()
            continue
        return Lease(uid, held)
    raise OSError("no user id is free for a runner")


def _block() -> range:
    mapped = [tuple(map(int, line.split())) for line in _lines("/proc/self/uid_map")]
    for block in (HIGH_BLOCK, LOW_BLOCK):
        if any(inside <= block[0] and block[-1] < inside + count for inside, _, count in mapped):
            return block
    raise OSError("too few user ids are mapped into this container")


def become(uid: int) -> None:
    """Change to user and group `uid` in all threads. Raises OSError.

    libc does it in every thread that it knows of; `unlocked_threads` looks whether that were all.
    The kernel takes all capabilities from a thread that leaves user 0 behind.
    """
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def no_new_privileges() -> None:
    """No program started from here gains rights by its owner or its file capabilities."""
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)


def unlocked_threads(*, uid: int | None, filtered: bool) -> list[str]:
    """What any thread of this process still has that it should not; empty when locked.

    A driver may have started threads before the lock, and a candidate can make them run its code
    (a signal, an overwritten stack, a patched library function). So each one is looked at.
    """
    found = []
    for task in Path("/proc/self/task").iterdir():
        fields = dict(line.split(":\t", 1) for line in _lines(task / "status") if ":\t" in line)
        if any(int(fields[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")):
            found.append(f"thread {task.name} has capabilities")
        if uid is not None and {*fields["Uid"].split(), *fields["Gid"].split()} != {str(uid)}:
            found.append(f"thread {task.name} has another user id")
        if uid is not None and fields["Groups"].strip():
            found.append(f"thread {task.name} has groups")
        if filtered and (fields["Seccomp"], fields["NoNewPrivs"]) != ("2", "1"):
            found.append(f"thread {task.name} has no system call filter")
    return found


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _lines(path: str | Path) -> list[str]:
    return Path(path).read_text().splitlines()
