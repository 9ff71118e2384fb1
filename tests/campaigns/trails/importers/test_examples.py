"""The trails below docs/examples can be read, and say what the text beside them says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from campaigns.trails.importers.claims import System
from campaigns.trails.importers.trail import claimed_in, read_path, system_of

FOLDERS = (Path(__file__).parents[4] / "docs" / "examples").iterdir()
EXAMPLES = sorted(folder for folder in FOLDERS if (folder / "trail").is_dir())
PERCENT = r"([+-]?[\d.]+ %)"
INTERVAL = re.compile(rf"{PERCENT} \[{PERCENT}, {PERCENT}\]")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_reads_back_in_and_its_text_has_the_trails_numbers(example):
    files = read_path(example / "trail").files
    assert system_of(files) is System.KOPT
    assert claimed_in(files).rounds[-1].kept
    told = INTERVAL.findall((example / "README.md").read_text())
    assert told
    written = "\n".join(files.values())
    for gain, low, high in told:
        assert re.search(
            rf"{re.escape(gain)} (against [a-z0-9 ]+)?\({re.escape(low)} to {re.escape(high)}",
            written,
        ), gain


def test_r19_the_split_on_an_h200_runs_each_kernel_for_its_class():
    trail = EXAMPLES[0].parent / "softmax-short-and-long-rows" / "trail"
    kernel = (trail / "best" / "kernel.py").read_text()
    assert "if D >= 32768:\n        round_2_run_kernel(" in kernel
    summary = (trail / "rounds" / "round-3" / "summary.md").read_text()
    assert "| D=128 | round 1 |\n| D=32768 | round 2 |" in summary
