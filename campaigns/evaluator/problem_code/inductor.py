"""What torch's own compiler, Inductor, writes for a reference. Nothing of it is built or run.

The reference is traced on tensors without contents. A side that is a number among the arguments is
a symbol, so that the text is right for other sizes, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Draw, is_tensor

# A few pages; what is longer is nothing that a person would read.
MOST_TEXT = 1 << 17


def prepare(cache: Path) -> None:
    """Import it, which opens hundreds of files. cache: a folder that it may write to."""
    # In this process alone: a pool of compilers would be more processes to wait for.
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=f"{cache}", TORCHINDUCTOR_COMPILE_THREADS="1")
    import torch._inductor.codegen.cpp
    import torch._inductor.compile_fx  # noqa: F401


def compiled(code: ProblemCode, case: Case, other: Case) -> dict[str, Any]:
    """The "text", and (name, dtype or "int" or "float") of each of its "inputs".

    other: with other sizes, which tell the sides of equal size apart. Raises BadReference.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    # The case last: a module may keep what it was given.
    apart, drawn = (
        code.examples(Draw(one.name, one.params, (0,), "cpu")).inputs for one in (other, case)
    )
    mode = FakeTensorMode(shape_env=ShapeEnv(duck_shape=False), allow_non_fake_inputs=True)
    with mode:
        given = _with_symbols(mode, drawn, apart)

    def body(*values: Any) -> tuple[()]:
        code.expected(dict(zip(given, values, strict=True)))
        return ()

    try:
        traced = make_fx(body, tracing_mode="symbolic", _allow_non_fake_inputs=True)
        text = _written(traced(*given.values()), mode, list(given.values()))
    except Exception as error:
        if isinstance(error, BadReference):
            raise
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise BadReference(f"{code.where}: Inductor makes nothing of it: {said}") from error
    if len(text) > MOST_TEXT:
        raise BadReference(f"{code.where}: Inductor writes {len(text):,} characters for it")
    return {"text": text, "inputs": [(name, _kind(value)) for name, value in given.items()]}


def _kind(value: Any) -> str:
    if is_tensor(value):
        return str(value.dtype).removeprefix("torch.")
    return "float" if isinstance(value, float) else "int"


def _with_symbols(mode: Any, drawn: Mapping[str, Any], apart: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with a symbol for each number that is a side of one of their tensors."""
    import torch
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic

    # The first axis is the seed.
    shapes = {n: (*v.shape[1:],) for n, v in drawn.items() if is_tensor(v)}
    others = {n: (*v.shape[1:],) for n, v in apart.items() if is_tensor(v)}
    known: dict[tuple[int, int], Any] = {}
    given = dict(drawn)
    for name, value in drawn.items():
        # Of a side of 1 torch makes another kernel.
        if type(value) is not int or value < 2 or type(apart.get(name)) is not int:
            continue
        pair = (value, apart[name])
        sides = {p for n in shapes for p in zip(shapes[n], others.get(n, ()), strict=False)}
        if pair in sides and pair not in known:
            source = ConstantSource(name)
            symbol = mode.shape_env.create_symbol(value, source, DimDynamic.DYNAMIC, None)
            known[pair] = mode.shape_env.create_symintnode(symbol, hint=value, source=source)
            given[name] = known[pair]
    for name, shape in shapes.items():
        pairs = zip(shape, others.get(name, shape), strict=False)
        sides_of = [known.get(pair, pair[0]) for pair in pairs]
        given[name] = torch.empty(sides_of, dtype=drawn[name].dtype)
    return given


class _Written(Exception):
    """The text is there."""


def _written(graph: Any, mode: Any, values: list[Any]) -> str:
    """Inductor's text for a graph, taken before it would be built. Raises what Inductor raises."""
    import torch
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx
    from torch._inductor.graph import GraphLowering

    texts: list[str] = []

    def taken(lowering: Any) -> None:
        texts.append(lowering.codegen()[0].value)
        raise _Written

    # Plain loops instead of torch's vector classes, which a compiler makes vectors of by itself.
    plain = config.patch({"cpp.simdlen": 1, "cpp.dynamic_threads": True, "fx_graph_cache": False})
    tracing = torch._guards.tracing(torch._guards.TracingContext(mode))
    written = mock.patch.object(GraphLowering, "compile_to_module", taken)
    with plain, tracing, written, _without_helpers():
        try:
            compile_fx(graph, values)
        except Exception:
            if not texts:
                raise
    return "\n".join(texts)


@contextmanager
def _without_helpers() -> Iterator[None]:
    """Within, sums and variances are plain loops; torch's classes for them are in its headers."""
    from torch._inductor.codegen.cpp import CppKernel

    with (
        mock.patch.object(CppKernel, "need_use_acc_helper", return_value=False),
        mock.patch("torch._inductor.lowering.use_two_step_variance", return_value=True),
    ):
        yield
