"""A copy that a plain caller would not pay for is told beside the times that hold it."""

from __future__ import annotations

from campaigns.evaluator.contract import (
    CaseReport,
    CopiedOutput,
    Outcome,
    Phase,
    Report,
    Timer,
    Timing,
)
from campaigns.rules.verdict.report_words import copied_by, copied_words, notes_of


def timing(*copied: tuple[str, int]) -> Timing:
    return Timing((9.0,), 64, 8, Timer.GRAPH, copied=tuple(CopiedOutput(*one) for one in copied))


def report(*cases: tuple[Timing, Timing | None]) -> Report:
    rows = tuple(
        CaseReport(f"case{n}", True, 1, candidate=candidate, incumbent=incumbent)
        for n, (candidate, incumbent) in enumerate(cases)
    )
    return Report("1", Outcome.PASSED, Phase.DONE, "fine", rows, notes=("a",))


def test_nothing_is_said_where_nothing_is_copied():
    found = report((timing(), timing()))
    assert (copied_by(found), copied_words(found), notes_of(found)) == ((), "", ("a",))


def test_one_that_copies_is_told_with_the_size():
    found = report((timing(("y", 16_800_000)), None), (timing(("y", 16_800_000)), None))
    assert copied_words(found) == (
        "Each timed call copies `y` (16.8 MB) into its place; a caller that takes the returned "
        "tensor would not pay for that."
    )


def test_the_largest_size_counts_and_the_cases_are_named_where_not_all_copy():
    found = report(
        (timing(("y", 4000), ("z", 8)), None), (timing(("y", 2000)), None), (timing(), None)
    )
    assert copied_by(found) == (CopiedOutput("z", 8), CopiedOutput("y", 4000))
    words = copied_words(found)
    assert words.startswith("In case0, case1 each timed call copies ")
    assert "`y` (up to 4.00 kB)" in words
    assert "`z` (8.00 B)" in words


def test_a_copy_of_the_incumbent_is_told_as_its_own():
    found = report((timing(), timing(("y", 4000))))
    assert notes_of(found) == (
        "a",
        "Each timed call of the incumbent copies `y` (4.00 kB) into its place; a caller that "
        "takes the returned tensor would not pay for that.",
    )
