"""Inductor's Triton as one plain source file: kernels, and the `run_kernel` that launches them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import Source
from campaigns.proposers.first.module import (
    PYTHON_SIGNS,
    InductorModule,
    Made,
    Names,
    NotPrinted,
    Run,
    Same,
    operators,
    read_module,
)

HELPERS = {
    "maximum": """\
@triton.jit
def maximum(one, other):
    return tl.maximum(one, other, propagate_nan=tl.PropagateNan.ALL)""",
    "minimum": """\
@triton.jit
def minimum(one, other):
    return tl.minimum(one, other, propagate_nan=tl.PropagateNan.ALL)""",
    "max2": """\
@triton.jit
def max2(values, axis):
    return tl.reduce(values, axis, maximum)""",
    "min2": """\
@triton.jit
def min2(values, axis):
    return tl.reduce(values, axis, minimum)""",
}
# What each of them calls in turn.
CALLS = {"max2": "maximum", "min2": "minimum"}
# What Triton's own language has for a function of a device library.
OWN = {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf", "sin", "cos", "floor", "ceil", "abs"}
IMPORTS = "import torch\nimport triton\nimport triton.language as tl"
LIBRARY = "from triton.language.extra import libdevice"
HINTS = re.compile(r"size_hints=(\{[^}]*\})")
OUTER = "ReductionHint.OUTER"
AXES = ("x", "y", "z")
# Where Inductor begins: elements of a tile without and with a sum, and those of one warp.
FLAT, WIDE, LONGEST, OF_A_WARP = 1024, 32, 2048, 256
MOST_WARPS = 16
# Names that are given one another before nothing reads the last.
MOST_CHAINED = 4


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """function: without its decorators. tiles: the sizes that a launch says. warps: of a launch."""

    function: ast.FunctionDef
    tiles: Mapping[str, int]
    warps: int


def triton_source(text: str, inputs: Sequence[tuple[str, str]], note: str) -> Source:
    """A file with `run_kernel`. inputs: name and kind of its arguments. Raises NotPrinted.

    note: one line that says where the kernel comes from.
    """
    module = read_module(text)
    taken = frozenset({"torch", "triton", "tl", "grid"})
    names = Names(module.args, [name for name, _ in inputs], taken, PYTHON_SIGNS)
    kernels = {name: _kernel(source) for name, source in module.kernels.items()}
    lines = [*_steps(module, kernels, names)]
    shown = [*_shown(kernels)]
    code = "\n".join(shown)
    used = {name for name in HELPERS if re.search(rf"\b{name}\(", code)}
    used |= {CALLS[name] for name in used & CALLS.keys()}
    if "triton_helpers" in code:
        raise NotPrinted("it needs a helper of torch's that is not known here")
    head = [f"# {note}\n{IMPORTS}" + (f"\n{LIBRARY}" if "libdevice." in code else "")]
    head += [text for name, text in HELPERS.items() if name in used]
    run = f"def run_kernel({', '.join(names.of(arg) for arg in module.args)}):"
    return Source("kernel.py", "\n\n\n".join([*head, *shown, "\n".join([run, *lines])]) + "\n")


def _shown(kernels: Mapping[str, TritonKernel]) -> Iterator[str]:
    for name, one in kernels.items():
        text = ast.unparse(one.function).replace("tl_math.", "tl.").replace("triton_helpers.", "")
        text = re.sub(rf"libdevice\.(?=({'|'.join(sorted(OWN))})\()", "tl.", text)
        helpers = "|".join(HELPERS)
        if lost := re.search(
            rf"(?<![\w.])(?!(?:{helpers}|float|range)\()([a-z]\w+)\(", text.partition(":\n")[2]
        ):
            raise NotPrinted(f"it needs {lost[1]} of torch's helpers")
        yield f"# Fused: {operators(name)}\n@triton.jit\n{text}"


def _kernel(source: str) -> TritonKernel:
    """The function of one kernel and the tiles to begin with. Raises NotPrinted."""
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    hints = HINTS.search(source)
    if len(functions) != 1 or hints is None or "'grid_type': 'Grid" not in source:
        raise NotPrinted("a kernel is launched in a way that is not known here")
    (function,) = functions
    sizes = {str(axis): int(size) for axis, size in ast.literal_eval(hints[1]).items()}
    tiles = _tiles(sizes, is_outer=OUTER in source)
    asked = [arg.arg for arg in function.args.args if arg.annotation]
    if unknown := [name for name in asked if name not in tiles]:
        raise NotPrinted(f"a kernel asks for {unknown[0]:.40}")
    function.decorator_list = []
    function.name = re.sub(r"^triton_[a-z]+_|_(?=_)", "", function.name)
    _drop_unread(function)
    elements = 1
    for size in tiles.values():
        elements *= size
    warps = min(MOST_WARPS, max(1, elements // OF_A_WARP))
    return TritonKernel(function, {name: tiles[name] for name in asked}, warps)


def _tiles(sizes: Mapping[str, int], *, is_outer: bool) -> dict[str, int]:
    """Powers of two by the name of a tile. sizes: of each axis, the next power of two."""
    plain = [axis for axis in sizes if axis in AXES]
    sums = [axis for axis in sizes if axis not in AXES]
    if sums:
        found = dict.fromkeys(sums, 8) if is_outer else {sums[0]: min(LONGEST, sizes[sums[0]])}
        found |= {plain[0]: 64} if is_outer else dict.fromkeys(plain, 1)
    else:
        found = dict.fromkeys(plain, FLAT if len(plain) == 1 else WIDE)
    return {f"{axis.upper()}BLOCK": min(size, sizes[axis]) for axis, size in found.items()}


def _drop_unread(function: ast.FunctionDef) -> None:
    """Take away names that nothing reads, and those that only these have read."""
    for _ in range(MOST_CHAINED):
        read = {
            n.id
            for n in ast.walk(function)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        for block in ast.walk(function):
            if isinstance(block, ast.FunctionDef | ast.For):
                block.body = [one for one in block.body if _target(one) in {"", *read}]


def _target(one: ast.stmt) -> str:
    """The name that a statement gives a value, and does nothing else; "" for any other."""
    target = one.targets[0] if isinstance(one, ast.Assign) else getattr(one, "target", None)
    is_plain = isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name)
    return target.id if is_plain and isinstance(target, ast.Name) else ""


def _steps(
    module: InductorModule, kernels: Mapping[str, TritonKernel], names: Names
) -> Iterator[str]:
    """The lines of `run_kernel`."""
    device = next(iter(module.args), "")
    for step in module.steps:
        if isinstance(step, Made):
            names.add(step.name, step.name)
            sizes, strides = (
                ", ".join(map(names.written, each)) for each in (step.sizes, step.strides)
            )
            yield (
                f"    {step.name} = torch.empty_strided(({sizes},), ({strides},), "
                f"dtype=torch.{step.dtype}, device={names.of(device)}.device)"
            )
        elif isinstance(step, Same):
            if step.value is not None:
                names.add(step.name, f"({names.written(step.value)})")
                continue
            own = names.of(step.of)
            if step.view:
                own = f"torch.as_strided({own}, {', '.join(map(names.written, step.view))})"
            names.add(step.name, own)
        elif step.is_library:
            given = [names.written(arg) for arg in step.args]
            given += [f"{key.arg}={names.written(key.value)}" for key in step.keywords]
            result = f"{step.result} = " if step.result else ""
            names.add(step.result, step.result)
            yield f"    {result}torch.{step.name}({', '.join(given)})"
        else:
            yield from _launch(kernels[step.name], step, names)


def _launch(kernel: TritonKernel, run: Run, names: Names) -> Iterator[str]:
    """A launch, with the names of its arguments put into the kernel where they are plain."""
    function, tiles = kernel.function, kernel.tiles
    params = [arg.arg for arg in function.args.args if arg.arg not in tiles]
    if len(params) != len(run.args):
        raise NotPrinted(f"{run.name:.60} is called with other arguments than it has")
    given = dict(zip(params, map(names.written, run.args), strict=True))
    axes = [axis for axis in AXES if f"{axis}numel" in given]
    blocks = [f"{axis.upper()}BLOCK" for axis in axes]
    grid = ", ".join(
        f'triton.cdiv({given[f"{axis}numel"]}, meta["{block}"])'
        if block in tiles
        else given[f"{axis}numel"]
        for axis, block in zip(axes, blocks, strict=True)
    )
    _rename(function, {p: _called(p, said) for p, said in given.items() if said.isidentifier()})
    tile = "".join(f", {name}={size}" for name, size in tiles.items())
    listed = ", ".join(given.values())
    yield f"    grid = lambda meta: ({grid},)"
    yield f"    {function.name}[grid]({listed}{tile}, num_warps={kernel.warps})"


def _called(param: str, said: str) -> str:
    return f"{said}_ptr" if "_ptr" in param else said if param.startswith("ks") else param


def _rename(function: ast.FunctionDef, called: Mapping[str, str]) -> None:
    """Give parameters other names, where those are free."""
    nodes = [n for n in ast.walk(function) if isinstance(n, ast.Name | ast.arg)]
    taken = {n.id if isinstance(n, ast.Name) else n.arg for n in nodes}
    for old, new in called.items():
        if new in taken:
            continue
        taken.add(new)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id == old:
                node.id = new
            elif isinstance(node, ast.arg) and node.arg == old:
                node.arg = new
