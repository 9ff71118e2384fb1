"""Captured calls become child graphs, each behind the one before, on a driver that only notes."""

from __future__ import annotations

import ctypes

import pytest

from campaigns.evaluator import cuda_driver
from campaigns.evaluator.builds import call_chain
from campaigns.evaluator.builds.call_chain import (
    CHILD,
    COPY,
    EMPTY,
    KERNEL,
    UNJOINED,
    CallChain,
    NotChained,
    Unordered,
)
from campaigns.evaluator.cuda_driver import DriverError

HOST, ALLOCATION, INVALIDATED = 3, 10, 901
STREAM = 2


class NotingDriver:
    """Holds graphs as lists of nodes: (kind, child graph or None, the node that it comes behind).

    launched: of each launch the captured calls, by when they were captured. uploaded: executables
    that the device holds. alive: what is not given back.
    """

    def __init__(self):
        self.graphs, self.nodes, self.alive = {}, {}, set()
        self.capturing, self.joined, self.last = None, True, 0
        self.launched, self.executables, self.captured = [], {}, []
        self.uploaded = set()

    def __call__(self, name, /, *arguments):
        getattr(self, name)(*arguments)

    def new(self, graph=None):
        self.last += 1
        if graph is not None:
            self.graphs[self.last] = graph
            self.alive.add(self.last)
        return self.last

    def launch(self, kind, child=None):
        """What a call does that is captured."""
        self.capturing.append((kind, child, None))

    def cuStreamBeginCapture_v2(self, stream, mode):
        assert (stream.value, mode, self.capturing) == (STREAM, call_chain.THREAD_LOCAL, None)
        self.capturing = []

    def cuStreamEndCapture(self, stream, graph):
        found, self.capturing = self.capturing, None
        if not self.joined:
            raise DriverError("cuStreamEndCapture", UNJOINED)
        if found is None:
            raise DriverError("cuStreamEndCapture", INVALIDATED)
        graph._obj.value = self.new(found)
        self.captured.append(graph._obj.value)

    def cuGraphCreate(self, graph, flags):
        graph._obj.value = self.new([])

    def cuGraphAddChildGraphNode(self, node, graph, before, count, child):
        assert count.value in (0, 1)
        node._obj.value = self.new()
        behind = before._obj.value if count.value else None
        self.graphs[graph.value].append((CHILD, child.value, behind))
        self.nodes[node._obj.value] = len(self.graphs[graph.value]) - 1

    def cuGraphInstantiateWithFlags(self, ready, graph, flags):
        ready._obj.value = self.new([])
        children = self.graphs[graph.value]
        # Each behind the one right before it, so that there is one order.
        assert [behind and self.nodes[behind] for *_, behind in children] == [
            None,
            *range(len(children) - 1),
        ]
        self.executables[ready._obj.value] = [child for _, child, _ in children]

    def cuGraphGetNodes(self, graph, nodes, count):
        if nodes is None:
            count._obj.value = len(self.graphs[graph.value])
            return
        for at, node in enumerate(self.graphs[graph.value]):
            nodes[at] = self.new()
            self.nodes[nodes[at]] = node

    def cuGraphNodeGetType(self, node, kind):
        kind._obj.value = self.nodes[node.value][0]

    def cuGraphChildGraphNodeGetGraph(self, node, graph):
        graph._obj.value = self.nodes[node.value][1]

    def cuGraphUpload(self, ready, stream):
        assert stream.value == STREAM
        self.uploaded.add(ready.value)

    def cuGraphLaunch(self, ready, stream):
        assert stream.value == STREAM
        assert ready.value in self.uploaded
        self.launched.append([self.captured.index(one) for one in self.executables[ready.value]])

    def cuGraphDestroy(self, graph):
        self.alive.remove(graph.value)

    cuGraphExecDestroy = cuGraphDestroy


@pytest.fixture
def driver():
    return NotingDriver()


def burst(driver, calls, order, chained=call_chain.CHAINED):
    chain = CallChain(STREAM, driver, chained)
    chain.capture(calls)
    chain.arrange(order)
    chain.launch()
    return chain


def test_it_captures_each_call_by_itself_and_launches_them_in_the_order_asked_for(driver):
    chain = burst(driver, [lambda: driver.launch(KERNEL)] * 3, [2, 0, 1])
    assert driver.launched == [[2, 0, 1]]
    assert chain.nodes == [1, 1, 1]


def test_it_captures_no_call_twice_and_keeps_one_burst(driver):
    made = []
    calls = [lambda: (made.append(1), driver.launch(KERNEL))] * 6
    chain = burst(driver, calls[:2], [1, 0])
    chain.capture(calls[:5])
    kept = len(driver.alive)
    chain.arrange([4, 0, 2, 1, 3])
    chain.launch()
    assert len(made) == 5
    assert driver.launched == [[1, 0], [4, 0, 2, 1, 3]]
    assert len(driver.alive) == kept


def test_a_longer_burst_is_several_graphs_in_a_row(driver):
    burst(driver, [lambda: driver.launch(KERNEL)] * 5, [4, 3, 2, 1, 0], chained=2)
    assert driver.launched == [[4, 3], [2, 1], [0]]


def test_it_gives_everything_back(driver):
    chain = burst(driver, [lambda: driver.launch(KERNEL)] * 3, range(3))
    assert driver.alive
    del chain
    assert not driver.alive


def test_it_refuses_work_that_is_not_joined(driver):
    driver.joined = False
    with pytest.raises(Unordered, match="its own stream does not wait for it"):
        CallChain(STREAM, driver).capture([lambda: driver.launch(KERNEL)])


@pytest.mark.parametrize(
    ("kinds", "words"),
    [((), "empty"), ((EMPTY,), "empty"), ((KERNEL, HOST), "kind 3"), ((ALLOCATION,), "kind 10")],
)
def test_it_does_not_chain_what_is_empty_or_may_outlast_its_graph(driver, kinds, words):
    def call():
        for kind in kinds:
            driver.launch(kind)

    # The second of two, of which the first is whole.
    with pytest.raises(NotChained, match=words):
        CallChain(STREAM, driver).capture([lambda: driver.launch(KERNEL), call])


def test_it_counts_and_examines_graphs_in_graphs(driver):
    inner = driver.new([(KERNEL, None, None), (COPY, None, None), (EMPTY, None, None)])
    late = driver.new([(HOST, None, None)])
    chain = CallChain(STREAM, driver)
    chain.capture([lambda: (driver.launch(CHILD, inner), driver.launch(KERNEL))])
    assert chain.nodes == [3]
    with pytest.raises(NotChained):
        chain.capture([None, lambda: driver.launch(CHILD, late)])


def test_a_call_that_fails_ends_its_capture_and_says_why(driver):
    def call():
        driver.capturing = None
        raise ValueError("not while it is captured")

    with pytest.raises(ValueError, match="not while it is captured"):
        CallChain(STREAM, driver).capture([call])
    assert driver.capturing is None


def test_it_takes_back_what_the_cache_was_asked_to_keep_and_what_is_set_aside():
    asked = []
    cuda_driver.release_cache(lambda name, *arguments: asked.append((name, arguments)))
    (reset, none), (limit, (which, size)) = asked
    assert (reset, none) == ("cuCtxResetPersistingL2Cache", ())
    assert (limit, which, size.value) == ("cuCtxSetLimit", cuda_driver.PERSISTING_L2, 0)
    assert isinstance(size, ctypes.c_size_t)


def test_a_card_that_keeps_no_lines_is_no_fault():
    def refuse(name, *arguments):
        raise DriverError(name, 801)

    cuda_driver.release_cache(refuse)
