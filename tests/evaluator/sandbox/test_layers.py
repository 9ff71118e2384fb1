"""Each layer on its own, so that one that others cover for is still known to work."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from campaigns.evaluator.sandbox import identity, landlock, limits, view, warden
from campaigns.evaluator.sandbox.layers import Layer, SandboxPlan
from campaigns.evaluator.sandbox.linux import calls, filters, numbers, seccomp
from campaigns.evaluator.sandbox.lock import RunnerBox
from campaigns.evaluator.sandbox.processes import fork, wait_status

ROOT = os.getuid() == 0
QUIET = filters.Permissions(
    programs=False, on_gpu=False, shares_uid=True, notify=False, changes_files=True
)


def need(plan: SandboxPlan, *layers: Layer) -> None:
    for layer in layers:
        if layer not in plan.holds:
            pytest.skip(f"this host has no {layer}: {plan.lacks.get(layer)}")


def error_of(act: Callable[[], object]) -> str:
    """The name of the error that `act` ends with; "" when it works."""
    try:
        act()
    except OSError as error:
        return type(error).__name__ if error.errno is None else os.strerror(error.errno)
    return ""


def inside(prepare: Callable[[], object], act: Callable[[], object]) -> str:
    """What `act` says in a forked child after `prepare`."""

    def attempt() -> None:
        prepare()
        raise ValueError(f"<{error_of(act)}>")

    said = calls.in_child(attempt)
    assert "<" in said, said
    return said.partition("<")[2].rpartition(">")[0]


def enter(*layers: Layer) -> None:
    if not ROOT:
        view.enter_user_namespace()
    view.enter_namespaces(layers)


def locked(program: bytes) -> None:
    identity.no_new_privileges()
    seccomp.install(program, listen=False)


def test_the_network_namespace_reaches_no_server(plan):
    need(plan, Layer.NETWORK)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0kopt-test-{os.getpid()}")
        named.listen()
        ask = partial(socket.create_connection, server.getsockname(), 2)
        assert error_of(lambda: ask().close()) == ""
        assert inside(partial(enter, Layer.NETWORK), ask) == "Network is unreachable"

        def ask_by_name() -> None:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(named.getsockname())

        assert error_of(ask_by_name) == ""
        assert inside(partial(enter, Layer.NETWORK), ask_by_name) == "Connection refused"
        beyond = partial(socket.create_connection, ("1.1.1.1", 53), 2)
        assert inside(partial(enter, Layer.NETWORK), beyond) == "Network is unreachable"


def test_landlock_keeps_to_its_paths_and_from_signals(plan, tmp_path):
    need(plan, Layer.LANDLOCK)

    def restrict() -> None:
        identity.no_new_privileges()
        landlock.restrict([Path("/usr")], [], [tmp_path])

    assert inside(restrict, lambda: os.listdir("/usr")) == ""
    assert inside(restrict, lambda: (tmp_path / "own").write_text("x")) == ""
    assert inside(restrict, lambda: os.listdir("/etc")) == "Permission denied"
    beside = tmp_path.parent / "beside"
    assert inside(restrict, lambda: beside.write_text("x")) == "Permission denied"
    if landlock.version() >= 6:
        parent = os.getpid()
        assert inside(restrict, lambda: os.kill(parent, 0)) == "Operation not permitted"


def test_the_filter_binds_threads_that_were_there_before(plan):
    need(plan, Layer.SECCOMP)
    go, said = threading.Event(), []

    def early() -> None:
        go.wait()
        said.append(error_of(lambda: socket.socket().close()))

    def act() -> None:
        locked(filters.program(QUIET))
        go.set()
        thread.join()
        raise OSError(None, said[0])

    def attempt() -> None:
        nonlocal thread
        thread = threading.Thread(target=early)
        thread.start()
        act()

    thread = threading.Thread()
    assert "Operation not permitted" in calls.in_child(attempt)


def allowing(**permissions: bool) -> Callable[[], None]:
    """A filter that differs from QUIET in these permissions."""
    return lambda: locked(filters.program(replace(QUIET, **permissions)))


@pytest.mark.parametrize("programs", [False, True])
def test_the_filter_keeps_the_limits_of_others(plan, programs):
    need(plan, Layer.SECCOMP)
    parent, kind = os.getpid(), resource.RLIMIT_NOFILE
    same = resource.getrlimit(kind)
    limit = partial(resource.prlimit, parent, kind, same)
    assert error_of(limit) == ""
    assert inside(allowing(programs=programs), limit) == "Operation not permitted"
    own = inside(allowing(programs=programs), lambda: resource.prlimit(0, kind, same))
    assert own == ("" if programs else "Operation not permitted")
    assert inside(allowing(programs=programs), lambda: resource.getrlimit(kind)) == ""


def test_the_filter_keeps_files_as_they_are_where_no_view_hides_them(plan, tmp_path):
    need(plan, Layer.SECCOMP)
    file = tmp_path / "file"
    file.write_text("x" * 64)
    acts = {
        "chmod": lambda: file.chmod(0o600),
        "truncate": lambda: os.truncate(file, 1),
        "cut": lambda: os.open(file, os.O_RDONLY | os.O_TRUNC),
        "utime": lambda: os.utime(file),
    }
    for name, act in acts.items():
        kept = inside(allowing(changes_files=False), act)
        assert (name, kept) == (name, "Operation not permitted")
    assert file.stat().st_size == 64
    assert inside(allowing(changes_files=False), lambda: file.write_text("y")) == ""
    assert file.read_text() == "y"
    for name, act in acts.items():
        assert (name, inside(allowing(changes_files=True), act)) == (name, "")


def test_the_filter_tells_words_apart_by_a_mask(plan):
    """A request of another kind that shares bits with a refused one goes through."""
    need(plan, Layer.SECCOMP)
    refused, other = 0x8912, 0x5412 ^ 0x8000_0000
    with open("/dev/null", "rb") as null:
        ask = lambda request: lambda: fcntl.ioctl(null, request)  # noqa: E731
        assert inside(allowing(), ask(refused)) == "Operation not permitted"
        assert inside(allowing(), ask(other)) == "Inappropriate ioctl for device"
        assert inside(allowing(), lambda: fcntl.fcntl(null, 15, b"")) == "Operation not permitted"
        assert inside(allowing(), lambda: fcntl.fcntl(null, fcntl.F_GETFD)) == ""


@pytest.mark.skipif(not ROOT, reason="only root has privileges to lose")
def test_a_change_of_user_is_one_of_all_threads(plan):
    need(plan, Layer.UID, Layer.CAPABILITIES)

    def attempt() -> None:
        stop = threading.Event()
        threading.Thread(target=stop.wait, daemon=True).start()
        before = len(identity.unlocked_threads(uid=None, filtered=False))
        identity.become(identity.lease_uid().uid)
        after = identity.unlocked_threads(uid=os.getuid(), filtered=False)
        raise ValueError(f"{before} {after}")

    assert calls.in_child(attempt).endswith("2 []")


@pytest.mark.skipif(not ROOT, reason="only root has privileges to lose")
def test_it_sees_a_thread_that_kept_its_privileges():
    def attempt() -> None:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        calls.drop_capabilities()
        raise ValueError(identity.unlocked_threads(uid=None, filtered=False))

    assert "has capabilities" in calls.in_child(attempt)


def test_it_knows_this_architectures_numbers():
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists() or os.uname().machine != "x86_64":
        pytest.skip("no header to compare with")
    lines = (line.split() for line in header.read_text().splitlines())
    known = {f[1].removeprefix("__NR_"): int(f[2]) for f in lines if f[:1] == ["#define"] and f[2:]}
    ours = {name: pair[0] for name, pair in numbers.SYSTEM_CALLS.items() if name in known}
    assert len(ours) > 140
    assert ours == {name: known[name] for name in ours}


@pytest.mark.parametrize("without", [(), (Layer.PROCESSES, Layer.PROC)])
def test_it_leaves_no_process_that_left_its_group(plan, without):
    """Also without a PID namespace, where the warden has to find them itself."""
    need(plan, *without)
    plan = replace(plan, holds={k: v for k, v in plan.holds.items() if k not in without})
    read_end, write_end = os.pipe()

    def hide(box: RunnerBox) -> int:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
            os._exit(0)
        return 7

    record = watched(plan, hide, write_end)
    # Whoever lives on holds the other end of the pipe.
    os.set_blocking(read_end, False)
    assert os.read(read_end, 1) == b""
    assert record["status"] == 7 << 8
    os.close(read_end)


def watched(plan: SandboxPlan, body: Callable[[RunnerBox], int], *kept: int) -> dict[str, Any]:
    """The record of a warden whose runner is `body`; `kept` is closed here."""
    lease = identity.lease_uid() if Layer.UID in plan.holds else None
    record = os.memfd_create("record")
    build_log = os.memfd_create("build-log")
    ends = warden.Ends(record, build_log, kept)
    watch = partial(warden.watch, plan, lease and lease.uid, ends, body)
    child = fork(watch, 2, (record, build_log, *kept))
    for fd in kept:
        os.close(fd)
    assert wait_status(child, 20) == 0
    said = os.pread(record, 1 << 20, 0)
    for fd in (record, build_log):
        os.close(fd)
    if lease is not None:
        lease.end()
    found: dict[str, Any] = json.loads(said)
    return found


def test_it_counts_the_memory_of_processes_that_lost_their_parent(plan, monkeypatch):
    """Where no control group does, and no PID namespace keeps them together."""
    taken = 256 << 20
    nothing = limits.Groups((), False, False)
    monkeypatch.setattr(limits, "make_groups", lambda memory_bytes: nothing)
    own = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def hide(box: RunnerBox) -> int:
        if os.fork() == 0:
            if os.fork() == 0:
                held = b"x" * (own + 3 * taken)
                time.sleep(1000 + len(held))
            os._exit(0)
        time.sleep(15)
        return 0

    holds = {k: v for k, v in plan.holds.items() if k not in (Layer.PROCESSES, Layer.PROC)}
    # The runner itself is a copy of this process.
    plan = replace(plan, holds=holds, memory_bytes=2 * own + taken)
    assert "over its memory limit" in watched(plan, hide)["memory"]
