"""What `perf stat -x ,` writes: counts of all calls, ratios, and what is no such file."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Profile
from campaigns.profiles.kernel_profile import ProfileError, Vendor
from campaigns.profiles.perf import read_stat
from campaigns.profiles.reading import read_files, read_profile
from tests.evaluator.profile.test_perf import TABLE


def test_r24_ratios_follow_from_what_was_counted():
    (found,) = read_stat(TABLE, "perf.csv")
    assert (found.kernel, found.vendor) == ("solve", Vendor.CPU)
    assert found.values == {
        "cycles": 4e6,
        "instructions": 8e6,
        "ipc": 2.0,
        "cache_references": 1000,
        "cache_misses": 250,
        "cache_miss_pct": 25.0,
    }
    assert found.odd == {"branches": "<not supported>", "branch-misses": "<not supported>"}


@pytest.mark.parametrize("text", [TABLE, TABLE.partition("\n\n")[2]], ids=["-o", "2>"])
def test_its_file_is_known_with_and_without_its_head(text):
    assert read_files({"perf.csv": text})[0].values["ipc"] == 2


def test_two_kinds_of_cores_are_added_up():
    text = "100,,cpu_core/cycles/u,9,50.00,,\n20,,cpu_atom/cycles:u/,9,50.00,,\n7,,faults:u,1,1,,\n"
    assert read_stat(text, "perf.csv")[0].values == {"cycles": 120}


def test_r25_what_limits_a_cpus_kernel_is_unknown_with_what_was_not_counted():
    found = read_profile(Profile("perf", "big", TABLE, calls=2))
    assert (found.limit.kind, found.findings) == ("unknown", ())
    assert found.limit.why.startswith("not counted: duration_us")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "perf.csv:1: nothing was counted; accepted: what `perf stat"),
        (
            "<not supported>,,cycles:u,0,100.00,,\n",
            "perf.csv:1: nothing was counted (<not supported>); accepted: ",
        ),
        ("half a\n", "perf.csv:1: 'half a' is no row of it"),
        ("# started\n-1,,cycles:u,0,100.00,,\n", "perf.csv:2: cycles is '-1', no number from 0"),
        ("inf,,cycles,0,100.00,,\n", "perf.csv:1: cycles is 'inf', no number"),
    ],
)
def test_what_is_no_such_file_is_told_by_line_and_what_is_accepted(text, words):
    with pytest.raises(ProfileError) as refused:
        read_stat(text, "perf.csv")
    assert words in str(refused.value)
