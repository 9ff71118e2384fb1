"""A Python candidate's module, and its calls on the slots of a case."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from campaigns.evaluator.layout import Layout, ScalarArg
from campaigns.evaluator.runner.memory import Memory


def load_candidate(path: Path) -> ModuleType:
    """Execute the candidate's module."""
    spec = importlib.util.spec_from_file_location("candidate", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def bound_calls(
    run: Callable[..., None], layout: Layout, memory: Memory, slots: int
) -> list[partial[None]]:
    """A call of `run` on each slot."""
    return [partial(run, **_keywords(layout, memory, slot)) for slot in range(slots)]


def _keywords(layout: Layout, memory: Memory, slot: int) -> dict[str, Any]:
    return {
        arg.name: arg.value if isinstance(arg, ScalarArg) else memory.tensor(layout, slot, arg)
        for arg in layout.args
    }


def blank_call(run: Callable[..., None], example: Layout, device: str) -> None:
    """Call `run` once on tensors of zeros, so that what compiles at a first call has done so."""
    import torch

    run(
        **{
            arg.name: arg.value
            if isinstance(arg, ScalarArg)
            else torch.zeros(arg.shape, dtype=getattr(torch, arg.dtype), device=device)
            for arg in example.args
        }
    )
