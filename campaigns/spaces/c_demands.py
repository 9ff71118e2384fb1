"""What a C, C++ or CUDA source demands of its knobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from campaigns.spaces.c_constants import divisions, shared_arrays
from campaigns.spaces.c_launches import CudaLaunch, kernels_of
from campaigns.spaces.constraints import Demand, DeviceLimits, demand, product_of
from campaigns.spaces.expressions import c_expression
from campaigns.spaces.knobs_c_family import CKnobs
from campaigns.syntax.c_family import text_of, walk


def c_demands(found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    """Conditions of `static_assert`, divisions without a rest, and the limits of a block."""
    if found.root is None:
        return
    for node in walk(found.root, "static_assert_declaration"):
        text = text_of(node.child_by_field_name("condition"))
        yield Demand(c_expression(text), f"the source asserts {text}", found.constants)
    for division in divisions(found.root, found.constants):
        rest = ast.BinOp(division.left, ast.Mod(), division.right)
        whole = ast.Compare(rest, [ast.Eq()], [ast.Constant(0)])
        reason = f"the source takes {ast.unparse(division)} without a rest"
        yield Demand(whole, reason.replace("//", "/"), found.constants)
    for launch in found.launches:
        yield from _block_demands(launch, found, limits)
    if limits.static_shared_bytes_per_block is not None:
        yield from _shared_demands(found, limits.static_shared_bytes_per_block)


def _block_demands(launch: CudaLaunch, found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    sides = [found.places.get(n.start_byte) or c_expression(text_of(n)) for n in launch.sides]
    if None in sides:
        return
    threads = product_of(side for side in sides if side is not None)
    if limits.threads_per_block is not None:
        reason = f"a block has at most {limits.threads_per_block} threads"
        yield demand(f"{threads} <= {limits.threads_per_block}", reason, found.constants)
    kernel = kernels_of(found.root).get(launch.kernel) if found.root is not None else None
    bounds = next(walk(kernel, "launch_bounds"), None) if kernel is not None else None
    given = c_expression(text_of(bounds.named_children[0])) if bounds is not None else None
    if given is not None:
        reason = f"{launch.kernel} is bounded to fewer threads"
        yield demand(f"{threads} <= ({ast.unparse(given)})", reason, found.constants)
    most = limits.threads_per_multiprocessor
    for knob, name in found.resident.items():
        if name == launch.kernel and most is not None:
            reason = f"a multiprocessor holds at most {most} threads"
            yield demand(f"{knob} * {threads} <= {most}", reason, found.constants)


def _shared_demands(found: CKnobs, most: int) -> Iterator[Demand]:
    kernels = kernels_of(found.root) if found.root is not None else {}
    for name, kernel in kernels.items():
        arrays = list(shared_arrays(kernel))
        if arrays:
            total = " + ".join(f"({ast.unparse(array)})" for array in arrays)
            reason = f"{name} may declare at most {most} bytes of shared memory"
            yield demand(f"{total} <= {most}", reason, found.constants)
