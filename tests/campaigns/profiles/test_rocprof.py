"""rocprofv3's files: `rocprof/` has them written by hand after the documented formats.

No AMD card printed them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.profiles.amd import Card
from campaigns.profiles.classify import classify
from campaigns.profiles.findings import findings
from campaigns.profiles.kernel_profile import ProfileError, Vendor, one_of
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.rocprof import read_counters, read_trace
from tests.campaigns.profiles.test_occupancy import MI300X

FOLDER = Path(__file__).parent / "rocprof"
PASSES = {name: (FOLDER / name).read_text() for name in ("pass_1.csv", "pass_2.csv")}
FIRST = PASSES["pass_1.csv"]
TRACE = (FOLDER / "stats.csv").read_text()
CARD = Card(304, 5.3e12, MI300X)


def refused(files, words):
    with pytest.raises(ProfileError) as error:
        read_counters(files)
    assert words in str(error.value)
    assert "accepted: " in str(error.value)


def test_passes_are_joined_by_kernel_and_launch():
    found = read_counters(PASSES)
    assert [one.kernel.partition("(")[0] for one in found] == ["copy", "gemm<64>", "copy"]
    assert {one.vendor for one in found} == {Vendor.AMD}
    assert found[2].values == {
        "duration_us": 100.0,
        "grid": 4096,
        "block": 256,
        "registers": 16,
        "sum_registers": 0,
        "scalar_registers": 32,
        "shared_bytes": 0,
        "scratch_bytes": 0,
        "valu_pct": 6.0,
        "tensor_pct": 0.0,
        "sm_pct": 6.0,
        "memory_pct": 91.0,
        "dram_read_bytes": 204800 * 1024,
        "dram_write_bytes": 204800 * 1024,
    }
    assert one_of(found, "gemm", "pass_1.csv").values["scratch_bytes"] == 32
    with pytest.raises(ProfileError, match=r"'' finds several: copy\(.*, gemm<64>"):
        one_of(found, "", "pass_1.csv")


def test_r25_with_its_card_a_kernel_of_amd_gets_a_class_by_the_same_rules():
    copy, gemm, _ = read_counters(PASSES, CARD)
    assert classify(copy.values).words == "memory dram"
    assert copy.values["dram_pct"] == pytest.approx(100 * 2 * 204800 * 1024 / 100e-6 / 5.3e12)
    assert classify(gemm.values).words == "compute alu"
    names = [one.name for one in findings(gemm, KernelWork(multiplies=True))]
    assert names == ["tensor_idle", "scratch", "occupancy_by_registers", "occupancy_by_shared"]


def test_r25_what_counters_do_not_tell_is_unknown_by_name():
    copy, *_ = read_counters(PASSES)
    found = classify(copy.values)
    assert (found.kind, found.why) == ("unknown", "not counted: waves, dram_pct")


@pytest.mark.parametrize(
    ("other", "name", "value"),
    [("TCC_EA_RDREQ_32B_sum", "reads_32b", 90), ("FetchSize", "dram_read_bytes", 90 * 1024)],
)
def test_other_names_of_a_counter_are_read_as_the_one(other, name, value):
    text = FIRST.replace("MemUnitBusy", other)
    assert read_counters({"a.csv": text})[0].values[name] == value


def test_columns_that_an_older_version_lacks_are_not_made_up():
    text = 'Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,"L2CacheHit",50\n'
    assert read_counters({"a.csv": text})[0].values == {"l2_hit_pct": 50.0}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.csv": ""}, "a.csv:1: no row"),
        ({"a.csv": FIRST.splitlines()[0]}, "a.csv:1: no row"),
        ({"a.csv": "a,b\n1,2\n"}, "a.csv:1: no column Dispatch_Id, Kernel_Name"),
        (
            {"a.csv": FIRST[: len(FIRST) * 2 // 3]},
            "a.csv:7: 7 cells where the head has 19",
        ),
        ({"a.csv": FIRST.rsplit(",", 2)[0]}, "a.csv:10: 17 cells where the head has 19"),
        (
            {"a.csv": FIRST.replace("90.000000", "nan")},
            "a.csv:4: Counter_Value is 'nan', no number",
        ),
        ({"a.csv": FIRST.replace("90.000000", "-1")}, "a.csv:4: Counter_Value is '-1'"),
        ({"a.csv": FIRST.replace(",16,0,32,", ",many,0,32,")}, "a.csv:2: VGPR_Count is 'many'"),
        (
            {"a.csv": FIRST.replace(",200000", ",90")},
            "End_Timestamp 90 is not after Start_Timestamp",
        ),
        ({"a.csv": FIRST.replace("MfmaUtil", "VALUBusy")}, "a.csv:3: VALUBusy stands twice"),
        ({"a.csv": FIRST.replace("\n2,2", "\n2,1")}, "a.csv:5: dispatch 1 is of copy(float*"),
        (
            {"a.csv": "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,1\n"},
            "a.csv:1: no counter that kopt reads; accepted: VALUBusy",
        ),
        (
            {**PASSES, "c.csv": FIRST[: FIRST.index("\n3,3") + 1]},
            "launch 2 of copy(float*, float const*, int) is in pass_1.csv and not in c.csv",
        ),
        (
            {**PASSES, "c.csv": FIRST.replace("4194304", "8388608")},
            "c.csv:5: gemm<64>(float*, float*) has another shape than in pass_1.csv:5",
        ),
    ],
)
def test_what_is_no_profile_is_told_by_file_line_and_what_is_accepted(files, words):
    refused(files, words)


def test_a_trace_says_what_waves_wait_for_and_where():
    (found,) = read_trace(TRACE, "stats.csv")
    assert (found.kernel, found.vendor) == ("gemm<64>(float*, float*)", Vendor.AMD)
    hits, stalled, cycles = 754, 6900, 10000
    assert found.values == pytest.approx(
        {
            "stall_long_scoreboard": 6000 / hits,
            "stall_short_scoreboard": 200 / hits,
            "stall_barrier": 300 / hits,
            "stall_lg_throttle": 100 / hits,
            "stall_mio_throttle": 100 / hits,
            "stall_math_pipe_throttle": 100 / hits,
            "stall_scalar_memory": 96 / hits,
            "stall_other": 4 / hits,
            "stalled_pct": 100 * stalled / cycles,
        }
    )
    hottest = found.lines[0]
    assert (hottest.source, hottest.stall) == ("gemm.hip:21", "stall_long_scoreboard")
    assert hottest.share == pytest.approx(6000 / stalled)
    assert [one.waited for one in found.lines] == [6000, 300, 200, 100, 100, 100, 96, 4]
    (waits,) = findings(found)
    assert (waits.name, waits.strategies[0]) == ("stall_long_scoreboard", "fd.1")
    assert waits.share == pytest.approx(6000 / stalled * stalled / cycles)


def test_the_columns_of_the_documentation_are_read_without_a_kernels_name():
    head = "Codeobj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source"
    text = f"{head}\n11,5888,s_barrier,4,8,4,0,kernel.py:391\n"
    (found,) = read_trace(text, "stats.csv")
    assert (found.kernel, found.values) == (
        "stats.csv",
        {"stall_barrier": 1.0, "stalled_pct": 50.0},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "stats.csv:1: no row"),
        (FIRST, "stats.csv:1: no column Instruction, Hitcount, Latency, Stall, Idle, Source"),
        (TRACE[: TRACE.index("gemm.hip:2")], "stats.csv:4: unexpected end of data"),
        (TRACE[: TRACE.index(',0,"gemm.hip:2')], "stats.csv:4: 6 cells where the head has 8"),
        (TRACE.replace("6400,6000", "6400,nan"), "stats.csv:5: Stall is 'nan', no number"),
        (TRACE.splitlines()[0] + '\n1,1,"s_endpgm",0,0,0,0,""\n', "no instruction was traced"),
    ],
)
def test_what_is_no_trace_is_told_by_file_line_and_what_is_accepted(text, words):
    with pytest.raises(ProfileError) as error:
        read_trace(text, "stats.csv")
    assert words in str(error.value)
    assert "accepted: " in str(error.value)
