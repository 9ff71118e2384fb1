"""Compilers run in the box as well: what a source names outside of it is not there."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Outcome, Phase
from tests.evaluator.sandbox.conftest import USERS
from tests.evaluator.small import source


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "line",
    [
        '#include "SECRET"',
        '#include "/etc/shadow"',
        '#include "/proc/self/cwd/../..SECRET"',
        'asm(".incbin \\"SECRET\\"");',
        'asm(".include \\"SECRET\\"");',
        '#pragma GCC dependency "SECRET"',
        '#if __has_include("SECRET")\n#error seen it\n#endif\n#error not there',
    ],
)
def test_it_finds_nothing_outside(run, place, user, line):
    report = run(user, source(before=line.replace("SECRET", str(place / "secret")) + "\n"))
    assert report.outcome is Outcome.BUILD_FAILED, report.reason
    assert report.phase is Phase.BUILD
    for text in (report.reason, report.build_log, report.runner_log):
        assert "hunter2" not in text
        assert "seen it" not in text
        assert "root:" not in text


@pytest.mark.parametrize("user", USERS)
def test_it_says_what_the_compiler_said(run, user):
    report = run(user, source("return undeclared;"))
    assert report.outcome is Outcome.BUILD_FAILED
    assert "undeclared" in report.reason


def test_it_bounds_what_a_compiler_says(run):
    lines = "\n".join("#warning " + "x" * 200 for _ in range(1500))
    report = run(USERS[0], source("return undeclared;", lines + "\n"))
    assert report.outcome is Outcome.BUILD_FAILED
    assert len(report.build_log) < 300_000
