"""Finds the space of a source: every number that may be changed, and what that must respect."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.evaluator.contract import Source
from campaigns.spaces.c_knobs import c_demands, find_c_knobs
from campaigns.spaces.constraints import Demand, DeviceLimits, constraints_of
from campaigns.spaces.space import Knob, KnobList, Space
from campaigns.spaces.triton_knobs import find_triton_knobs, triton_demands
from campaigns.syntax.tunables import C_BACKENDS

MOST_KNOBS = 16
# By the precision that a problem's answers have to have.
ELEMENT_BYTES = {
    "float64": 8,
    "float32": 4,
    "tfloat32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
}


def space_of(
    source: Source,
    backend: str,
    limits: DeviceLimits,
    *,
    element_bytes: int = 1,
    relaxed: bool = False,
) -> Space:
    """The space of a source, with its first `MOST_KNOBS` knobs; without a knob, the empty space.

    element_bytes: the size of what the kernel works on, at least. relaxed: with compiler flags that
    change the arithmetic.
    """
    knobs = KnobList()
    demands: Iterator[Demand]
    if backend in C_BACKENDS:
        demands = c_demands(find_c_knobs(source, backend, knobs, relaxed=relaxed), limits)
    else:
        limited = limits.registers_per_thread is not None
        found = find_triton_knobs(source.text, knobs, limits_registers=limited)
        demands = triton_demands(found, limits, element_bytes)
    first = {knob.name for knob in knobs.knobs[:MOST_KNOBS]}
    kept: list[Knob] = []
    dropped: list[Knob] = []
    for knob in knobs.knobs:
        # Those that are only written along with another stay or go with it.
        switches = {site.when[0] for site in knob.sites if site.when is not None}
        stays = switches <= first if switches else knob.name in first
        (kept if stays else dropped).append(knob)
    return Space(tuple(kept), constraints_of(demands, kept, dropped))
