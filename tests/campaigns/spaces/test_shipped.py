"""The spaces of the shipped kernels: the knobs that a reader finds, and points that are sources."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from random import Random

import pytest

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of
from campaigns.spaces.render import FLAGS, render
from campaigns.syntax.c_family import parse
from campaigns.syntax.tunables import find_tunables
from tests.campaigns.spaces.device import HOPPER

BACKENDS = {".py": "triton", ".cu": "cuda", ".cpp": "cpp"}
PRODUCT = {"num_warps", "num_stages"}
OPTIONS = {*PRODUCT, "maxnreg"}
# The knobs of each kernel, and how many of its points are legal on the device, at least.
EXPECTED = {
    "layernorm/v0.cpp": ({"unroll_j", "unroll_j_2", "unroll_j_3", FLAGS}, 1000),
    "layernorm/v0.cu": (
        {"THREADS", "min_blocks", "unroll_j", "unroll_j_2", "unroll_j_3", FLAGS},
        10_000,
    ),
    "layernorm/v0.py": ({"BLOCK", *OPTIONS}, 1000),
    "linear/v0.cpp": ({"unroll_i", FLAGS}, 30),
    "linear/v0.py": ({"block", "BLOCK_K", *PRODUCT}, 200),
    "matmul/v0.cpp": ({"unroll_k", FLAGS}, 30),
    "matmul/v0.cu": ({"TILE", "min_blocks", "unroll_k", FLAGS}, 200),
    "matmul/v0.py": ({"BLOCK_M", "BLOCK_N", "BLOCK_K", *PRODUCT}, 1000),
    "softmax/v0.cpp": ({"unroll_j", "unroll_j_2", "unroll_j_3", FLAGS}, 1000),
    "softmax/v0.cu": (
        {"THREADS", "min_blocks", "unroll_j", "unroll_j_2", "unroll_j_3", FLAGS},
        10_000,
    ),
    # The block is the row, rounded up at run time.
    "softmax/v0.py": (OPTIONS, 100),
    "vector_add/v0.cpp": ({"unroll_i", FLAGS}, 30),
    "vector_add/v0.cu": ({"THREADS", "min_blocks", FLAGS}, 50),
    "vector_add/v0.py": ({"BLOCK", *OPTIONS}, 1000),
}


SHIPPED_KERNELS = [str(path.relative_to(SHIPPED)) for path in SHIPPED.glob("*/v0.*")]


def kernel(name: str) -> tuple[Source, str]:
    path = SHIPPED / name
    return Source(path.name, path.read_text()), BACKENDS[path.suffix]


def some_points(space, count=50):
    rng = Random(27)
    drawn = [space.sample(rng) for _ in range(count)]
    return [point for point in drawn if point is not None]


@pytest.mark.parametrize("name", sorted({*EXPECTED, *SHIPPED_KERNELS}))
def test_every_shipped_kernel_has_knobs_and_starts_at_a_legal_point_that_is_its_source(name):
    source, backend = kernel(name)
    space = space_of(source, backend, HOPPER)
    assert space.knobs
    assert space.is_legal(space.defaults) == ""
    assert render(source, space, space.defaults) == source


@pytest.mark.parametrize("name", EXPECTED)
def test_it_finds_the_knobs_of_a_shipped_kernel(name):
    source, backend = kernel(name)
    space = space_of(source, backend, HOPPER, element_bytes=4)
    expected, least = EXPECTED[name]
    assert {knob.name for knob in space.knobs} == expected
    assert len(space.points_at_most(least)) == least
    assert space.is_legal(space.defaults) == ""


@pytest.mark.parametrize("name", EXPECTED)
def test_it_finds_every_tunable_of_a_shipped_kernel_with_its_value_and_more_of_them(name):
    source, backend = kernel(name)
    sites = {
        (site.start, site.end): knob
        for knob in space_of(source, backend, HOPPER).knobs
        for site in knob.sites
        if "num_stages" not in site.form
    }
    for tunable in find_tunables(source, backend):
        if tunable.value is not None:
            knob = sites[tunable.start, tunable.end]
            assert knob.default == tunable.value
            assert len(knob.values) >= 4


@pytest.mark.parametrize("one_in", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", EXPECTED)
def test_any_point_is_a_source_whose_space_begins_there(name, one_in):
    source, backend = kernel(name)
    space = space_of(source, backend, HOPPER)
    assert render(source, space, space.defaults) == source
    points = some_points(space)
    assert len(points) == 50
    for point in points[::one_in]:
        written = render(source, space, point)
        if backend == "triton":
            compile(written.text, name, "exec")
        else:
            assert parse(written.text, cuda=backend == "cuda") is not None
        assert space_of(written, backend, HOPPER).defaults == point


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this host")
@pytest.mark.parametrize("name", ["softmax/v0.cpp", "matmul/v0.cpp", "linear/v0.cpp"])
def test_a_compiler_takes_any_point_without_a_warning(name, tmp_path):
    source, backend = kernel(name)
    space = space_of(source, backend, HOPPER)
    written = render(source, space, some_points(space)[0])
    path = tmp_path / "k.cpp"
    path.write_text(written.text)
    flags = ("-std=c++17", "-Wall", "-Werror", "-c", *written.flags)
    command = ["g++", *flags, path, "-o", tmp_path / "k.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_triton_point_computes_what_the_source_does(tmp_path):
    limits = DeviceLimits(shared_bytes_per_block=64 * 1024, registers_per_thread=None)
    for name in ("layernorm/v0.py", "matmul/v0.py"):
        source, backend = kernel(name)
        space = space_of(source, backend, limits, element_bytes=4)
        small = {n: 16 for n in space.defaults if "BLOCK_" in n}
        point = {**space.defaults, **small, "num_warps": 8, "num_stages": 1}
        op = name.split("/")[0]
        (tmp_path / f"{op}.rendered.py").write_text(render(source, space, point).text)
    source, _ = kernel("matmul/v0.py")
    (tmp_path / "matmul.fixed.py").write_text(fixed_instead_of_tuned(source).text)
    command = [sys.executable, "-m", "tests.campaigns.proposers.triton_check", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    margins = json.loads(done.stdout)
    assert len(margins) == 3
    assert all(margin <= 1 for margin in margins.values()), margins


def fixed_instead_of_tuned(source: Source) -> Source:
    """The product with a tuner and a grid that asks it, written at one of its points."""
    configs = "[triton.Config({'BLOCK_M': b, 'BLOCK_N': 32}, num_warps=4) for b in (16, 64)]"
    tuned = source.text.replace(
        "@triton.jit", f"@triton.autotune(configs={configs}, key=['M'])\n@triton.jit"
    )
    tuned = tuned.replace("BLOCK_M=block_m, BLOCK_N=block_n, ", "")
    tuned = tuned.replace("    grid = (", "    grid = lambda meta: (")
    tuned = tuned.replace("block_m)", "meta['BLOCK_M'])").replace("block_n)", "meta['BLOCK_N'])")
    given = Source(source.name, tuned)
    space = space_of(given, "triton", DeviceLimits())
    return render(given, space, {**space.defaults, "autotune": False, "BLOCK_M": 64})
