"""A stored profile: what a candidate may have written into it changes no other number."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Function, MachineCode, Profile
from campaigns.evaluator.contract.programs import NCU_LAUNCHES
from campaigns.profiles.classify import classify
from campaigns.profiles.kernel_profile import HotLine, plain_name
from campaigns.profiles.metrics import METRICS
from campaigns.profiles.occupancy import SmLimits
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.reading import MovedBytes, moved_bytes, read_profile
from campaigns.reports.kernel.code_sheet import Ran, code_sheet
from tests.campaigns.profiles import counted

NAMES = ("duration_us", "grid", "block", "dram_read_bytes", "dram_write_bytes", "sm_pct")
UNITS = {"duration_us": "us", "dram_read_bytes": "byte", "dram_write_bytes": "byte"}
GOOD = "kernel,file,line,state,samples\nk,candidate.cu,7,wait,3\n"


def profile(*launches: tuple, calls: int = 1, lines: str = "") -> Profile:
    """Of launches as (kernel, µs, grid, bytes read)."""
    head = ("ID", "Kernel Name", *(METRICS[name].counter for name in NAMES))
    units = ("", "", *(UNITS.get(name, "") for name in NAMES[:-1]), "%")
    rows = [(0, name, us, grid, 64, moved, 0, 50) for name, us, grid, moved in launches]
    table = "\n".join(",".join(f'"{cell}"' for cell in row) for row in (head, units, *rows))
    return Profile("ncu", "one", f"{table}\n", calls, lines=lines)


def test_a_kernel_is_shown_by_the_shape_that_takes_its_time():
    big, small = ("k", 1000.0, 8000, 9), ("k", 1.0, 1, 9)
    found = read_profile(profile(big, small, small, ("other", 10.0, 1, 9)))
    assert (found.main.values["duration_us"], found.main.values["grid"]) == (1000, 8000)
    assert found.launches == (3, 1)
    assert found.share == pytest.approx(1002 / 1012)


def test_moved_bytes_are_those_of_every_launch_of_all_calls():
    passes = [("k", 5.0, 1, nbytes) for nbytes in (100e6, 10e6, 1e6)]
    found = read_profile(profile(*passes * 3, calls=3))
    assert moved_bytes(found, 111e6, 0.0).measured == pytest.approx(111e6)


def test_a_formula_is_doubted_only_where_all_of_a_call_was_counted():
    def moved(call_us: float | None):
        found = read_profile(profile(("k", 9.0, 1, 10e6)), KernelWork(call_us=call_us))
        return moved_bytes(found, 100e6, 1e6)

    assert moved(10.0).contradicts
    # A library's kernel, or a copy, may have moved the rest.
    assert not moved(90.0).contradicts
    assert not moved(None).contradicts


def test_where_a_call_may_have_been_cut_nothing_is_said_of_its_bytes():
    found = read_profile(profile(*[("k", 9.0, 1, 10e6)] * NCU_LAUNCHES, calls=3))
    assert moved_bytes(found, 1e9, 0.0) is None


@pytest.mark.parametrize(
    "row",
    [
        "k,candidate.cu,5,wait,",
        f"k,candidate.cu,5,wait,{'9' * 5000}",
        f"k,candidate.cu,{'9' * 5000},wait,1",
        "k,candidate.cu,²,wait,1",
        "k,candidate.cu,5\r7,wait,1",
        f'"{"a" * 140_000}",candidate.cu,5,wait,1',
        "k",
    ],
)
def test_samples_that_are_none_take_no_counter_with_them(row):
    found = read_profile(profile(("k", 9.0, 1, 9), lines=f"{GOOD}{row}\n"))
    assert found.main.lines == ()
    assert found.main.values["duration_us"] == 9
    assert read_profile(profile(("k", 9.0, 1, 9), lines=GOOD)).main.lines[0].line == 7


@pytest.mark.parametrize("text", ["1.7e308", "1e19", "inf", "nan", "-1"])
def test_a_number_that_no_counter_comes_to_is_none(text):
    found = read_profile(profile(("k", 9.0, text, 9), ("k", 9.0, text, 9)))
    assert "grid" not in found.main.values
    assert found.main.odd == {METRICS["grid"].counter: text}
    share = profile(("k", 9.0, 1, 9)).text.replace('"50"', '"9500"')
    assert "sm_pct" not in read_profile(Profile("ncu", "one", share)).main.values


def test_a_name_is_kept_in_one_line_of_a_length_that_people_write():
    found = read_profile(profile(("k" * 60_000, 9.0, 1, 9)))
    assert found.main.kernel == "k" * 400


def test_the_last_blocks_are_not_blamed_without_their_counters():
    values = read_profile(counted("tail_naive")).main.values
    assert classify(values).kind == "tail"
    assert classify({k: v for k, v in values.items() if k != "busy_cycles"}).kind != "tail"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("void k<4, 256>(const float *)", "void k<4, 256>(float const*)"),
        ("void k<(Op)1>(float *)", "void k<1>(float*)"),
        ("<unnamed>::a(float *)", "(anonymous namespace)::a(float*)"),
        ("void k<256>(float *)", "void k<256u>(float*)"),
        ("void k<1>(float *)", "void k<true>(float*)"),
        ("k", "k(float*)"),
    ],
)
def test_a_kernel_is_known_by_its_name_however_a_tool_spells_it(one, other):
    assert plain_name(one) == plain_name(other)


def test_other_kernels_have_other_names():
    names = ("void k<(Op)0>(float*)", "void k<(Op)1>(float*)", "k<f(1)>(int)", "k(int)")
    assert len({plain_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("source", ["candidate.h:2", "standard.py:170", "candidate.cu.inc:3", ""])
def test_a_line_of_another_file_is_none_of_the_source(source):
    assert HotLine("", source, "stall_wait", 1, 1).line == 0


def test_of_overloads_none_is_the_counted_one():
    kernel = read_profile(profile(("k(int *)", 9.0, 1, 9), lines=GOOD)).main
    functions = tuple(Function(name, 1, {"other": 1}) for name in ("k(float*)", "k(int*)"))

    def is_counted(*found: Function) -> list[bool]:
        sheet = code_sheet(
            MachineCode("", found), "", SmLimits(), lambda _: (), ran=Ran(counted=kernel)
        )
        return [one.is_counted for one in sheet.functions]

    assert is_counted(*functions) == [False, False]
    assert is_counted(functions[1], Function("other()", 1, {"other": 1})) == [True, False]


def test_it_says_why_counters_of_one_kernel_differ():
    shares = {"duration_us": 31.0, "waves": 4.0, "sm_pct": 32.0, "dram_pct": 72.0}
    alike = classify(shares | {"memory_pct": 72.3, "l2_pct": 72.0}).why
    assert alike == "SMs at 32 %, memory at 72 %, DRAM at 72 %"
    assert (
        "L2 at 88 %, by parts that" in classify(shares | {"memory_pct": 72.3, "l2_pct": 88.4}).why
    )
    assert "(memory is its busiest part" in classify(shares | {"memory_pct": 88.4}).why


@pytest.mark.parametrize(
    ("counted", "why"),
    [
        (134e6, ""),
        (108e6, "counters see what reached DRAM, and a cache may hold the rest"),
        (20e6, "the formula counts bytes that are never moved"),
        (268e6, "2 times what it needs"),
    ],
)
def test_it_says_why_counted_bytes_are_not_those_of_the_formula(counted, why):
    assert MovedBytes(counted, 134e6, 50e6, is_all=True).why == why
