"""What torch's own compiler, Inductor, writes for a reference. Nothing of it is built or run.

The reference is traced on tensors without contents. A side that is a number among the arguments is
a symbol, so that the text is right for other sizes, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from campaigns.evaluator.contract import Case
from campaigns.evaluator.interpreter.stand_in import install_stub
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Draw, is_tensor

INDUCTOR = "torch._inductor"
# Plain loops instead of torch's vector classes, which a compiler makes vectors of by itself.
CONFIG = {"cpp.simdlen": 1, "cpp.dynamic_threads": True, "fx_graph_cache": False}
# What these answer meanwhile. Sums and variances are plain loops, as torch's classes for them are
# in its headers; Triton needs no device to be written.
INSTEAD = {
    f"{INDUCTOR}.codegen.cpp.CppKernel.need_use_acc_helper": False,
    f"{INDUCTOR}.lowering.use_two_step_variance": True,
    f"{INDUCTOR}.scheduler.has_triton": True,
    f"{INDUCTOR}.compile_fx._check_triton_bf16_support": None,
    "torch.cuda.get_device_capability": (9, 0),
}
# A card by which it divides work, in the order of its `DeviceProperties`: many multiprocessors of
# many registers and threads, as no card in particular. A search divides it anew, and nothing is
# measured by these.
CARD = ("cuda", 0, 128, 90, 9, 65536, 2048, 1024, 32)


def prepare(cache: Path) -> None:
    """Import it, which opens hundreds of files. cache: a folder that it may write to."""
    # In this process alone: a pool of compilers would be more processes to wait for.
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=f"{cache}", TORCHINDUCTOR_COMPILE_THREADS="1")
    import torch._inductor.codegen.cpp
    import torch._inductor.compile_fx  # noqa: F401


def compiled(code: ProblemCode, case: Case, other: Case, target: str) -> dict[str, Any]:
    """The "text", and (name, dtype or type) of each of its "inputs". Raises BadReference.

    other: with other sizes, which tell the sides of equal size apart. target: of Triton, such as
    "sm_90a"; "" is C++ for a CPU.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    with code.blame(f"{code.where}: Inductor"):
        # The case last: a module may keep what it was given.
        apart, drawn = (
            code.examples(Draw(one.name, one.params, (0,), "cpu")).inputs for one in (other, case)
        )
        mode = FakeTensorMode(shape_env=ShapeEnv(duck_shape=False), allow_non_fake_inputs=True)
        with mode:
            values = _with_symbols(mode.shape_env, drawn, apart)

        def body(*given: Any) -> tuple[()]:
            code.expected(dict(zip(drawn, given, strict=True)))
            return ()

        traced = make_fx(body, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*values)
        kinds = (str(v.dtype)[6:] if is_tensor(v) else type(v).__name__ for v in drawn.values())
        text = _written(traced, mode, values, target)
        return {"text": text, "inputs": [*zip(drawn, kinds, strict=True)]}


def _with_symbols(env: Any, drawn: Mapping[str, Any], apart: Mapping[str, Any]) -> list[Any]:
    """The arguments, with a symbol for each number that is a side of one of their tensors."""
    import torch
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic

    # Each side with the same one of the other case. The first axis is the seed.
    sides = {
        name: [*zip(value.shape[1:], apart[name].shape[1:], strict=True)]
        for name, value in drawn.items()
        if is_tensor(value)
    }
    all_sides, known = {pair for each in sides.values() for pair in each}, dict[Any, Any]()
    for name, value in drawn.items():
        # Torch makes another kernel of a side of 1.
        if type(value) is int and value > 1 and (pair := (value, apart[name])) in all_sides:
            source = ConstantSource(name)
            symbol = env.create_symbol(value, source, DimDynamic.DYNAMIC, None)
            known[pair] = env.create_symintnode(symbol, hint=value, source=source)
    return [
        torch.empty([known.get(pair, pair[0]) for pair in sides[name]], dtype=value.dtype)
        if name in sides
        else known.get((value, apart[name]), value)
        for name, value in drawn.items()
    ]


def _written(graph: Any, mode: Any, values: list[Any], target: str) -> str:
    """Inductor's text for a graph, taken before it would be built. Raises what Inductor raises."""
    import torch
    from torch._inductor import compile_fx, config
    from torch._inductor.runtime.hints import DeviceProperties

    texts: list[str] = []

    def taken(lowering: Any) -> None:
        texts.append(lowering.codegen()[0].value)
        raise StopIteration

    instead: dict[str, Any] = {name: mock.Mock(return_value=INSTEAD[name]) for name in INSTEAD}
    instead[f"{INDUCTOR}.graph.GraphLowering.compile_to_module"] = taken
    inner = compile_fx.compile_fx_inner
    if target:
        install_stub(target)
        inner = _on_gpu(mode, inner)
        instead[f"{INDUCTOR}.runtime.hints.DeviceProperties.create"] = mock.Mock(
            return_value=DeviceProperties(*CARD)
        )
    with ExitStack() as stack:
        stack.enter_context(config.patch(CONFIG))
        stack.enter_context(torch._guards.tracing(torch._guards.TracingContext(mode)))
        for name, what in instead.items():
            stack.enter_context(mock.patch(name, what))
        try:
            compile_fx.compile_fx(graph, values, inner_compile=inner)
        except (StopIteration, RuntimeError):
            if not texts:
                raise
    return texts[0]


def _on_gpu(mode: Any, compile_inner: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler of a graph that was traced on a CPU, as if its tensors lay on a GPU."""
    import torch
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    card = torch.device("cuda", 0)

    def compile_moved(graph: Any, values: list[Any], **options: Any) -> Any:
        moved = [v.to(card) if is_tensor(v) else v for v in values]
        for node in graph.graph.nodes:
            if "device" in node.kwargs:
                node.kwargs = {**node.kwargs, "device": card}
        FakeTensorProp(graph, mode).propagate_dont_convert_inputs(*moved)
        return compile_inner(graph, moved, **options)

    return compile_moved
