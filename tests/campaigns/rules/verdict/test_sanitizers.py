"""Before an accept: what sanitizers found ends it, what they could not look at is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Fault, Report, Sanitized
from campaigns.rules.verdict.decide import claims, decide_again
from campaigns.rules.verdict.decision import Decision, Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.sanitizers import found_words, passed
from tests.campaigns.rules.verdict.test_decide import session

CLEAN = Sanitized("AddressSanitizer", True)
IDLE = Sanitized("ThreadSanitizer", True, note="it starts no threads")
LOST = Sanitized("ThreadSanitizer", False, note="g++ has no runtime")
GUILTY = Sanitized(
    "AddressSanitizer",
    True,
    (
        Fault("heap-buffer-overflow", "read of 4 bytes", "kernel.cpp", 8),
        Fault("heap-buffer-overflow", "read of 4 bytes", "kernel.cpp", 9),
    ),
)
UNPLACED = Sanitized("ThreadSanitizer", True, (Fault("data race", "", "kernel.cpp", 0),))


def decided(*said: Sanitized, second: float = 1.9, required: bool = False) -> Decision:
    report: Report = replace(session(second), sanitized=said)
    standard = Standard(has_incumbent=True, require_sanitizers=required)
    return decide_again(session(2.0), report, standard)


def test_it_accepts_what_no_sanitizer_finds_fault_with() -> None:
    found = decided(CLEAN, IDLE)
    assert (found.verdict, found.reason) == (VerdictWord.ACCEPTED, Reason.PROMOTED)
    gate = found.gates[-1]
    assert (gate.name, gate.passed) == ("sanitizers", True)
    assert gate.found == "AddressSanitizer clean; ThreadSanitizer clean (it starts no threads)"


def test_it_rejects_a_gain_with_a_finding_and_names_the_first_with_its_line() -> None:
    found = decided(GUILTY, IDLE)
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.SANITIZER)
    assert found.sentence.startswith(
        "Rejected: AddressSanitizer found heap-buffer-overflow in kernel.cpp line 8 "
        "(read of 4 bytes). Apart from that: Accepted: 1.9"
    )
    gate = found.gates[-1]
    assert (gate.passed, gate.limit) == (
        False,
        "no finding on the smallest case, where a sanitizer runs",
    )
    assert "kernel.cpp line 8 (read of 4 bytes) and 1 more; ThreadSanitizer clean" in gate.found
    assert found.gain is not None


def test_it_names_the_finding_of_the_second_tool_too() -> None:
    found = decided(CLEAN, UNPLACED)
    assert found.reason is Reason.SANITIZER
    assert "ThreadSanitizer found data race in kernel.cpp." in found.sentence


@pytest.mark.parametrize(
    ("said", "state", "words"),
    [
        ((LOST,), None, "ThreadSanitizer not run: g++ has no runtime"),
        (
            (CLEAN, LOST),
            True,
            "AddressSanitizer clean; ThreadSanitizer not run: g++ has no runtime",
        ),
        ((), None, "not run: no sanitizer was requested"),
    ],
)
def test_it_says_what_did_not_run_and_is_not_stopped_by_it(
    said: tuple[Sanitized, ...], state: bool | None, words: str
) -> None:
    found = decided(*said)
    assert found.verdict is VerdictWord.ACCEPTED
    assert (found.gates[-1].passed, found.gates[-1].found) == (state, words)
    assert (passed(said), found_words(said)) == (state, words)


def test_it_blames_the_sanitizers_only_where_all_else_passed() -> None:
    found = decided(GUILTY, second=1.0)
    assert found.reason is Reason.NOT_REPEATED
    assert (found.gates[-1].passed, found.gates[-1].found) == (None, "not reached")
    assert not claims(decided(GUILTY))


@pytest.mark.parametrize("said", [(), (LOST,), (CLEAN, LOST)])
def test_it_is_stopped_by_what_did_not_run_where_sanitizers_are_required(
    said: tuple[Sanitized, ...],
) -> None:
    found = decided(*said, required=True)
    assert (found.verdict, found.reason) == (VerdictWord.NEEDS_REVIEW, Reason.NOT_SANITIZED)
    assert found.sentence.startswith("Needs review: sanitizers are required, and ")
    assert "not run: " in found.sentence
    assert "Apart from that: Accepted: 1.9" in found.sentence
    assert (found.gates[-1].passed, "(required here)" in found.gates[-1].limit) == (False, True)


def test_it_accepts_and_rejects_as_ever_where_all_that_are_required_ran() -> None:
    assert decided(CLEAN, IDLE, required=True).verdict is VerdictWord.ACCEPTED
    assert decided(GUILTY, LOST, required=True).reason is Reason.SANITIZER
    late = decided(LOST, second=1.0, required=True)
    assert (late.reason, late.gates[-1].found) == (Reason.NOT_REPEATED, "not reached")
