"""Tables of ncu: other units, and what is no table."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.profiles.kernel_profile import ProfileError, one_of
from campaigns.profiles.ncu import read_raw, read_samples
from tests.campaigns.profiles import RECORDED

HEAD = '"ID","Kernel Name","gpu__time_duration.sum","launch__grid_size"\n'


def table(*rows, units='"","","us",""'):
    return "".join((HEAD, f"{units}\n", *(f"{row}\n" for row in rows)))


def values(row, units='"","","us",""'):
    (found,) = read_raw(table(row, units=units), "a.csv")
    return found.values


@pytest.mark.parametrize(
    ("unit", "text", "time_us"),
    [("ns", "1,952", 1.952), ("us", "3.5", 3.5), ("msecond", "2", 2000.0), ("s", "1e-3", 1000.0)],
)
def test_units_become_ours(unit, text, time_us):
    found = values(f'"0","k","{text}","7"', f'"","","{unit}",""')
    assert found == pytest.approx({"duration_us": time_us, "grid": 7.0})


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "many"])
def test_what_is_no_number_is_named_and_not_made_up(text):
    (found,) = read_raw(table(f'"0","k","{text}","7"'), "a.csv")
    assert found.values == {"grid": 7.0}
    assert found.odd == {"gpu__time_duration.sum": text}


@pytest.mark.parametrize("text", ["", "n/a", "no data"])
def test_what_was_not_counted_is_left_out(text):
    (found,) = read_raw(table(f'"0","k","{text}","7"'), "a.csv")
    assert (found.values, found.odd) == ({"grid": 7.0}, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a.csv:1: no table of launches; accepted: what `ncu --csv --page raw`"),
        ("==ERROR== ERR_NVGPUCTRPERM\n", "no table of launches"),
        ('"ID","Name"\n', "a.csv:1: no counter that kopt reads"),
        (table(), "a.csv:2: no launch was profiled"),
        (table('"0","k","1"'), "a.csv:3: 3 cells where the head has 4: it is cut off"),
        (
            table('"0","k","1","7"', units='"","","%",""'),
            "a.csv:3: gpu__time_duration.sum is in '%'",
        ),
    ],
)
def test_what_is_no_profile_is_told_by_file_line_and_what_is_accepted(text, words):
    with pytest.raises(ProfileError) as refused:
        read_raw(text, "a.csv")
    assert words in str(refused.value)
    assert "accepted: " in str(refused.value)


def test_a_recorded_file_that_is_cut_off_is_refused():
    text = RECORDED.read_text()
    with pytest.raises(ProfileError, match=r"h200\.csv:\d+: .*cut off"):
        read_raw(text[: len(text) * 2 // 3], "h200.csv")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("nothing", "kernel: 'nothing' finds none of a, b"),
        ("", "kernel: '' finds several: a, b"),
        ("(", "kernel: '(' is no pattern"),
    ],
)
def test_r23_a_filter_finds_one_kernel(pattern, words):
    found = read_raw(table('"0","a","1","7"', '"1","b","1","7"', '"2","a","2","7"'), "a.csv")
    assert one_of(found, "a", "a.csv") is found[0]
    with pytest.raises(ProfileError) as refused:
        one_of(found, pattern, "a.csv")
    assert words in str(refused.value)


def test_the_command_says_class_evidence_and_what_to_try(capsys):
    call_command("profile", "read", str(RECORDED), "--kernel", "transpose_conflicts")
    said = capsys.readouterr().out
    assert "memory cache: SMs at 17 %, memory at 83 %, DRAM at 27 %" in said
    assert "bank_conflicts (sure): 93 % of the passes of shared memory are conflicts" in said
    assert "try cu.smem.pad, cu.smem.swizzle" in said
    call_command("profile", "read", str(RECORDED), "--json")
    found = json.loads(capsys.readouterr().out)
    assert len(found) == 23
    assert found[0]["class"] == "launch"


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_bytes(b"\0\xff")])
def test_the_command_refuses_in_one_line(tmp_path, make):
    file = tmp_path / "other.csv"
    make(file)
    with pytest.raises(CommandError) as refused:
        call_command("profile", "read", str(file))
    assert "other.csv" in str(refused.value)
    assert "\n" not in str(refused.value)


SAMPLES = "kernel,file,line,state,samples\n"


def test_r28_samples_are_added_up_by_line_and_those_that_wait_for_nothing_are_left_out():
    rows = (
        "k(int),candidate.cu,7,long_sb,30\nk(int),candidate.cu,7,wait,10\n"
        "k(int),candidate.cu,7,selected,99\nk(int),math.h,2,barrier,60\n\n"
    )
    first, second = read_samples(f"{SAMPLES}{rows}", "a")["k(int)"]
    assert (first.source, first.line, first.stall, first.share) == (
        "math.h:2",
        0,
        "stall_barrier",
        0.6,
    )
    assert (second.line, second.stall, second.waited) == (7, "stall_long_scoreboard", 40)


def test_a_kernel_of_a_template_has_one_name():
    """As ncu 2025.3 spells it with its samples, and with its launches."""
    row = '"void k<(int)4, (int)-2, A>(const float *)",candidate.cu,7,wait,1\n'
    assert [*read_samples(f"{SAMPLES}{row}", "a")] == ["void k<4, -2, A>(const float *)"]


@pytest.mark.parametrize(
    "text", ["", "kernel,file\n", f"{SAMPLES}k,a.cu,x,wait,1\n", f"{SAMPLES}k,a\n"]
)
def test_what_are_no_samples_is_refused(text):
    with pytest.raises(ProfileError, match=r"accepted: .*kernel, file, line, state, samples"):
        read_samples(text, "a")
