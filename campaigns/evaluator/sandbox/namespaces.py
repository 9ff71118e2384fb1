"""New namespaces for a runner, entered while it has one thread and no device."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path

from campaigns.evaluator.sandbox import calls
from campaigns.evaluator.sandbox.layers import Layer

HOST_NAME = "runner"
FLAGS = {
    Layer.NETWORK: calls.CLONE_NEWNET,
    Layer.MOUNTS: calls.CLONE_NEWNS,
    Layer.HOSTNAME: calls.CLONE_NEWUTS,
    Layer.IPC: calls.CLONE_NEWIPC,
}


def enter_user_namespace() -> None:
    """A user namespace in which an ordinary user may make the others. Raises OSError.

    The user keeps its own id in it, so that drivers see the owner of a GPU allocation as such.
    """
    uid, gid = os.getuid(), os.getgid()
    calls.unshare(calls.CLONE_NEWUSER)
    # The kernel takes no group map from an ordinary user while setgroups is allowed.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def enter_process_namespace() -> None:
    """The next child is the first process of a PID namespace; all in it end with that child."""
    calls.unshare(calls.CLONE_NEWPID)


def enter(layers: Container[Layer]) -> None:
    """Network without an interface, own mounts, host name and System V objects, as planned."""
    flags = 0
    for layer, flag in FLAGS.items():
        if layer in layers:
            flags |= flag
    if flags:
        calls.unshare(flags)
    if Layer.HOSTNAME in layers:
        calls.set_host_name(HOST_NAME)
