"""Inductor's Triton as one plain source file: kernels, and the `run_kernel` that launches them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import prod

from campaigns.evaluator.contract import Source
from campaigns.proposers.first.module import (
    WORD,
    NotPrinted,
    kernels_of,
    operators,
    renamed,
    steps_of,
)
from campaigns.proposers.recipes.base import template

# What Triton's own language has for functions of torch's and of a device library.
OWN = re.compile(
    r"libdevice\.(?=(?:exp2?|log2?|r?sqrt|erf|sin|cos|floor|ceil|abs)\()|tl_math\.|triton_helpers\.(?=\w+)"
)
HELPER = re.compile(r"\b(?:maximum|minimum|max2|min2)\(")
FUNCTION = re.compile(r"@triton\.jit\ndef (\w+)\(([^)]*)\):\n(.*)", re.DOTALL)
HINTS = re.compile(r"size_hints=(\{[^}]*\})")
# Names that Inductor gives, and mostly does not read.
UNREAD = (
    "rnumel",
    "RBLOCK",
    "roffset",
    "rindex",
    "rbase",
    "r0_offset",
    "r0_mask",
    "r0_numel",
    "xnumel",
)
# Where Inductor begins: elements of a tile, with a sum its row, and of one warp.
FLAT, WIDE, LONGEST, OF_A_WARP, MOST_WARPS = 1024, 32, 2048, 256, 16


def triton_source(text: str, inputs: Sequence[tuple[str, str]], note: str) -> Source:
    """A file with `run_kernel`. inputs: name and kind of its arguments.

    note: one line that says where the kernel comes from. Raises NotPrinted, and what parsing of
    Python raises.
    """
    kernels, names = kernels_of(text), [name for name, _ in inputs]
    shown, lines = dict[str, str](), list[str]()

    def view(*args: str) -> str:
        return f"torch.as_strided({', '.join(args)})"

    for step in steps_of(text, kernels, names, view):
        given = ", ".join(step.args)
        if step.what == "made":
            where = f"dtype={step.args[3]}, device={names[0]}.device"
            lines.append(f"{step.name} = torch.empty_strided({', '.join(step.args[1:3])}, {where})")
        elif step.what == "library":
            lines.append(f"torch.{step.name}({given})")
        else:
            shown[step.name], launch = _launched(kernels[step.name], step.args)
            lines += launch
    code = "\n\n\n".join(shown.values())
    head = [f"# {note}", "import torch\nimport triton\nimport triton.language as tl"]
    head += ["from triton.language.extra import libdevice"] if "libdevice." in code else []
    parts = [
        "\n".join(head),
        *([template("extremes.py.txt").strip()] if HELPER.search(code) else []),
        code,
    ]
    run = "\n    ".join([f"def run_kernel({', '.join(names)}):", *lines])
    return Source("kernel.py", "\n\n\n".join([*parts, run]) + "\n")


def _launched(source: str, args: Sequence[str]) -> tuple[str, list[str]]:
    """A kernel with names of what it is given, and the lines that launch it. Raises NotPrinted."""
    found, hints = FUNCTION.search(source), HINTS.search(source)
    if found is None or hints is None or "'grid_type': 'Grid" not in source:
        raise NotPrinted("a kernel is launched in a way that is not known here")
    params = [one.split(":")[0].strip() for one in found[2].split(",")]
    sizes = {str(axis): int(size) for axis, size in ast.literal_eval(hints[1]).items()}
    tiles = _tiles(sizes, is_outer="ReductionHint.OUTER" in source)
    asked = params[len(args) :]
    given = dict(zip(params, args, strict=False))
    words = {*WORD.findall(found[0])}
    called = {
        param: new
        for param, arg in given.items()
        if arg.isidentifier() and (new := _called(param, arg)) not in words
    }
    name = re.sub(r"^triton_[a-z]+_|_(?=_)", "", found[1])
    body = OWN.sub(lambda one: "tl." if "helpers" not in one[0] else "", renamed(found[3], called))
    for word in UNREAD:
        stores = re.compile(rf"^ *{word}(?:: tl\.constexpr)? = .*\n", re.MULTILINE)
        if len(stores.findall(body)) == len(re.findall(rf"\b{word}\b", body)):
            body = stores.sub("", body)
    title = (
        f"# Fused: {operators(found[1])}\n@triton.jit\ndef {name}({renamed(found[2], called)}):\n"
    )
    grid = ", ".join(
        f'triton.cdiv({given[f"{axis}numel"]}, meta["{axis.upper()}BLOCK"])'
        if f"{axis.upper()}BLOCK" in asked
        else given[f"{axis}numel"]
        for axis in ("x", "y", "z")
        if f"{axis}numel" in given
    )
    warps = min(MOST_WARPS, max(1, prod(tiles.values()) // OF_A_WARP))
    told = [*args, *(f"{tile}={tiles[tile]}" for tile in asked), f"num_warps={warps}"]
    return f"{title}{body.rstrip()}", [
        f"grid = lambda meta: ({grid},)",
        f"{name}[grid]({', '.join(told)})",
    ]


def _called(param: str, arg: str) -> str:
    return f"{arg}_ptr" if "_ptr" in param else arg if param.startswith("ks") else param


def _tiles(sizes: Mapping[str, int], *, is_outer: bool) -> dict[str, int]:
    """Powers of two by the name of a tile. sizes: of each axis, the next power of two."""
    sums = [axis for axis in sizes if axis[0] == "r"]
    if sums:
        wanted = {axis: LONGEST if axis in sums else 1 for axis in sizes}
        wanted = {axis: 8 if axis in sums else 64 for axis in sizes} if is_outer else wanted
    else:
        wanted = dict.fromkeys(sizes, FLAT if len(sizes) == 1 else WIDE)
    return {f"{axis.upper()}BLOCK": min(size, sizes[axis]) for axis, size in wanted.items()}
