"""How ncu is called and believed, with a stand-in that copies recorded files."""

from __future__ import annotations

import pickle
import shutil
import struct
import subprocess
import sys
from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.profile import calls, ncu, run, started
from campaigns.evaluator.sanitizers import harness
from campaigns.profiles.metrics import STALLS
from campaigns.profiles.ncu import read_raw, read_samples
from tests.campaigns.profiles import RECORDED, SOURCE
from tests.evaluator.profile.standing_in import Open, counted, script, workplace

TEXT = """
__global__ void double_it(const float* x, float* y, int n) { y[0] = x[0]; }
__global__ void once_more(float* y) {}
extern "C" void solve(const float* x, float* y, int N) {}
"""
# It copies what it would count, and prints the lines of the report that it would have written.
STAND_IN = """case "$*" in
--import*) cat source;;
*) echo "$@" > calls
   {does};;
esac
"""
TRITON = "import triton\n@triton.jit\ndef rows(x):\n    pass\n\ndef run_kernel(x, y, N): ...\n"


COUNTERS = ("gpu__time_duration.sum", "launch__grid_size", "sass__spilt")


@pytest.fixture
def look(tmp_path, monkeypatch):
    """What is told of a source, where ncu does this."""

    def run(does="cp said profile.csv", text=TEXT, backend="cuda", device="cuda:0"):
        (tmp_path / "said").write_text(RECORDED.read_text())
        (tmp_path / "source").write_text(SOURCE.read_text())
        program = script(tmp_path / "ncu", STAND_IN.format(does=does))
        monkeypatch.setattr(ncu, "toolkit_program", lambda name: program)
        monkeypatch.setattr(ncu, "nvcc", lambda: shutil.which("true"))
        source = Source("kernel.cu", text)
        with workplace(tmp_path, Open()) as place:
            return counted(place, backend, device, source, *COUNTERS)

    return run


def test_r23_it_counts_the_kernels_of_the_source_and_no_others(look, tmp_path):
    found = look()
    assert (found.tool, found.note, found.calls) == ("ncu", "", ncu.CALLS["cuda"])
    assert len(read_raw(found.text, "said")) == 23
    called = (tmp_path / "calls").read_text()
    assert "--kernel-name-base function --kernel-name regex:^(double_it|once_more)$ " in called
    assert "--csv --page raw --print-units base --log-file profile.csv " in called
    assert "--clock-control none --cache-control all --profile-from-start off " in called
    sections = "--section MemoryWorkloadAnalysis --section SourceCounters"
    assert f"{sections} --metrics gpu__time_duration.sum,launch__grid_size ./program" in called


def test_it_keeps_the_counters_that_were_asked_for_and_the_lines(look):
    found = look()
    assert {*read_raw(found.text, "said")[0].values} == {"duration_us", "grid"}
    hottest = read_samples(found.lines, "said")["softmax_rows"]
    assert [(one.source, one.stall) for one in hottest[:3]] == [
        ("standard.py:170", "stall_long_scoreboard"),
        ("candidate.py:15", "stall_drain"),
        ("candidate.py:13", "stall_wait"),
    ]
    # Of two launches: long scoreboard, short scoreboard and nine samples of what is rarer.
    assert hottest[0].waited == 1178 + 3 + 370 + 30 + 2 + 1300 + 3 + 347 + 14
    assert sum(one.share for one in hottest) == pytest.approx(1)
    assert {one.stall for one in hottest} <= {*STALLS}


def test_only_the_file_of_the_profiler_is_read_and_stays_printable(look):
    found = look(
        "cp said profile.csv; printf 'more' > profile.csv.more; printf '\\001\\000x' >> said"
    )
    assert "more" not in found.text
    controls = look("head -c 300000 /dev/zero | tr '\\0' '\\1' > profile.csv; exit 1")
    assert controls.note == "exit status 1: no message"
    assert len(look("(cat said; cat said) > profile.csv").text) <= run.TEXT_CHARACTERS


def test_samples_end_with_a_whole_row(look, monkeypatch):
    whole = look().lines
    monkeypatch.setattr(run, "TEXT_CHARACTERS", 2_000)
    cut = look().lines
    assert whole.startswith(cut)
    assert cut.endswith("\n")
    assert 1_900 < len(cut) <= 2_000


def test_a_report_that_ncu_cannot_list_is_said(look):
    found = look("cp said profile.csv; rm source")
    assert (found.text, found.lines) == ("", "")
    assert "source" in found.note


def test_a_candidate_in_python_is_called_by_a_program_of_ours(look, tmp_path):
    assert look(text=TRITON, backend="triton").calls == ncu.CALLS["triton"]
    called = (tmp_path / "calls").read_text()
    assert "regex:^(rows)$" in called
    assert "/profile/started.py calls cuda:0 3" in called


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("echo ==ERROR== ERR_NVGPUCTRPERM - no; exit 1", "only an administrator"),
        ("echo ==ERROR== LibraryNotLoaded; exit 1", "hides the device's counters"),
        ("echo '==WARNING== No kernels were profiled.' > profile.csv", "no call launched a kernel"),
        ("echo half a table > profile.csv; exit 3", "exit status 3: half a table"),
        ("exit 0", "exit status 0: no message"),
    ],
)
def test_it_says_why_nothing_was_counted(look, does, words):
    found = look(does)
    assert found.text == ""
    assert words in found.note


def test_a_table_that_is_cut_off_is_kept_and_told_by_its_reader(look):
    found = look("head -c $(($(wc -c < said) * 2 / 3)) said > profile.csv")
    with pytest.raises(ValueError, match="cut off"):
        read_raw(found.text, "softmax")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"text": 'extern "C" void solve(float* x) {}'}, "defines no kernel that could be told"),
        ({"backend": "torch"}, "no profiler counts torch on cuda:0"),
        ({"backend": "triton", "text": TRITON, "device": "cpu"}, "counts triton on cpu"),
    ],
)
def test_what_it_cannot_count_is_told_and_not_tried(look, tmp_path, more, words):
    assert words in look(**more).note
    assert not (tmp_path / "calls").exists()


def test_it_says_where_it_is_missing(look, monkeypatch, tmp_path):
    monkeypatch.setattr(ncu, "toolkit_program", lambda name: None)
    with workplace(tmp_path, Open()) as place:
        found = counted(place, "cuda", "cuda:0", Source("kernel.cu", TEXT), "a.sum")
    assert found.note == "ncu is not on this host; install NVIDIA Nsight Compute"


def test_the_program_for_python_finds_all_that_it_needs_by_its_path(tmp_path):
    """It calls the candidate on the inputs; without a card it ends where that is asked for."""
    text = "def run_kernel(x, y, N): open('saw', 'w').write(str(y.copy_(2 * x).tolist()))\n"
    (tmp_path / "candidate.py").write_text(text)
    x = Plain("x", "float32", (2,), output=False)
    layout = lay_out([x, replace(x, name="y", output=True), ScalarArg("N", 2)])
    (tmp_path / calls.LAYOUT).write_bytes(pickle.dumps(layout))
    (tmp_path / harness.INPUTS).write_bytes(struct.pack("4f", 1, 2, 0, 0))
    command = [sys.executable, started.__file__, "calls", "cpu", "1"]
    ended = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, check=False)
    assert (tmp_path / "saw").read_text() == "[2.0, 4.0]"
    assert ended.returncode == 1
