"""The judge's side of a problem's reference: calls that are made in another process."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from campaigns.evaluator import wire
from campaigns.evaluator.contract import Job
from campaigns.evaluator.contract.errors import BadReference, one_line
from campaigns.evaluator.contract.layout import TensorArg
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold
from campaigns.evaluator.reference import messages
from campaigns.evaluator.reference.memory import new_memory, view
from campaigns.evaluator.reference.messages import (
    LIMIT,
    NAME,
    ReferenceAnswer,
    ReferenceAsk,
    Request,
    Sent,
    placed,
)
from campaigns.evaluator.reference.reference import Draw, Made, Reference, ReferenceCall, is_tensor

# Memory grows by a quarter, or by so much, so that it seldom does: every time the device has to be
# waited for.
LEAST_BYTES, MOST_SPARE = 1 << 20, 256 << 20


class ServedCode:
    """`Functions` of a problem whose code runs in the process behind `sock`.

    That process is stopped whenever the runners are, and never runs while the clock does.
    """

    def __init__(
        self,
        sock: socket.socket,
        folder: str,
        device: torch.device,
        hold: ProcessHold,
        limit_s: float,
    ) -> None:
        """folder: of the problem, for messages. limit_s: for all questions together.

        Raises BadReference where `ref.py` cannot be loaded.
        """
        self.where = f"{folder}/ref.py"
        self._sock, self._device, self._hold = sock, device, hold
        self._deadline, self._limit_s = time.monotonic() + limit_s, limit_s
        self._process = 0
        self._memory = torch.empty(0, dtype=torch.uint8, device=device)
        wire.name_senders(sock)
        loaded = self._ask(Request(ReferenceAsk.LOAD), "loading")
        self.line = one_line(loaded.line) or self.where
        self._has_valid = loaded.has_valid

    def examples(self, draw: Draw) -> Made:
        """See `Functions`; the tensors are the judge's own."""
        what = f"setup({draw.case})"
        asked = Request(
            ReferenceAsk.EXAMPLES,
            case=draw.case,
            params=draw.params,
            seeds=draw.seeds,
            marked=draw.marked,
        )
        made = self._ask(asked, what)
        if not made.placed:
            self._reserve(made.size)
            made = self._ask(Request(ReferenceAsk.PLACE), what)
        if not made.placed or made.rows != len(draw.seeds):
            raise BadReference(f"{self.where}: {what}: its tensors cannot be had")
        inputs = {
            one.name: view(self._memory, one, made.rows).clone() if one.dtype else one.value
            for one in made.args
        }
        return Made(inputs, made.outputs, tuple(map(one_line, made.notes)))

    def answers(self, call: ReferenceCall) -> dict[str, torch.Tensor]:
        """See `Functions`."""
        args = self._write(call)
        self._ask(Request(ReferenceAsk.ANSWERS, args, call.rows), "reference")
        places = {one.name: one for one in args}
        # Copied before anybody looks: what lies in this memory can change at any time.
        return {n: view(self._memory, places[n], call.rows).clone() for n in call.outputs}

    def room(self, tensors: Iterable[TensorArg], rows: int) -> dict[str, torch.Tensor]:
        """See `Functions`; it lies in the shared memory."""
        places, size = placed(((one.name, one.dtype, one.shape) for one in tensors), rows)
        self._reserve(size)
        return {n: view(self._memory, one, rows).view(rows, -1) for n, one in places.items()}

    def release(self) -> None:
        """See `Functions`."""
        if self._device.type == "cuda":
            self._replace_memory(LEAST_BYTES)

    def allows(self, inputs: Mapping[str, Any]) -> bool:
        """See `Functions`."""
        if not self._has_valid:
            return True
        rows = {n: v.unsqueeze(0) if is_tensor(v) else v for n, v in inputs.items()}
        args = self._write(ReferenceCall(rows, ()), 1)
        return self._ask(Request(ReferenceAsk.ALLOWS, args), "valid").allowed

    def _write(self, call: ReferenceCall, rows: int | None = None) -> tuple[Sent, ...]:
        """Write what a call starts from into the shared memory."""
        rows = call.rows if rows is None else rows
        tensors = {name: value for name, value in call.inputs.items() if is_tensor(value)}
        places, size = placed(
            (
                (name, str(call.dtype(value)).removeprefix("torch."), tuple(value.shape[1:]))
                for name, value in tensors.items()
            ),
            rows,
        )
        self._reserve(size)
        for name, value in tensors.items():
            place = view(self._memory, places[name], rows)
            if name not in call.blank and place.data_ptr() != value.data_ptr():
                place.copy_(value)
        self._wait()
        return tuple(places.get(n) or Sent(n, value=v) for n, v in call.inputs.items())

    def _reserve(self, size: int) -> None:
        """Have at least `size` bytes of shared memory."""
        if size > self._memory.numel():
            self._replace_memory(size + max(LEAST_BYTES, min(size // 4, MOST_SPARE)))

    def _replace_memory(self, size: int) -> None:
        self._wait()
        # Given back first: there may not be room for both.
        self._memory = torch.empty(0, dtype=torch.uint8, device=self._device)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        self._memory, fd = new_memory(size, self._device)
        try:
            self._ask(Request(ReferenceAsk.MEMORY, size=self._memory.numel()), "memory", fd)
        finally:
            os.close(fd)

    def _ask(self, asked: Request, what: str, *fds: int) -> ReferenceAnswer:
        """what: is asked for, in words. Raises BadReference, MemoryError."""
        where = f"{self.where}: {what}"
        if self._process:
            # It goes on until the judge's clock is about to run, see `ProcessHold.rest_helpers`.
            self._hold.thaw(self._process)
        try:
            self._sock.settimeout(max(1e-3, self._deadline - time.monotonic()))
            messages.send(self._sock, asked, fds)
            data, extra, _, _ = self._sock.recvmsg(LIMIT, socket.CMSG_SPACE(wire.CREDENTIALS.size))
        except TimeoutError:
            words = f"no answer within the limit of {self._limit_s:g} s in total"
            raise BadReference(
                f"{where}: {words}; it hangs, or is too slow for its cases"
            ) from None
        except ConnectionError:
            data, extra = b"", []
        except messages.Nonsense as error:
            raise BadReference(f"{where}: {error}") from None
        if not data:
            raise BadReference(f"{where}: its process ended, see the log")
        self._know(wire.sender(extra), where)
        try:
            said = messages.answer(data, self._memory.numel())
        except messages.Nonsense as error:
            raise BadReference(f"{where}: said {one_line(str(error))}") from None
        if said.lacked:
            raise MemoryError(f"{where}: {one_line(said.lacked)}")
        if said.refused:
            raise BadReference(one_line(said.refused))
        return said

    def _know(self, sender: int, where: str) -> None:
        """The first answer comes from the process itself, all others have to, too."""
        if not self._process:
            self._process = sender
            self._hold.know(NAME, sender, helps=True)
        elif sender != self._process:
            raise BadReference(f"{where}: answered by another process than its own")

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def served_reference(
    job: Job, channels: Mapping[str, socket.socket], hold: ProcessHold, tell: Callable[[str], None]
) -> Reference:
    """The reference of a job's problem, in the process behind its channel. Raises BadReference."""
    sock, limit_s = channels[NAME], job.total_s
    code = ServedCode(sock, job.problem.name, torch.device(job.device), hold, limit_s)
    return Reference(code, tell)
