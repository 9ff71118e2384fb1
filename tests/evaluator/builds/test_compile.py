"""A compiler that somebody kills is run once more, and never blamed on the candidate."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from campaigns.evaluator.builds.compile import compile_or_fail
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.programs import cpp_compiler as compiler
from campaigns.evaluator.sandbox.workplace import Workplace

KILL = "kill -9 $$"
KILL_ONCE = f"if mkdir once; then {KILL}; fi; echo built"


class _Open:
    """A lock that shuts nothing."""

    files = ()

    def compiler(self, seconds):
        return lambda: None


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    log = os.memfd_create("log")
    yield Workplace(tmp_path, _Open(), log, 20.0)
    os.close(log)


def test_one_that_is_killed_once_is_run_again(place):
    assert compile_or_fail(["sh", "-c", KILL_ONCE], place).endswith("built\n")


def test_one_that_is_killed_again_is_the_hosts_fault(place):
    with pytest.raises(Unsupported, match="sh was killed twice"):
        compile_or_fail(["sh", "-c", KILL], place)


def test_a_part_that_is_killed_is_the_hosts_fault_though_its_driver_goes_on(place):
    (place.folder / "kernel.cpp").write_text("int one() { return 1; }")
    command = [compiler(), "-c", "kernel.cpp", "-wrapper", f"sh,-c,{KILL}"]
    with pytest.raises(Unsupported, match="was killed twice"):
        compile_or_fail(command, place)


@pytest.mark.parametrize(
    "said",
    [
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "clang++: error: unable to execute command: Killed",
    ],
)
def test_it_knows_what_other_drivers_say(place, said):
    with pytest.raises(Unsupported):
        compile_or_fail([sys.executable, "-c", f"print({said!r}); raise SystemExit(1)"], place)


def test_one_that_takes_too_long_is_the_candidates_fault(tmp_path):
    log = os.memfd_create("log")
    with pytest.raises(BuildFailed, match="it took too long"):
        compile_or_fail(["sleep", "30"], Workplace(tmp_path, _Open(), log, 0.1))
    os.close(log)


def test_one_that_refuses_the_source_is_run_once(place):
    with pytest.raises(BuildFailed, match="no"):
        compile_or_fail(["sh", "-c", "mkdir once && echo no && exit 1"], place)
