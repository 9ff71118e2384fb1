"""Messages between judge and runner: fixed size, checked, nothing else is read.

The runner is hostile once it has loaded its candidate. So from it the judge accepts only these
48 bytes: a magic word, a kind, the sequence number of the question, and three numbers, together
with the sender's process id, which the kernel writes. What the judge sends is trusted by the
runner's bootstrap and may carry a body (layouts, memory handles).
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

MAGIC = 0x6B6F7074
REPLY = struct.Struct("<IIqqdd8x")
CREDENTIALS = struct.Struct("=iII")
BODY_LIMIT = 1 << 20
MOST_FILES = 4  # that go with one question


class Ask(IntEnum):
    """What the judge may ask."""

    ATTACH = 1  # open the arena, lock down
    BUILD = 2  # compile
    LOAD = 3  # the candidate's first byte runs here; only after SEAL
    CASE = 4  # lay the slots out
    CALL = 5  # one synchronous call on one slot
    PREPARE = 6  # get ready for bursts of n calls, call by call if so asked
    BURST = 7  # wait for go, make n calls, synchronise, say done
    PROFILE = 8  # device time per call, as the driver's tracer sees it
    STOP = 9
    LAUNCH = 10  # one part (0 to 3) of how a call's longest kernel was launched
    KERNEL = 11  # what the last profile saw of the kernel of that name, "" for everything
    SANITIZE = 12  # build and run it under sanitizers on slot 0; nothing is loaded
    SEAL = 13  # close the lock: the last thing that code of ours alone does and answers
    ORDER = 14  # the slots of the next burst's calls, in turn
    STAY = 15  # before LOAD: how long (ms) the device works in bursts of no calls from now on
    READ_CODE = 16  # build it and read its machine code; nothing is loaded
    KEEP = 17  # keep the case as it is laid out and prepared, under a number
    TURN = 18  # back to the case of that number
    BUILD_VARIANT = 19  # compile one of many into memory files; nothing is loaded
    TAKE_VARIANT = 20  # load one of many from memory files, in place of the one before
    COPIED = 21  # into which outputs a call copies an answer that it has already: bits in order
    CALL_APART = 22  # a call as CALL, where nothing is before it or behind it on the device
    COUNT = 23  # build it and run it under a profiler on slot 0; nothing is loaded


class ReplyStatus(IntEnum):
    """What the runner may answer."""

    OK = 1
    BUILD_FAILED = 2
    LOAD_FAILED = 3
    CALL_FAILED = 4
    UNSUPPORTED = 5
    NOT_JUDGED = 6  # where candidates are interpreted: the interpreter or no GPU is at fault
    UNORDERED = 7  # a call left work on a stream that its own stream does not wait for


class WireError(Exception):
    """The other side sent what this protocol does not have."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A runner's answer. a: a small integer; x, y: once it has loaded they inform, never judge."""

    answer: ReplyStatus
    sequence: int
    a: int
    x: float
    y: float


def send_ask(sock: socket.socket, ask: Ask, sequence: int, body: Any, fds: list[int]) -> None:
    data = pickle.dumps((int(ask), sequence, body))
    if len(data) > BODY_LIMIT:
        raise WireError(f"a question of {len(data)} bytes; at most {BODY_LIMIT}")
    socket.send_fds(sock, [data], fds)


def receive_ask(sock: socket.socket) -> tuple[Ask, int, Any, list[int]] | None:
    """The judge's next question with its file descriptors; None when the judge has gone."""
    try:
        data, fds, _, _ = socket.recv_fds(sock, BODY_LIMIT, MOST_FILES)
    except ConnectionError:  # it has left an answer unread
        return None
    if not data:
        return None
    # Only the judge writes to this socket, and it is ours: its pickles are trusted.
    ask, sequence, body = pickle.loads(data)
    return Ask(ask), sequence, body, fds


def send_reply(sock: socket.socket, reply: Reply) -> None:
    """Answer the judge. Where it has gone nobody reads it, and `receive_ask` says so next."""
    with contextlib.suppress(ConnectionError):
        sock.send(REPLY.pack(MAGIC, int(reply.answer), reply.sequence, reply.a, reply.x, reply.y))


def name_senders(sock: socket.socket) -> None:
    """Have the kernel write its sender's process id beside every message read from `sock`."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


def receive_reply(sock: socket.socket, sequence: int) -> tuple[Reply, int] | None:
    """The answer to question `sequence` and its sender's process id; None when it has gone.

    The id is 0 on a socket that does not name senders. Raises WireError for anything but one
    well-formed answer, TimeoutError when the socket's deadline passes.
    """
    space = socket.CMSG_SPACE(CREDENTIALS.size)
    try:
        data, extra, _, _ = sock.recvmsg(REPLY.size + 1, space)
    except ConnectionError:  # it has left the question unread
        return None
    if not data:
        return None
    if len(data) != REPLY.size:
        raise WireError(f"an answer of {len(data)} bytes; {REPLY.size} are accepted")
    magic, kind, echoed, a, x, y = REPLY.unpack(data)
    if magic != MAGIC or echoed != sequence or kind not in set(ReplyStatus):
        raise WireError(f"an answer out of turn (kind {kind}, sequence {echoed} for {sequence})")
    return Reply(ReplyStatus(kind), echoed, a, x, y), sender(extra)


def sender(extra: list[tuple[int, int, bytes]]) -> int:
    """The process id that the kernel has written beside a message; 0 where it names none."""
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return int(CREDENTIALS.unpack_from(data)[0])
    return 0
