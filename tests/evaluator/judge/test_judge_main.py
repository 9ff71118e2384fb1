"""Whatever ends a judge becomes a report, which says whether others kept the host busy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Outcome, Phase, Source
from campaigns.evaluator.contract.errors import BadReference, CandidateError, HostBusy, HostError
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.judge.main import main
from campaigns.evaluator.judge.progress import JudgeProgress, JudgeTask
from tests.evaluator import small


@pytest.mark.parametrize(
    ("error", "is_crowded", "is_load"),
    [
        (HostBusy("the host is too busy"), False, True),
        (HostError("the incumbent failed"), True, True),
        (HostError("the incumbent failed"), False, False),
        (BadReference("ref.py: line 3: odd"), True, False),
        (CandidateError(Outcome.TIMED_OUT, Phase.BURST, "late", "n4096"), True, True),
        (CandidateError(Outcome.TIMED_OUT, Phase.BURST, "late", "n4096"), False, False),
        (CandidateError(Outcome.WRONG_RESULT, Phase.CHECK, "wrong", "n4096"), True, False),
        (CandidateError(Outcome.CHEATED, Phase.BURST, "forged", "n4096"), True, False),
    ],
)
def test_it_blames_load_for_what_says_nothing_of_the_candidate(
    tmp_path: Path, error: Exception, is_crowded: bool, is_load: bool
) -> None:
    def fails(task: JudgeTask) -> None:
        task.progress.is_crowded = lambda: is_crowded
        raise error

    pipe = os.open(os.devnull, os.O_WRONLY)
    try:
        job = small.job(tmp_path, tmp_path, Source("candidate.cpp", "void"))
        report = main(JudgeTask(job, {}, JudgeProgress(pipe), None), fails)
    finally:
        os.close(pipe)
    assert load_report(dump(report)).host_busy is is_load
