"""The judge's own work on a GPU as a graph, so that a busy host neither stretches nor delays it."""

from __future__ import annotations

from collections.abc import Callable

import torch


def captured(work: Callable[[], object], device: torch.device) -> torch.cuda.CUDAGraph:
    """What `work` launches, captured once. It runs once before, which sets up what it needs."""
    work()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize(device)
    with torch.cuda.graph(graph):
        work()
    return graph
