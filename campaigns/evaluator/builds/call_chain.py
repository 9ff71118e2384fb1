"""A burst as a CUDA graph in which no call begins before the one before it has ended.

In one capture of all calls, a call may fork from an event of an earlier one and join behind a later
one: a burst then takes less time than its calls. So each call is captured by itself, on the stream
that it is made on, where the driver refuses work on other streams that is not joined. The captures
become child graphs, each behind the one before. Every burst has a chain of its own, in an order
that the judge draws for it: a call that fetches the inputs of the next one, by their distance or by
the order of an earlier burst, fetches the wrong ones. Registers nothing itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from ctypes import byref, c_int, c_size_t, c_ulonglong, c_void_p

from campaigns.evaluator import cuda_driver
from campaigns.evaluator.cuda_driver import Driver, DriverError

# CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_UNJOINED
THREAD_LOCAL, UNJOINED = 1, 904
# Kinds of nodes (CUgraphNodeType) that have done all their work when they end: kernels, copies,
# fills, and what holds only such. A host function may have a thread start work that nothing waits
# for.
KERNEL, COPY, FILL, CHILD, EMPTY, CONDITIONAL = 0, 1, 2, 4, 5, 13
COMPLETE = frozenset({KERNEL, COPY, FILL, CHILD, EMPTY, CONDITIONAL})
# A graph holds so many calls, and a longer burst is several graphs in a row.
CHAINED = 512


class Unordered(RuntimeError):
    """A call left work on a stream that the call's own stream does not wait for."""


class NotChained(RuntimeError):
    """What a capture holds cannot be timed as a part of a graph."""


class CallChain:
    """Calls captured one by one, and one burst of them in an order of its own.

    stream: its handle. chained: calls of a graph. Every method raises DriverError.
    """

    def __init__(
        self, stream: int, driver: Driver = cuda_driver.call, chained: int = CHAINED
    ) -> None:
        self._stream = c_void_p(stream)
        self._driver = driver
        self._length = chained
        self._graphs: list[c_void_p] = []
        # The burst that is ready: its graphs, one behind the other.
        self._parts: list[c_void_p] = []
        self.order: tuple[int, ...] = ()
        # How many nodes of each captured call do work.
        self.nodes: list[int] = []

    def capture(self, calls: Sequence[Callable[[], object]]) -> None:
        """Capture those of these calls that are not yet; raises what a call raises.

        Raises Unordered, and NotChained where a capture holds no work, or such as could go on when
        the graph has ended.
        """
        for call in calls[len(self._graphs) :]:
            self._graphs.append(self._captured(call))
            self.nodes.append(self._count(self._graphs[-1]))
            if not self.nodes[-1]:
                raise NotChained("a call's capture is empty")

    def _captured(self, call: Callable[[], object]) -> c_void_p:
        graph, refused = c_void_p(), None
        self._driver("cuStreamBeginCapture_v2", self._stream, THREAD_LOCAL)
        try:
            call()
        finally:
            # What the call raises says more than that its capture is worth nothing.
            try:
                self._driver("cuStreamEndCapture", self._stream, byref(graph))
            except DriverError as error:
                refused = error
        if refused is None:
            return graph
        if refused.code == UNJOINED:
            words = "a call left work on another stream, and its own stream does not wait for it"
            raise Unordered(words)
        raise refused

    def _count(self, graph: c_void_p) -> int:
        """How many nodes of a graph do work, with those of its child graphs."""
        size, found = c_size_t(), 0
        self._driver("cuGraphGetNodes", graph, None, byref(size))
        nodes = (c_void_p * size.value)()
        self._driver("cuGraphGetNodes", graph, nodes, byref(size))
        for node in map(c_void_p, nodes):
            kind, child = c_int(), c_void_p()
            self._driver("cuGraphNodeGetType", node, byref(kind))
            if kind.value not in COMPLETE:
                raise NotChained(f"a call's capture holds a node of kind {kind.value}")
            if kind.value == CHILD:
                self._driver("cuGraphChildGraphNodeGetGraph", node, byref(child))
                found += self._count(child)
            else:
                found += kind.value != EMPTY
        return found

    def arrange(self, order: Sequence[int]) -> None:
        """Get a burst of these captured calls, in this order, ready to be launched.

        It takes the place of the burst before. The device holds it when the stream is waited for,
        so a launch pays for nothing but the work.
        """
        self._forget()
        for first in range(0, len(order), self._length):
            graphs = [self._graphs[call] for call in order[first : first + self._length]]
            self._parts.append(self._chained(graphs))
            self._driver("cuGraphUpload", self._parts[-1], self._stream)
        self.order = tuple(order)

    def _chained(self, graphs: Sequence[c_void_p]) -> c_void_p:
        whole, ready, before = c_void_p(), c_void_p(), c_void_p()
        self._driver("cuGraphCreate", byref(whole), 0)
        try:
            for number, graph in enumerate(graphs):
                node, behind = c_void_p(), c_size_t(min(number, 1))
                places = (byref(node), whole, byref(before), behind, graph)
                self._driver("cuGraphAddChildGraphNode", *places)
                before = node
            self._driver("cuGraphInstantiateWithFlags", byref(ready), whole, c_ulonglong(0))
        finally:
            self._driver("cuGraphDestroy", whole)
        return ready

    def launch(self) -> None:
        """Start the burst that is ready, on the stream."""
        for ready in self._parts:
            self._driver("cuGraphLaunch", ready, self._stream)

    def _forget(self) -> None:
        self.order = ()
        while self._parts:
            self._driver("cuGraphExecDestroy", self._parts.pop())

    def __del__(self) -> None:
        with contextlib.suppress(DriverError, OSError):
            self._forget()
            for graph in self._graphs:
                self._driver("cuGraphDestroy", graph)
