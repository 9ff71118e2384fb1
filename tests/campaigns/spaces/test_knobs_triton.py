"""Knobs of Triton sources: numbers of launches, options, tuners and what goes along with them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Source
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of
from campaigns.spaces.render import render
from campaigns.syntax.tunables import find_tunables
from tests.campaigns.spaces.device import HOPPER

HEAD = "import triton\nimport triton.language as tl\n\n"
COPY = """\
@triton.jit
def copy(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < N), mask=at < N)

"""
UNLIMITED = DeviceLimits()
META = "copy[lambda meta: (triton.cdiv(N, meta['BLOCK']),)](x, y, N)"


def source(launch: str, before: str = "", kernel: str = COPY) -> Source:
    return Source("k.py", f"{HEAD}{before}{kernel}\ndef run_kernel(x, y, N):\n    {launch}\n")


def space(given: Source, limits: DeviceLimits = UNLIMITED):
    return space_of(given, "triton", limits)


def knobs(given: Source, limits: DeviceLimits = UNLIMITED):
    return {knob.name: knob for knob in space(given, limits).knobs}


def rendered(given: Source, **values):
    found = space(given)
    return render(given, found, {**found.defaults, **values}).text


def test_a_number_given_by_position_is_a_knob():
    given = source("copy[(triton.cdiv(N, B),)](x, y, N, B)", before="B = 64\n")
    assert knobs(given)["BLOCK"].default == 64
    assert rendered(given, BLOCK=512) == given.text.replace("B = 64", "B = 512")


def test_a_number_that_the_signature_gives_is_a_knob_where_nothing_else_gives_it():
    kernel = COPY.replace("constexpr)", "constexpr = 64)")
    given = source(META, kernel=kernel)
    assert rendered(given, BLOCK=256) == given.text.replace("= 64)", "= 256)")
    assert knobs(source("copy[(1,)](x, y, N, 32)", kernel=kernel))["BLOCK"].default == 32
    decorator = "@triton.heuristics({'BLOCK': lambda args: 128})\n"
    assert "BLOCK" not in knobs(source(META, kernel=decorator + kernel))
    tuned = f"@triton.autotune({CONFIGS['listed']}, key=['N'])\n"
    assert knobs(source(META, kernel=tuned + kernel))["BLOCK"].values == (64, 256)


def test_a_number_that_reaches_two_arguments_is_one_knob_under_its_own_name():
    kernel = COPY.replace("BLOCK: tl", "WIDE: tl.constexpr, BLOCK: tl")
    given = source("b = 64; copy[(N,)](x, y, N, BLOCK=b, WIDE=b)", kernel=kernel)
    assert list(knobs(given)) == ["b", "num_warps", "num_stages"]


def test_a_grid_that_divides_by_the_number_is_written_along_with_it():
    given = source("copy[(triton.cdiv(N, 128),)](x, y, N, BLOCK=128)")
    text = rendered(given, BLOCK=1024)
    assert "copy[(triton.cdiv(N, 1024),)](x, y, N, BLOCK=1024)" in text
    assert knobs(Source("k.py", text))["BLOCK"].default == 1024


@pytest.mark.parametrize(
    "launch",
    [
        "copy[((N + 127) // 128,)](x, y, N, BLOCK=128)",
        "copy[(triton.cdiv(N, 128), 128)](x, y, N, BLOCK=128)",
    ],
)
def test_a_number_that_the_grid_repeats_otherwise_is_left_alone(launch):
    assert "BLOCK" not in knobs(source(launch))


def test_quotients_of_one_number_belong_to_the_arguments_of_their_names():
    kernel = COPY.replace("BLOCK: tl.constexpr", "BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr")
    kernel = kernel.replace("K: tl.constexpr)", "K: tl.constexpr, B_N: tl.constexpr)")
    kernel = kernel.replace("BLOCK +", "BLOCK_M +").replace("0, BLOCK)", "0, BLOCK_M)")
    grid = "copy[(triton.cdiv(x.M, 64), triton.cdiv(n_N, 64))]"
    given = source(f"{grid}(x, y, N, BLOCK_M=64, BLOCK_K=64, B_N=64)", kernel=kernel)
    assert [n for n in knobs(given) if "num" not in n] == []
    grid = "copy[(triton.cdiv(M, 64), triton.cdiv(n_N, 64))]"
    given = source(f"{grid}(x, y, N, BLOCK_M=64, BLOCK_K=64, B_N=64)", kernel=kernel)
    text = rendered(given, BLOCK_M=128, BLOCK_K=32)
    assert "cdiv(M, 128), triton.cdiv(n_N, 64))](x, y, N, BLOCK_M=128, BLOCK_K=32, B_N=64)" in text
    assert "cdiv(M, 64), triton.cdiv(n_N, 16))](x, y, N, BLOCK_M=64, BLOCK_K=64, B_N=16)" in (
        rendered(given, B_N=16)
    )


def test_options_are_added_where_they_are_absent_and_none_where_they_may_be_given_unseen():
    given = source("copy[(N,)](x, y, N, BLOCK=64, num_warps=2)")
    assert {n: k.default for n, k in knobs(given).items()} == {
        "BLOCK": 64,
        "num_warps": 2,
        "num_stages": 3,
    }
    assert "num_warps=2, num_stages=5)" in rendered(given, num_stages=5)
    assert list(knobs(source("copy[(N,)](x, y, N, BLOCK=64, **options)"))) == ["BLOCK"]


def test_registers_are_limited_only_on_a_device_that_can():
    given = source("copy[(N,)](x, y, N, BLOCK=64)")
    assert "maxnreg" not in knobs(given)
    found = knobs(given, HOPPER)["maxnreg"]
    assert found.default == 0
    stated = source("copy[(N,)](x, y, N, BLOCK=64, maxnreg=80)")
    assert knobs(stated)["maxnreg"].values == (64, 80, 96, 128, 168)


def test_a_constant_of_the_module_is_a_knob():
    kernel = COPY.replace(", BLOCK: tl.constexpr", "")
    for before in ("BLOCK: tl.constexpr = 64\n", "BLOCK = tl.constexpr(64)\n"):
        given = source("copy[(triton.cdiv(N, BLOCK),)](x, y, N)", before, kernel)
        assert rendered(given, BLOCK=256) == given.text.replace("64", "256")


def test_two_kernels_have_knobs_of_their_own_and_two_launches_of_one_are_numbered():
    kernel = COPY + COPY.replace("copy", "other")
    two = source("copy[(N,)](x, y, N, BLOCK=64); other[(N,)](x, y, N, BLOCK=32)", kernel=kernel)
    assert {n: k.default for n, k in knobs(two).items() if n.endswith("BLOCK")} == {
        "copy_BLOCK": 64,
        "other_BLOCK": 32,
    }
    twice = source("copy[(N,)](x, y, N, BLOCK=64); copy[(N,)](y, x, N, BLOCK=32)")
    assert [n for n in knobs(twice) if "BLOCK" in n] == ["BLOCK", "BLOCK_2"]
    assert "copy[(N,)](y, x, N, BLOCK=128)" in rendered(twice, BLOCK_2=128)


CONFIGS = {
    "listed": "[triton.Config({'BLOCK': 256}, num_warps=8), triton.Config({'BLOCK': 64})]",
    "comprehended": "[triton.Config({'BLOCK': b}, num_warps=w) for b in (256, 64) for w in (8, 4)]",
    "in pairs": "[triton.Config({'BLOCK': b}, num_warps=w) for b, w in [(256, 8), (64, 4)]]",
    "by name": "CONFIGS",
}
NAMED = f"CONFIGS = {CONFIGS['listed']}\n"


@pytest.mark.parametrize("configs", CONFIGS.values(), ids=CONFIGS)
def test_a_tuner_is_replaced_by_a_fixed_launch(configs):
    decorator = f"@triton.autotune(configs={configs}, key=['N'])\n"
    given = source(META, before=NAMED, kernel=decorator + COPY)
    found = knobs(given)
    assert found["BLOCK"].values == (64, 256)
    assert (found["BLOCK"].default, found["num_warps"].values) == (256, (4, 8))
    assert rendered(given) == given.text
    text = rendered(given, autotune=False, num_stages=2)
    launch = META.replace("N)", "N, BLOCK=256, num_warps=8, num_stages=2)")
    assert text == given.text.replace(decorator, "").replace(META, launch)


def test_a_number_that_a_tuner_does_not_vary_is_written_too():
    decorator = "@triton.autotune([triton.Config({'BLOCK': 64}, num_stages=4)], key=[])\n"
    given = source(META, kernel=decorator + COPY)
    assert "BLOCK" not in knobs(given)
    assert "x, y, N, BLOCK=64, num_stages=4, num_warps=8)" in rendered(
        given, autotune=False, num_warps=8
    )


def test_as_long_as_the_tuner_stays_nothing_else_is_chosen():
    decorator = f"@triton.autotune(configs={CONFIGS['listed']}, key=['N'])\n"
    found = space(source(META, kernel=decorator + COPY))
    assert found.is_legal(found.defaults) == ""
    assert "tuner" in found.is_legal({**found.defaults, "BLOCK": 64})
    assert found.is_legal({**found.defaults, "autotune": False, "BLOCK": 64}) == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "configs=make_configs(), key=['N']",
        "configs=[triton.Config({'BLOCK': 64}, pre_hook=clear)], key=['N']",
        "configs=[triton.Config({'BLOCK': 64}, ir_override='a.ttgir')], key=['N']",
        "configs=[triton.Config({'BLOCK': 64})], key=['N'], pre_hook=clear",
        "configs=[triton.Config({'BLOCK': 64}), triton.Config({'WIDE': 64})], key=['N']",
        "configs=[triton.Config({'BLOCK': size})], key=['N']",
        "key=['N']",
    ],
)
def test_a_tuner_that_is_not_understood_keeps_its_kernel(arguments):
    assert knobs(source(META, kernel=f"@triton.autotune({arguments})\n{COPY}")) == {}


def test_a_tuner_that_is_kept_keeps_all_that_it_chooses():
    numbers = ", ".join(f"'A{n}': 1" for n in range(20))
    more = ", ".join(f"'A{n}': 2" for n in range(20))
    configs = f"[triton.Config({{{numbers}}}), triton.Config({{{more}}})]"
    kernel = f"@triton.autotune({configs}, key=[])\n{COPY}"
    found = space(source("copy[(N,)](x, y, N, BLOCK=64)", kernel=kernel))
    assert len(found.knobs) == 1 + 20 + 2
    assert "BLOCK" not in found.defaults


def test_what_a_heuristic_decides_is_left_alone():
    kernel = COPY.replace("BLOCK: tl", "EVEN: tl.constexpr, BLOCK: tl")
    decorator = "@triton.heuristics({'EVEN': lambda args: args['N'] % args['BLOCK'] == 0})\n"
    given = source("copy[(N,)](x, y, N, BLOCK=64)", kernel=decorator + kernel)
    assert list(knobs(given)) == ["BLOCK", "num_warps", "num_stages"]


def test_what_the_source_asserts_has_to_hold():
    kernel = COPY.replace("    at =", "    tl.static_assert(BLOCK % 128 == 0, 'whole')\n    at =")
    given = source("assert b <= 1024; copy[(N,)](x, y, N, BLOCK=b)", "b = 256\n", kernel)
    found = space(given)
    legal = {p["BLOCK"] for p in found.points()}
    assert legal == {128, 256, 512, 1024}
    assert found.is_legal({**found.defaults, "BLOCK": 64}) == (
        "the kernel asserts BLOCK % 128 == 0"
    )
    assert found.is_legal({**found.defaults, "BLOCK": 2048}) == "the source asserts b <= 1024"


def test_an_assertion_on_what_is_not_known_is_no_constraint():
    given = source("assert N % 64 == 0; copy[(N,)](x, y, N, BLOCK=64)")
    assert space(given).constraints == ()


def test_a_tensor_of_two_axes_has_at_most_so_many_elements():
    kernel = COPY.replace("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK)[:, None] + tl.arange(0, W)")
    kernel = kernel.replace("BLOCK: tl", "W: tl.constexpr, BLOCK: tl")
    given = source("copy[(N,)](x, y, N, BLOCK=256, W=4096)", kernel=kernel)
    found = space(given)
    assert "1048576 elements" in found.is_legal({**found.defaults, "BLOCK": 1024})
    assert found.is_legal({**found.defaults, "BLOCK": 128}) == ""


PRODUCT = """\
@triton.jit
def copy(x, y, N, M: tl.constexpr, K: tl.constexpr):
    rows, inner = tl.arange(0, M), tl.arange(0, K)
    total = tl.zeros((M, M), dtype=tl.float32)
    for start in range(0, N, K):
        a = tl.load(x + rows[:, None] * N + inner[None, :] + start)
        total += tl.dot(a, tl.trans(a))
    tl.store(y + rows[:, None] * M + rows[None, :], total)

"""


def test_a_product_keeps_its_stages_in_shared_memory_and_its_sums_in_registers():
    given = source("copy[(1,)](x, y, N, M=64, K=32)", kernel=PRODUCT)
    found = space_of(given, "triton", HOPPER, element_bytes=4)
    assert [knob.values for knob in found.knobs[:2]] == [(16, 32, 64, 128, 256)] * 2
    # Three stages of two tiles of 128 × 64 values: 192 KiB of 227.
    most = {**found.defaults, "M": 128, "K": 64, "num_warps": 8, "num_stages": 4}
    assert found.is_legal(most) == ""
    assert "stages of a tile" in found.is_legal({**most, "num_stages": 5})
    assert "than its threads have" in found.is_legal({**most, "num_warps": 2})
    assert "than a block has" in found.is_legal({**most, "M": 256, "num_warps": 32})
    assert "stages of a tile" in found.is_legal({**most, "K": 256, "num_stages": 1})
    elsewhere = replace(HOPPER, sums_in_registers=False)
    assert space_of(given, "triton", elsewhere).is_legal({**most, "num_warps": 2}) == ""
    assert space_of(given, "triton", UNLIMITED).constraints == ()


def test_products_that_no_matrix_unit_does_are_not_unrolled_without_end():
    exact = PRODUCT.replace("tl.trans(a))", "tl.trans(a), input_precision='ieee')")
    given = source("copy[(1,)](x, y, N, M=64, K=32)", kernel=exact)
    found = space_of(given, "triton", UNLIMITED, element_bytes=4)
    large = {**found.defaults, "M": 128, "K": 64}
    assert "more than 4096 multiply-adds" in found.is_legal(large)
    assert found.is_legal({**large, "num_warps": 8}) == ""
    assert space_of(given, "triton", UNLIMITED, element_bytes=2).is_legal(large) == ""
    rounded = source("copy[(1,)](x, y, N, M=64, K=32)", kernel=PRODUCT)
    assert space_of(rounded, "triton", UNLIMITED, element_bytes=4).is_legal(large) == ""


def test_every_tunable_is_found_where_no_tuner_chooses():
    given = source("b = 64; copy[(N,)](x, y, N, BLOCK=b, num_warps=4)")
    places = {site.start for knob in space(given).knobs for site in knob.sites}
    assert {tunable.start for tunable in find_tunables(given, "triton")} == places


def test_a_kernel_inside_a_function_and_a_decorator_of_several_lines_are_read():
    decorator = f"@triton.autotune(\n    configs={CONFIGS['listed']},\n    key=['N'],\n)\n"
    inner = "".join(f"    {line}\n" for line in (decorator + COPY).splitlines())
    runner = f"    def run_kernel(x, y, N):\n        {META}\n    return run_kernel\n"
    text = f"{HEAD}def make():\n{inner}{runner}"
    written = rendered(Source("k.py", text), autotune=False)
    assert "    @triton.jit\n    def copy" in written
    assert "autotune" not in written
    compile(written, "k.py", "exec")


def test_texts_in_other_letters_keep_their_bytes():
    given = source("copy[(N,)](x, y, N, BLOCK=64)", before='"""Größe, 大きさ."""\n')
    text = rendered(given, BLOCK=128, num_warps=1)
    assert text == given.text.replace("BLOCK=64)", "BLOCK=128, num_warps=1)")
    ast.parse(text)


def test_a_source_that_does_not_parse_has_no_knob():
    assert space(Source("k.py", "def (")).size == 1
    assert space(Source("k.py", "x = 1")).knobs == ()
