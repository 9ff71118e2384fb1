"""Several candidates beside one incumbent: each is judged as if alone, and harms no other."""

from __future__ import annotations

import pytest

from campaigns.benchmarks.trick import TRICKS, read
from campaigns.evaluator.contract import ContractError, Outcome, Report, Source
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.contract.looks import ERROR
from tests.evaluator import small
from tests.evaluator.small import LOOP, source

SLOW = source("for (int k = 0; k < 9; ++k)\n" + LOOP.replace("2 *", "2 * k / 8 *"))
WRONG = source(LOOP.replace("2 *", "3 *"))
CRASHING = source("*(volatile int*)0 = 1;")
HANGING = source("for (volatile int i = 0;; i = i + 1) {}")
NOT_BUILT = source("return undeclared;")
# Answers a call that was like the one before without a look at its inputs.
LAZY = source(f"static int calls = 0; if (++calls > 90) return;\n{LOOP}")
# Lets itself go on all the time, in the others' turns as well.
WAKING = """
#include <csignal>
#include <ctime>
static bool wakes() {
  signal(SIGCONT, [](int) {});
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer;
  itimerspec often = {{0, 1000000}, {0, 1000000}};
  return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
         timer_settime(timer, 0, &often, nullptr) == 0;
}
"""
AGAIN = "static int n; if (++n % 16 == 0) wakes();"
CHEATS = TRICKS / "cheats" / "cpp"


def facts(report: Report) -> list[Outcome]:
    return [one.outcome for one in (report, *report.rivals)]


def test_all_right_ones_are_compared_with_the_same_samples(judge):
    report = judge(source(), incumbent=SLOW, rivals=(source(), SLOW))
    assert facts(report) == [Outcome.PASSED] * 3, [one.reason for one in (report, *report.rivals)]
    every = [one.cases[0] for one in (report, *report.rivals)]
    assert len({case.incumbent.samples_us for case in every}) == 1
    assert len({case.candidate.samples_us for case in every}) == 3
    assert {len(case.candidate.samples_us) for case in every} == {2}
    # Without looks the rules have one interval; so many candidates share its error.
    assert [look.level for look in report.looks] == [pytest.approx(ERROR / 3)]
    assert report.rivals[0].looks == report.looks
    assert report.rivals[0].environment["session"] == report.environment["session"]
    assert load_report(dump(report)) == report


@pytest.mark.parametrize(
    ("rival", "outcome", "words"),
    [
        pytest.param(WRONG, Outcome.WRONG_RESULT, "elements wrong", id="wrong"),
        pytest.param(CRASHING, Outcome.CRASHED, "SIGSEGV", id="crashes"),
        pytest.param(HANGING, Outcome.TIMED_OUT, "1.5 s", id="hangs"),
        pytest.param(NOT_BUILT, Outcome.BUILD_FAILED, "undeclared", id="does not build"),
        pytest.param(LAZY, Outcome.WRONG_RESULT, "", id="wrong in a burst"),
    ],
)
@pytest.mark.parametrize("is_first", [False, True], ids=["rival", "candidate"])
def test_one_that_fails_leaves_and_the_others_go_on(judge, rival, outcome, words, is_first):
    tried = (rival, source(), source()) if is_first else (source(), rival, source())
    report = judge(tried[0], incumbent=SLOW, rivals=tried[1:])
    reports = (report, *report.rivals)
    found = facts(report)
    assert found.pop(0 if is_first else 1) is outcome
    assert found == [Outcome.PASSED] * 2, [one.reason for one in reports]
    failed, *right = sorted(reports, key=lambda one: one.outcome is Outcome.PASSED)
    assert words in failed.reason or words in failed.build_log
    assert all(case.candidate is None for case in failed.cases)
    for one in right:
        [case] = one.cases
        assert len(case.candidate.samples_us) == len(case.incumbent.samples_us) == 2


@pytest.mark.parametrize(
    ("cheat", "outcomes"),
    [
        pytest.param(
            source(f"{AGAIN}\n{LOOP}", before=WAKING),
            {Outcome.CHEATED},
            id="lets itself go on",
        ),
        *(
            pytest.param(
                Source("k.cpp", (CHEATS / f"{name}.cpp").read_text()),
                read(CHEATS / f"{name}.cpp", TRICKS).outcomes,
                id=name,
            )
            for name in ("late_thread_when_timed", "timer_with_a_thread")
        ),
    ],
)
def test_one_that_cheats_is_told_from_the_others(judge, cheat, outcomes):
    report = judge(source(), incumbent=SLOW, rivals=(cheat, source()))
    found = facts(report)
    assert found.pop(1) in outcomes, report.rivals[0].reason
    assert found == [Outcome.PASSED] * 2, [one.reason for one in (report, *report.rivals)]


def test_where_the_incumbent_fails_nothing_is_told_of_any(judge):
    report = judge(source(), incumbent=CRASHING, rivals=(source(), WRONG))
    assert facts(report)[:2] == [Outcome.BROKEN_HOST] * 2
    assert "incumbent" in report.reason


def test_where_all_fail_each_has_its_own_outcome(judge):
    report = judge(CRASHING, incumbent=source(), rivals=(WRONG, NOT_BUILT))
    assert facts(report) == [Outcome.CRASHED, Outcome.WRONG_RESULT, Outcome.BUILD_FAILED]


def test_there_are_no_rivals_without_an_incumbent(tmp_path):
    with pytest.raises(ContractError, match="without an incumbent"):
        small.job(tmp_path, tmp_path, source(), rivals=(Source("k.cpp", ""),))
