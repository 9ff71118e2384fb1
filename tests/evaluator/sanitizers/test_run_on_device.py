"""How compute-sanitizer is called and believed, with a stand-in for it; no GPU is needed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import torch

from campaigns.evaluator.contract import Case, Job, Sanitized, Source
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.sandbox.workplace import Workplace
from campaigns.evaluator.sanitizers import run
from tests.evaluator.sanitizers.test_logs import MEMCHECK, RACECHECK

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), False),
        Plain("y", "float32", (4,), True),
        ScalarArg("N", 4),
    ]
)
TEXT = 'extern "C" void solve(const float* x, float* y, int N) {}\n'
# Notes how it was called, says what lies there to be said, and leaves the outputs of a whole run.
STAND_IN = """#!/bin/sh
echo "$@" >> calls
cp said."$2" "$4"
cat case.bin | head -c 16 > outputs.bin
"""
CLEAN = {
    run.MEMCHECK: "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n",
    run.RACECHECK: "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
}


class Open:
    """A lock that closes nothing, where sanitizers are let run."""

    no_watching = ""

    def compiler(self, seconds):
        return lambda: None

    def watched(self, seconds, *, opens_events=False):
        return lambda: None


class Memory:
    def tensor(self, layout, slot, arg):
        return torch.full(arg.shape, 1.5)


@pytest.fixture
def look(tmp_path, monkeypatch):
    """What is told where compute-sanitizer says this of each tool."""
    checker = tmp_path / "checker"
    checker.write_text(STAND_IN)
    checker.chmod(0o755)
    monkeypatch.setattr(run.cuda, "nvcc", lambda: shutil.which("true"))
    monkeypatch.setattr(run, "compute_sanitizer", lambda: str(checker))
    log = os.memfd_create("log")

    def run_one(text=TEXT, target="sm_90a", **said):
        for tool, words in (CLEAN | said).items():
            (tmp_path / f"said.{tool}").write_text(words)
        source = Source("kernel.cu", text)
        case = Case("n4", {"N": 4})
        job = Job("1", Path(), "cuda", "cuda:0", target, (case,), source, tmp_path)
        place = Workplace(tmp_path, Open(), log, 60.0)
        return {one.tool: one for one in run.sanitize(run.Subject(job, place, LAYOUT), Memory())}

    yield run_one
    os.close(log)


def test_it_calls_both_tools_on_the_one_program(look, tmp_path):
    assert look() == {tool: Sanitized(tool, True) for tool in (run.MEMCHECK, run.RACECHECK)}
    memcheck, racecheck = (tmp_path / "calls").read_text().splitlines()
    assert memcheck.startswith("--tool memcheck --log-file memcheck.log ")
    assert "--padding 256" in memcheck
    assert racecheck.startswith("--tool racecheck --log-file racecheck.log ")
    assert memcheck.endswith(" ./program")
    assert (tmp_path / "case.bin").read_bytes() == bytes(torch.full((8,), 1.5).numpy().tobytes())


def test_it_tells_what_each_tool_finds(look):
    said = look(memcheck=MEMCHECK, racecheck=RACECHECK)
    assert [(one.ran, one.faults[0].file, one.faults[0].line) for one in said.values()] == [
        (True, "kernel.cu", 7),
        (True, "kernel.cu", 13),
    ]


def test_it_does_not_take_a_log_without_an_end_for_a_clean_one(look):
    cut = "========= COMPUTE-SANITIZER\n========= Error: device not supported\n"
    said = look(memcheck=cut)
    assert not said[run.MEMCHECK].ran
    assert "did not come to its end (exit status 0): ========= Error: device not" in (
        said[run.MEMCHECK].note
    )
    assert said[run.RACECHECK] == Sanitized(run.RACECHECK, True)


def test_it_does_not_take_errors_of_an_unknown_kind_for_none(look):
    unknown = "========= Something new of size 4\n========= ERROR SUMMARY: 1 error\n"
    said = look(memcheck=unknown)[run.MEMCHECK]
    assert (said.ran, said.note.startswith("its report is not understood: ")) == (False, True)


def test_it_says_where_it_is_missing(look, monkeypatch):
    monkeypatch.setattr(run, "compute_sanitizer", lambda: None)
    for one in look().values():
        assert not one.ran
        assert one.note.startswith("compute-sanitizer is not on this host")


def test_it_gives_no_verdict_on_hazards_of_bulk_copies(look):
    said = look(TEXT + "// cp.async.bulk\n")
    assert said[run.MEMCHECK].ran
    assert said[run.RACECHECK].note.startswith("no verdict: the source uses bulk copies")


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"target": "gfx942"}, "target: 'gfx942'"), ({"text": "int other;"}, "no function extern")],
)
def test_it_says_why_it_could_not_be_built(look, changed, words):
    for one in look(**changed).values():
        assert not one.ran
        assert words in one.note
