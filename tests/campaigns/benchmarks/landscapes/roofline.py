"""A matrix product's times by a roofline with waves, for a replay where no device is.

Its formula is not that of `campaigns.spaces.matmul_model`: it knows which way the tiles lie, counts
what a thread reads for each multiply-add, and is rough, as a compiler makes it.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2, sqrt
from random import Random

from campaigns.benchmarks.landscapes.landscape import (
    Landscape,
    LandscapeHeader,
    LandscapeRow,
    RecordedKnob,
)
from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.spaces.find import space_of
from campaigns.strategies.base import SearchTrial, TrialFailure
from tests.campaigns.spaces.device import HOPPER

SIDE, MULTIPROCESSORS, PEAK, CACHE, SHARED = 1024, 132, 67e12, 5.5e12, 227 * 1024
ROUGH = 0.015


def product_space():
    """The shipped Triton product on an H100: 4,500 points."""
    source = Source("v0.py", (SHIPPED / "matmul" / "v0.py").read_text())
    return space_of(source, "triton", replace(HOPPER), element_bytes=4)


def time_us(point, rough):
    m, n, k, warps, stages = (int(value) for value in point.values())
    sums = m * n / (32 * warps)
    # Operands that a thread reads from shared memory for each multiply-add, and its registers.
    rate = 1 / (1 + 1.5 / sqrt(sums)) / max(1.0, (2.2 * sums + 40) / 255) ** 2
    shared = (m + n) * k * 4 * max(1, stages - 1)
    resident = max(1, min(SHARED // shared, 64 // warps, int(2048 / (warps * (sums + 40)))))
    blocks = ceil(SIDE / m) * ceil(SIDE / n)
    at_once = min(resident, ceil(blocks / MULTIPROCESSORS))
    waves = ceil(blocks / (MULTIPROCESSORS * at_once))
    busy = min(1.0, (at_once * warps / 8) ** 0.35)
    products = 2 * m * n * SIDE * at_once * waves * MULTIPROCESSORS / (PEAK * rate * busy)
    reads = blocks * (m + n) * SIDE * 4 / CACHE * (1 + 0.1 * max(0.0, log2(128 / n)))
    # What no pipeline hides: the more stages, blocks and work a turn, the less.
    hidden = 1 + 0.3 / (max(0.5, stages - 1) * sqrt(at_once * k / 32)) + 0.02 * stages
    turns = 1 + 1.6 / k + (0.05 if k * sums > 2048 else 0)
    return 1e6 * (products**3 + reads**3) ** (1 / 3) * hidden * turns * rough


def product_landscape(seed=1):
    space, rng = product_space(), Random(seed)
    rows = []
    for point in space.points():
        us = time_us(point, rng.lognormvariate(0, ROUGH))
        m, n, k, _, stages = point.values()
        fits = (m + n) * k * 4 * stages <= 2 * SHARED
        trial = SearchTrial(us) if fits else SearchTrial(failure=TrialFailure.PRUNED)
        rows.append(LandscapeRow(tuple(point.values()), trial))
    knobs = tuple(RecordedKnob(knob.name, knob.values) for knob in space.knobs)
    return Landscape.of(LandscapeHeader(kernel="matmul", knobs=knobs, made="roofline"), rows)
