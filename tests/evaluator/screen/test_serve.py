"""What a stream tells of a variant that was late."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Outcome, Phase
from campaigns.evaluator.contract.errors import CandidateError
from campaigns.evaluator.contract.files import dump_line, load_line
from campaigns.evaluator.contract.stream import ScreenResult, Stream, VariantOrder
from campaigns.evaluator.judge.progress import JudgeProgress, JudgeTask
from campaigns.evaluator.screen import serve
from tests.evaluator import small

LATE = CandidateError(Outcome.TIMED_OUT, Phase.CHECK, "late", "n4096")


@pytest.mark.parametrize(
    ("outcome", "is_crowded", "is_load"),
    [
        (Outcome.TIMED_OUT, True, True),
        (Outcome.TIMED_OUT, False, False),
        (Outcome.WRONG_RESULT, True, False),
    ],
)
def test_it_says_whether_load_may_have_made_it_late(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcome: Outcome,
    is_crowded: bool,
    is_load: bool,
) -> None:
    begun = []
    bench = SimpleNamespace(
        runner=SimpleNamespace(watch=SimpleNamespace(begin=lambda: begun.append(1))),
        take=lambda order: (ScreenResult(order.number, outcome), LATE),
    )
    monkeypatch.setattr(serve, "ScreenBench", lambda task: bench)
    # Orders come minutes apart: of load that was before the last one nothing is asked.
    clock = itertools.count(0.0, 60.0)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    order = tmp_path / "order.json"
    order.write_text(dump_line(VariantOrder(7, small.source(), tmp_path)))
    told, pipe = os.pipe()
    progress = JudgeProgress(pipe, is_crowded=lambda: is_crowded)
    job = replace(small.job(tmp_path, tmp_path, small.source()), stream=Stream.SCREEN.value)
    with pytest.raises(CandidateError):
        serve.run(JudgeTask(job, {}, progress, None, [f"order {order}"]))
    os.close(pipe)
    with os.fdopen(told) as lines:
        line = next(one for one in lines if one.startswith("screened "))
    found = load_line(ScreenResult, line.removeprefix("screened "))
    assert (found.number, found.outcome, found.host_busy) == (7, outcome, is_load)
    assert begun == [1]
