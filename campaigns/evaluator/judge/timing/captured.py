"""The judge's work on a GPU as a CUDA graph, so that a busy host cannot slow it down."""

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
