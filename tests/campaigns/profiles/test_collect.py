"""What is typed on another host to collect the counters."""

from __future__ import annotations

import shlex

from campaigns.profiles import amd
from campaigns.profiles.collect import commands
from campaigns.profiles.kernel_profile import Vendor
from campaigns.profiles.metrics import DEFAULT_COUNTERS


def test_r23_ncu_is_told_the_one_kernel_and_every_counter():
    (line,) = commands(Vendor.NVIDIA, "softmax_rows", ["python", "run it.py"])
    words = shlex.split(line)
    assert words[0] == "ncu"
    assert words[words.index("--kernel-name") + 1] == "regex:^softmax_rows$"
    named = words[words.index("--metrics") + 1].split(",")
    # ncu knows this one by its section alone, and ends at a name that it does not know.
    assert {*DEFAULT_COUNTERS} - {*named} == {"sass__inst_executed_register_spilling"}
    sections = [words[at + 1] for at, word in enumerate(words) if word == "--section"]
    assert sections == ["MemoryWorkloadAnalysis", "SourceCounters"]
    assert words[-2:] == ["python", "run it.py"]


def test_r23_rocprof_counts_few_things_in_a_pass_and_traces_once():
    lines = [shlex.split(line) for line in commands(Vendor.AMD, "gemm", ["./a.out"])]
    *passes, trace = lines
    counted = []
    for words in passes:
        own = words[words.index("--pmc") + 1 : words.index("--output-format")]
        assert len(own) <= 4
        counted += own
    by_formula = set(amd.DEFAULT_COUNTERS) - set(counted)
    values = dict.fromkeys((one.name for one in amd.METRICS.values() if one.counter in counted), 2)
    names = {one.name for one in amd.METRICS.values() if one.counter in by_formula}
    assert names <= set(amd.completed(values))
    assert "--att" in trace
    assert all("^gemm" in words and words[-2:] == ["--", "./a.out"] for words in lines)
