"""A reference's answers to many rows as a CUDA graph, where a replay answers as a plain run does.

A burst asks for the answers of thousands of calls, and launching a small reference takes ten times
as long as its work. What does more than launch kernels on the device (it reads a result, copies
from the host, draws on the host) is run plainly for ever.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from campaigns.evaluator.reference.memory import as_integers
from campaigns.evaluator.reference.messages import Sent
from campaigns.evaluator.reference.reference import is_tensor

# Rows from which on a graph pays, and how many are tried. A graph is captured when its rows have
# been asked for so often.
LEAST, TRIED, OFTEN = 16, 4, 2

# What gives the host a value, which it may decide by.
READS = torch.ops.aten._local_scalar_dense.default

Given = Mapping[str, Any]
Run = Callable[[Given, int], None]


class HostWork(RuntimeError):
    """An operation has to do with memory of the host, which a replay would read as it was."""


class ReplayedRows:
    """Runs a reference on rows of the shared memory, in place. run: does so plainly."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._asked: dict[tuple[tuple[Sent, ...], int], int] = {}
        self._graphs: dict[tuple[tuple[Sent, ...], int], torch.cuda.CUDAGraph] = {}
        # Whether a replay answers as a plain run, by shapes and numbers.
        self._alike: dict[tuple[Any, ...], bool] = {}

    def forget(self) -> None:
        """The memory is another one from now on."""
        self._asked.clear()
        self._graphs.clear()

    def run(self, args: tuple[Sent, ...], given: Given, rows: int) -> None:
        """Answer `rows` rows. args: where they lie; given: [rows, …] of every tensor."""
        key = args, rows
        if key not in self._graphs and self._pays(key, given):
            with contextlib.suppress(RuntimeError):  # too little memory, say
                self._graphs[key] = _captured(self._run, given, rows)
        if key in self._graphs:
            self._graphs[key].replay()
        else:
            self._run(given, rows)

    def _pays(self, key: tuple[tuple[Sent, ...], int], given: Given) -> bool:
        args, rows = key
        self._asked[key] = self._asked.get(key, 0) + 1
        if rows < LEAST or self._asked[key] < OFTEN:
            return False
        case = tuple((one.name, one.dtype, one.shape, one.value) for one in args)
        if case not in self._alike:
            self._alike[case] = self._is_alike(given)
        return self._alike[case]

    def _is_alike(self, given: Given) -> bool:
        """Whether a replay on a few rows leaves what a plain run leaves."""
        few = {n: v[:TRIED] if is_tensor(v) else v for n, v in given.items()}
        tensors = [value for value in few.values() if is_tensor(value)]
        before = [value.clone() for value in tensors]

        def restore() -> None:
            for value, kept in zip(tensors, before, strict=True):
                value.copy_(kept)

        try:
            with OnDevice():
                self._run(few, TRIED)
            wanted = [as_integers(value).clone() for value in tensors]
            restore()
            graph = _captured(self._run, few, TRIED)
            graph.replay()
            pairs = zip(tensors, wanted, strict=True)
            return all(torch.equal(as_integers(value), want) for value, want in pairs)
        except Exception as error:  # noqa: BLE001 - whatever stops a capture, plain runs remain
            said = f"{type(error).__name__}: {error}".partition("\n")[0]
            print(f"answers are not replayed: {said}", file=sys.stderr)
            return False
        finally:
            torch.cuda.synchronize()
            restore()


class OnDevice(TorchDispatchMode):  # type: ignore[misc]
    """Within, an operation of torch that has to do with the host's memory raises HostWork."""


def _on_device(mode: OnDevice, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    found = func(*args, **(kwargs or {}))
    leaves = tree_leaves((args, kwargs, found))
    if func is READS or any(is_tensor(one) and one.device.type == "cpu" for one in leaves):
        raise HostWork(f"{func} has to do with the host's memory")
    return found


# Where the class defines it, torch imports its compiler to keep that out: seconds for nothing.
OnDevice.__torch_dispatch__ = _on_device


def _captured(run: Run, given: Given, rows: int) -> torch.cuda.CUDAGraph:
    """Raises what a capture raises; nothing is run by it."""
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    # Not `torch.cuda.graph`, which stays on its stream where the end of a capture fails.
    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            run(given, rows)
        finally:
            graph.capture_end()
    return graph
