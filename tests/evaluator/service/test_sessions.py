"""Two evaluations of one candidate share nothing that it could know again."""

from __future__ import annotations

from collections.abc import Callable

from campaigns.evaluator.contract import Outcome, Report
from tests.evaluator.small import LOOP, source

# Tells which call in its process this is, and what input it was given.
TELL = "#include <cstdio>\nstatic int calls;\n"
BODY = 'printf("%d %a,%a,%a\\n", ++calls, x[0], x[1], x[2]); fflush(stdout); '


def test_it_gives_every_evaluation_processes_and_inputs_of_its_own(
    judge: Callable[..., Report],
) -> None:
    teller = source(BODY + LOOP, before=TELL)
    first, second = judge(teller), judge(teller)
    told = [{line for line in r.runner_log.splitlines() if "0x" in line} for r in (first, second)]
    assert [r.outcome for r in (first, second)] == [Outcome.PASSED, Outcome.PASSED]
    assert all(told)
    inputs = [{line.split()[-1] for line in lines} for lines in told]
    # Whole numbers are among the sets that every kernel is checked on; drawn values never repeat.
    drawn = [{value for value in values if len(value) > 30} for values in inputs]
    assert all(drawn)
    assert not drawn[0] & drawn[1]
    assert all(any(line.split()[0] == "1" for line in lines) for lines in told)
    assert first.environment["session"] != second.environment["session"]
