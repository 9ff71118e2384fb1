"""The layers of the sandbox: what each one keeps away, what its absence costs, how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Layer(StrEnum):
    """One means of keeping a candidate to itself; the value is its name in a report."""

    USER = "user namespace"
    NETWORK = "network"
    MOUNTS = "mounts"
    PROC = "proc"
    HOSTNAME = "hostname"
    IPC = "ipc"
    PROCESSES = "processes"
    UID = "uid"
    CAPABILITIES = "capabilities"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Words:
    """What lacks without a layer, and how to get it."""

    costs: str
    remedy: str


_NAMESPACES = (
    "run the worker as root with CAP_SYS_ADMIN, or allow user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)"
)
WORDS: Mapping[Layer, Words] = {
    Layer.USER: Words("an ordinary user gets no other namespace either", _NAMESPACES),
    Layer.NETWORK: Words(
        "only seccomp and Landlock keep candidates from the network, and the code of problems that "
        "did not come with kopt is not run",
        _NAMESPACES,
    ),
    Layer.MOUNTS: Words(
        "candidates see the names of folders, read what everybody may read, and may fill a disk; "
        "the code of problems that did not come with kopt is not run",
        f"{_NAMESPACES}; Linux 5.12 or newer",
    ),
    Layer.PROC: Words(
        "candidates can list other processes and their command lines",
        "a container that lets /proc be mounted, or run the worker as root",
    ),
    Layer.HOSTNAME: Words("candidates learn the name of this host", _NAMESPACES),
    Layer.IPC: Words("only seccomp keeps candidates from System V shared memory", _NAMESPACES),
    Layer.PROCESSES: Words("only the user id keeps candidates from other processes", _NAMESPACES),
    Layer.UID: Words(
        "candidates run as the worker's own user, be it root without capabilities",
        "run the worker as root, with Python in a folder that every user may read",
    ),
    Layer.CAPABILITIES: Words("candidates could gain privileges", "a Linux kernel that has prctl"),
    Layer.LANDLOCK: Words(
        "only namespaces and the user id keep candidates from files",
        "Linux 5.13 or newer with lsm=landlock",
    ),
    Layer.SECCOMP: Words(
        "candidates reach every system call of this kernel",
        "a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64",
    ),
    Layer.AUDIT: Words(
        "attempts to break out fail, but are not counted",
        "Linux 5.7 or newer; in a container, CAP_SYS_PTRACE",
    ),
}

# CUDA opens the judge's memory through the host's /dev/shm, which can only be covered afterwards:
# an ordinary user's driver threads would keep what that needs, so mounts are for root there. A PID
# namespace needs a /proc of its own, without which CUDA does not start.
NOT_FOR_CUDA_USER = frozenset({Layer.MOUNTS, Layer.PROC, Layer.PROCESSES})
CUDA_USER = Words(
    "code that gets into a thread of the GPU's driver is not bound by Landlock, and reads, writes "
    "and opens what the worker's user may, its processes as well",
    "run the worker as root",
)
# Without these a problem's own code would see the host's files, or talk to its network. A candidate
# runs where they lack, because the other layers bind a runner that nobody but it can be hurt by.
FOR_FOREIGN_PROBLEMS = (Layer.NETWORK, Layer.MOUNTS)
# On a GPU a sanitizer runs without Landlock and filter, so these have to hold by themselves.
FOR_DEVICE_WATCHING = (Layer.NETWORK, Layer.MOUNTS, Layer.PROCESSES)


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """The layers of one kind of device on this host.

    holds: each layer that was tried and worked, with its detail. lacks: why others are not used.
    readable, devices: files, folders and device nodes that its runners may use.
    memory_bytes: the most that a runner and what it starts may take of the host's memory. card: the
    UUID of the only GPU that CUDA shows; "" for all of them.
    """

    kind: str
    root: bool
    holds: Mapping[Layer, str]
    lacks: Mapping[Layer, str]
    readable: tuple[Path, ...]
    devices: tuple[Path, ...]
    memory_bytes: int
    card: str = ""

    @property
    def missing(self) -> tuple[Layer, ...]:
        """What this host should have and has not."""
        return tuple(layer for layer in wanted(root=self.root) if layer in self.lacks)

    @property
    def no_watching(self) -> str:
        """Why no program with a sanitizer in it may run here; "" where it may."""
        lacking = [layer for layer in FOR_DEVICE_WATCHING if layer not in self.holds]
        if self.kind != "cuda" or not lacking:
            return ""
        return f"on a GPU a sanitizer needs more of the sandbox than there is: {', '.join(lacking)}"


def words(layer: Layer, kind: str, *, root: bool) -> Words:
    """What lacks on this kind of device without a layer, and how to get it."""
    if kind == "cuda" and not root and layer in NOT_FOR_CUDA_USER:
        return CUDA_USER
    return WORDS[layer]


def wanted(*, root: bool) -> tuple[Layer, ...]:
    """The layers that a host should have, in the order in which they are applied.

    Root drops to a user of its own; an ordinary user cannot, and has a user namespace instead.
    """
    not_used = Layer.USER if root else Layer.UID
    return tuple(layer for layer in Layer if layer is not not_used)


def describe(holds: Mapping[Layer, str]) -> str:
    """Name the layers as a report does: "network, mounts, landlock 7"."""
    named = {layer: detail for layer in Layer if (detail := holds.get(layer)) is not None}
    return ", ".join(f"{layer} {detail}".strip() for layer, detail in named.items())
