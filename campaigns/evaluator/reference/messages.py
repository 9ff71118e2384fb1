"""What judge and reference say to each other: one line of JSON each, with a file at times.

The reference is hostile once it has loaded `ref.py`. What it says is read strictly, and never
believed to be more than an answer: sizes, dtypes and places are checked before memory is looked at.
"""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, ValidationError, convert, field, to_builtins

from campaigns.evaluator.contract.layout import ALIGN, ITEM_BYTES

# Of the process, among those of an evaluation.
NAME = "reference"
LIMIT = 1 << 17
WORDS = 2000


class ReferenceAsk(StrEnum):
    """What the judge may ask."""

    LOAD = "load"
    MEMORY = "memory"  # from now on tensors lie in the memory that comes with this
    EXAMPLES = "examples"  # call setup
    PLACE = "place"  # write the last examples, for which there was too little memory
    ANSWERS = "answers"  # call reference, in place
    ALLOWS = "allows"  # call valid


class Sent(Struct, frozen=True, forbid_unknown_fields=True):
    """One argument: a number, or a tensor of `rows` rows from `offset` on in the shared memory."""

    name: str
    value: int | float | bool | None = None
    dtype: str = ""
    shape: tuple[int, ...] = ()
    offset: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of one row."""
        return math.prod(self.shape) * ITEM_BYTES[self.dtype] if self.dtype else 0


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """verb: a `ReferenceAsk`, about `args` or about the call of `setup` of the last four fields."""

    verb: str
    args: tuple[Sent, ...] = ()
    rows: int = 1
    size: int = 0
    case: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    marked: bool = False


class ReferenceAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """refused: what is wrong with the problem. lacked: what the host had too little of.

    rows: of each tensor of `args`. size: how many bytes of shared memory examples take; placed:
    whether they lie there.
    """

    refused: str = ""
    lacked: str = ""
    line: str = ""
    has_valid: bool = False
    allowed: bool = False
    args: tuple[Sent, ...] = ()
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows: int = 1
    size: int = 0
    placed: bool = False


class Nonsense(Exception):
    """The reference said what this protocol does not have."""


def send(sock: socket.socket, said: Request | ReferenceAnswer, fds: Iterable[int] = ()) -> None:
    """Raises OSError, and Nonsense for one that is too long."""
    data = json.dumps(to_builtins(said)).encode()
    if len(data) > LIMIT:
        raise Nonsense(f"{len(data)} bytes of names and numbers; {LIMIT} are accepted")
    socket.send_fds(sock, [data], list(fds))


def request(data: bytes) -> Request:
    """What the judge has sent."""
    return convert(json.loads(data), Request)


def answer(data: bytes, most: int) -> ReferenceAnswer:
    """What a reference has sent, checked. most: the bytes of the shared memory. Raises Nonsense."""
    try:
        found = convert(json.loads(data), ReferenceAnswer)
    except (ValidationError, ValueError, RecursionError) as error:
        raise Nonsense(f"{error}"[:WORDS]) from None
    names = [one.name for one in found.args]
    if len({*names}) < len(names) or not {*found.outputs} <= {*names}:
        raise Nonsense("names that do not fit together")
    if found.rows < 1:
        raise Nonsense(f"{found.rows} rows")
    for one in found.args:
        if not one.dtype:
            if one.value is None:
                raise Nonsense(f"{one.value!r} is no number")
            continue
        if one.dtype not in ITEM_BYTES or min(one.shape, default=1) < 1:
            raise Nonsense(f"{one.dtype!r:.40}{one.shape!r:.80} is no tensor")
        if one.offset < 0 or one.offset % ALIGN:
            raise Nonsense(f"{one.dtype!r:.40}{one.shape!r:.80} lies at {one.offset}")
        # One that is not placed lies nowhere yet.
        if found.placed and one.offset + found.rows * one.nbytes > most:
            raise Nonsense("a tensor that ends behind the shared memory")
    return found


def placed(
    tensors: Iterable[tuple[str, str, tuple[int, ...]]], rows: int = 1
) -> tuple[dict[str, Sent], int]:
    """Places for tensors (name, dtype, shape of a row), and how many bytes they take in all."""
    found, at = {}, 0
    for name, dtype, shape in tensors:
        found[name] = Sent(name, dtype=dtype, shape=shape, offset=at)
        at = -(-(at + rows * found[name].nbytes) // ALIGN) * ALIGN
    return found, at
