"""What a C, C++ or CUDA source demands of its knobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from campaigns.spaces.c_family.constants import divisions, shared_arrays
from campaigns.spaces.c_family.knobs import CKnobs
from campaigns.spaces.c_family.launches import CudaLaunch, kernels_of
from campaigns.spaces.constraints import Demand, DeviceLimits, product_of
from campaigns.spaces.expressions import c_expression, python_expression, resolved
from campaigns.syntax.c_family import text_of, walk


def c_demands(found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    """Conditions of `static_assert`, divisions without a rest, and the limits of a block."""
    if found.root is None:
        return
    for node in walk(found.root, "static_assert_declaration"):
        text = text_of(node.child_by_field_name("condition"))
        condition = resolved(c_expression(text), found.constants)
        yield Demand(condition, f"the source asserts {text}")
    for division in divisions(found.root):
        rest = ast.BinOp(division.left, ast.Mod(), division.right)
        whole = ast.Compare(rest, [ast.Eq()], [ast.Constant(0)])
        reason = f"the source takes {ast.unparse(division)} without a rest".replace("//", "/")
        yield Demand(resolved(whole, found.constants), reason)
    for launch in found.launches:
        yield from _block_demands(launch, found, limits)
    if limits.static_shared_bytes_per_block is not None:
        yield from _shared_demands(found, limits.static_shared_bytes_per_block)


def _block_demands(launch: CudaLaunch, found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    sides = [
        found.places.get(n.start_byte) or resolved(c_expression(text_of(n)), found.constants)
        for n in launch.sides
    ]
    threads = product_of(side for side in sides if side is not None)
    if None in sides or not threads:
        return
    if limits.threads_per_block is not None:
        reason = f"a block has at most {limits.threads_per_block} threads"
        yield _at_most(threads, str(limits.threads_per_block), reason)
    kernel = kernels_of(found.root).get(launch.kernel) if found.root is not None else None
    bounds = next(walk(kernel, "launch_bounds"), None) if kernel is not None else None
    first = bounds.named_children[0] if bounds is not None else None
    given = resolved(c_expression(text_of(first)), found.constants)
    if given is not None:
        reason = f"{launch.kernel} is bounded to fewer threads"
        yield _at_most(threads, f"({ast.unparse(given)})", reason)
    most = limits.threads_per_multiprocessor
    for knob, name in found.resident.items():
        if name == launch.kernel and most is not None:
            reason = f"a multiprocessor holds at most {most} threads"
            yield _at_most(f"{knob} * {threads}", str(most), reason)


def _shared_demands(found: CKnobs, most: int) -> Iterator[Demand]:
    kernels = kernels_of(found.root) if found.root is not None else {}
    for name, kernel in kernels.items():
        arrays = [resolved(array, found.constants) for array in shared_arrays(kernel)]
        known = [f"({ast.unparse(array)})" for array in arrays if array is not None]
        if known:
            reason = f"{name} may declare at most {most} bytes of shared memory"
            yield _at_most(" + ".join(known), str(most), reason)


def _at_most(amount: str, most: str, reason: str) -> Demand:
    return Demand(python_expression(f"{amount} <= {most}"), reason)
