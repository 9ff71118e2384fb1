"""The process of one problem's reference: locks itself down, loads `ref.py`, answers the judge."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campaigns.evaluator.contract import Job
from campaigns.evaluator.contract.errors import BadReference, is_out_of_memory
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.memory import opened_memory, view
from campaigns.evaluator.reference.messages import (
    LIMIT,
    WORDS,
    Nonsense,
    ReferenceAnswer,
    ReferenceAsk,
    Request,
    Sent,
    placed,
    request,
    send,
)
from campaigns.evaluator.reference.reference import Draw, Made, is_tensor
from campaigns.evaluator.sandbox.lock import Lock, RunnerBox
from campaigns.evaluator.sandbox.processes import draw_apart

if TYPE_CHECKING:
    from campaigns.evaluator.problem_code.replay import ReplayedRows


def main(job: Job, files: Mapping[str, bytes], box: RunnerBox, sock: socket.socket) -> int:
    """Answer until the judge hangs up. files: of the problem, by their paths in its folder."""
    folder = locked_folder(job.problem.name, files, box, job.protocol.limits.total_s)
    server = ReferenceServer(folder, job.device)
    while data := _received(sock):
        found = server.answer(*data)
        try:
            send(sock, found)
        except Nonsense as error:
            send(sock, ReferenceAnswer(refused=f"{folder.name}/ref.py: {error}"))
    return 0


def locked_folder(name: str, files: Mapping[str, bytes], box: RunnerBox, total_s: float) -> Path:
    """Close the lock of this process; then the folder in which it alone has the problem's files.

    total_s: how long it may take in all. Raises NotLocked.
    """
    sys.dont_write_bytecode = True
    lock = Lock(box, total_s)
    lock.lock_down()
    folder = box.scratch / name
    for inner, data in files.items():
        path = folder / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    # A reference may compile: Triton does, and torch.
    lock.seal(programs=True)
    return folder


def _received(sock: socket.socket) -> tuple[Request, list[int]] | None:
    with contextlib.suppress(ConnectionError):
        data, fds, _, _ = socket.recv_fds(sock, LIMIT, 1)
        if data:
            return request(data), fds
    return None


class ReferenceServer:
    """`ref.py` in `folder`, and the memory that it shares with the judge."""

    def __init__(self, folder: Path, device: str) -> None:
        import torch

        self._folder = folder
        self._device = torch.device(device)
        self._code: ProblemCode | None = None
        self._memory = torch.empty(0, dtype=torch.uint8)
        self._made: Made | None = None
        self._replayed: ReplayedRows | None = None

    def answer(self, asked: Request, fds: list[int]) -> ReferenceAnswer:
        """Do what is asked; whatever is raised becomes an answer."""
        try:
            return self._answer(asked, fds)
        except BadReference as error:
            return ReferenceAnswer(refused=error.reason[:WORDS])
        except BaseException as error:  # noqa: BLE001 - hostile code may raise anything, SystemExit too
            if isinstance(error, Exception) and is_out_of_memory(error):
                return ReferenceAnswer(lacked=f"{error}".partition("\n")[0][:WORDS] or "memory")
            traceback.print_exc()
            words = f"{self._folder.name}/ref.py: {type(error).__name__}: {error}"
            return ReferenceAnswer(refused=words[:WORDS])

    def _answer(self, asked: Request, fds: list[int]) -> ReferenceAnswer:
        if asked.verb == ReferenceAsk.LOAD:
            draw_apart()
            self._code = ProblemCode(self._folder)
            if self._device.type == "cuda":
                from campaigns.evaluator.problem_code.replay import ReplayedRows

                self._replayed = ReplayedRows(self._code.run_rows)
            return ReferenceAnswer(line=self._code.line, has_valid=self._code.has_valid)
        if asked.verb == ReferenceAsk.MEMORY:
            return self._remember(fds[0], asked.size)
        if asked.verb == ReferenceAsk.EXAMPLES:
            draw = Draw(asked.case, asked.params, asked.seeds, str(self._device), asked.marked)
            self._made = self._loaded().examples(draw)
            return self._place()
        if asked.verb == ReferenceAsk.PLACE:
            return self._place()
        return self._call(asked)

    def _remember(self, fd: int, size: int) -> ReferenceAnswer:
        """Work in other memory from now on, and give back all that lies in between."""
        import torch

        self._memory = torch.empty(0, dtype=torch.uint8)
        if self._replayed:
            self._replayed.forget()
            torch.cuda.empty_cache()
        self._memory = opened_memory(fd, size, self._device)
        os.close(fd)
        return ReferenceAnswer()

    def _place(self) -> ReferenceAnswer:
        """Write the last examples into the memory, where that is large enough."""
        made = self._made
        if made is None:
            raise RuntimeError("asked to place what was not made")
        tensors = {name: value for name, value in made.inputs.items() if is_tensor(value)}
        rows = max((len(value) for value in tensors.values()), default=1)
        places, size = placed(
            (
                (name, str(value.dtype).removeprefix("torch."), tuple(value.shape[1:]))
                for name, value in tensors.items()
            ),
            rows,
        )
        fits = size <= self._memory.numel()
        if fits:
            for name, value in tensors.items():
                view(self._memory, places[name], rows).copy_(value)
            self._wait()
            self._made = None
        args = tuple(places.get(n) or Sent(n, value=v) for n, v in made.inputs.items())
        return ReferenceAnswer(
            args=args,
            outputs=made.outputs,
            notes=made.notes,
            rows=rows,
            size=size,
            placed=fits,
        )

    def _call(self, asked: Request) -> ReferenceAnswer:
        """Run `reference` on every row, in place, or `valid` on the first."""
        given: dict[str, Any] = {
            one.name: view(self._memory, one, asked.rows) if one.dtype else one.value
            for one in asked.args
        }
        if asked.verb == ReferenceAsk.ALLOWS:
            first = {name: v[0] if is_tensor(v) else v for name, v in given.items()}
            return ReferenceAnswer(allowed=self._loaded().allows(first))
        if self._replayed:
            self._replayed.run(asked.args, given, asked.rows)
        else:
            self._loaded().run_rows(given, asked.rows)
        self._wait()
        return ReferenceAnswer()

    def _wait(self) -> None:
        if self._device.type == "cuda":
            import torch

            torch.cuda.synchronize(self._device)

    def _loaded(self) -> ProblemCode:
        if self._code is None:
            raise RuntimeError("asked to call before it was loaded")
        return self._code
