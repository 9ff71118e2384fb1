"""The judge's side of a reference gives what the same code gives in one process."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import lay_out
from campaigns.evaluator.judge.correctness.reference_client import ServedCode
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.problem_code.serve import ReferenceServer
from campaigns.evaluator.reference import messages
from campaigns.evaluator.reference.messages import LIMIT, ReferenceAnswer, request
from campaigns.evaluator.reference.reference import Draw, Reference, ReferenceCall
from tests.evaluator import small

CASE = Case("n4096", {"N": 4096})
STEPS = small.REF.replace("torch.mul(x, 2, out=y)", "y.copy_(2 * x) if N > 3 else y.zero_()")


class NoHold:
    """Nothing is stopped where nothing is timed."""

    def thaw(self, runner: int) -> None: ...

    def know(self, name: str, runner: int, *, helps: bool = False) -> None: ...


@contextmanager
def served(folder, answers=None) -> Iterator[ServedCode]:
    """A reference in a thread of this process. answers: what it says, in place of its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = ReferenceServer(folder, "cpu")

    def serve() -> None:
        while True:
            data, fds, _, _ = socket.recv_fds(theirs, LIMIT, 1)
            if not data:
                return
            found = server.answer(request(data), fds)
            if answers and not found.refused and (forged := answers(request(data), found)):
                theirs.send(forged)
                continue
            messages.send(theirs, found)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield ServedCode(ours, folder.name, torch.device("cpu"), NoHold(), 5.0)  # type: ignore[arg-type]
    finally:
        ours.shutdown(socket.SHUT_RDWR)
        thread.join()
        ours.close()
        theirs.close()


@pytest.fixture
def folder(tmp_path):
    return small.write_problem(tmp_path, ref=STEPS)


def test_examples_and_answers_are_those_of_the_code(folder):
    draw = Draw(CASE.name, CASE.params, (1, 2, 3), "cpu")
    own = ProblemCode(folder).examples(draw)
    with served(folder) as code:
        made = code.examples(draw)
        assert made.outputs == own.outputs == ("y",)
        assert made.inputs["N"] == 4096
        assert torch.equal(made.inputs["x"], own.inputs["x"])
        assert made.inputs["x"].shape == (3, 4096)
        exact = code.answers(ReferenceCall(made.inputs, ("y",), precision=torch.float64))["y"]
        assert exact.dtype is torch.float64
        assert torch.equal(exact, 2 * made.inputs["x"].double())
        assert code.allows({"x": made.inputs["x"][0], "y": made.inputs["y"][0], "N": 4096})


def test_answers_are_worked_out_where_the_judge_has_written(folder):
    with served(folder) as code:
        layout = Reference(code).layout(CASE, "cpu")
        room = code.room(layout.tensors, 5)
        room["x"].copy_(torch.arange(5 * 4096).view(5, -1))
        rows = {name: value.view(5, -1) for name, value in room.items()}
        call = ReferenceCall({**rows, "N": 4096}, ("y",), blank=frozenset({"y"}))
        found = code.answers(call)["y"]
        assert torch.equal(found, 2 * torch.arange(5 * 4096.0).view(5, -1))
        # A copy: what another process can write to is not compared.
        room["y"].zero_()
        assert found[4, 1] == 2 * (4 * 4096 + 1)


def test_it_names_what_is_wrong_with_the_code(tmp_path):
    folder = small.write_problem(tmp_path, ref="raise ValueError('one\\x1b[2J\\ntwo')")
    with (
        pytest.raises(BadReference, match=r"double/ref.py: line 1: ValueError: one\[2J two"),
        served(folder),
    ):
        pass


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        (lambda asked, own: b"{", "said"),
        (lambda asked, own: b"x" * LIMIT, "said"),
        (lambda asked, own: b'{"rows": 2, "placed": true}', "its tensors cannot be had"),
        (lambda asked, own: b'{"placed": false, "size": 1}', "its tensors cannot be had"),
    ],
)
def test_a_forged_answer_is_the_problems_fault(folder, forged, words):
    def answers(asked, own: ReferenceAnswer):
        return forged(asked, own) if asked.verb in ("examples", "place") else None

    draw = Draw(CASE.name, CASE.params, (1,), "cpu")
    with served(folder, answers) as code, pytest.raises(BadReference, match=words):
        code.examples(draw)


def test_nobody_can_make_the_shared_memory_shorter(folder):
    with served(folder) as code:
        code.room(lay_out([]).tensors, 1)
        code.examples(Draw(CASE.name, CASE.params, (1,), "cpu"))
        shared = [
            fd for fd in map(int, os.listdir("/proc/self/fd")) if "kopt-exchange" in _target(fd)
        ]
        for fd in shared:
            with pytest.raises(PermissionError):
                os.ftruncate(fd, 0)
        assert shared


def _target(fd: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except FileNotFoundError:
        return ""
