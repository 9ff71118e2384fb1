"""What is right and no faster on new inputs, but remembers old ones, is refused by its verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.benchmarks.trick import TRICKS, job_of, read
from campaigns.evaluator.contract import Outcome
from campaigns.rules.verdict.buckets import Bucket, Declared
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.verdict.repeats import repeats

AGAINST = Standard(has_incumbent=True)
W1 = replace(AGAINST, declared=Declared(Bucket.W1, 30.0, 2000.0))


@pytest.mark.parametrize(
    ("name", "found", "as_weight_cache"),
    [
        ("cheats/cpp/weights_by_content.cpp", ("kept weights", "all inputs kept"), None),
        ("cheats/cpp/last_answer.cpp", ("all inputs kept",), Reason.FITTED),
    ],
)
def test_r20_it_refuses_what_is_faster_where_inputs_come_again(
    service, tmp_path, name, found, as_weight_cache
):
    job = job_of(read(TRICKS / name, TRICKS), tmp_path / "scratch", "cpu", "native")
    report = service.evaluate(replace(job, protocol=replace(job.protocol, blocks=3)))
    assert report.outcome is Outcome.PASSED, report.reason
    decision = decide_session(report, AGAINST)
    assert decision.reason is Reason.FITTED, decision
    assert "fitted to the benchmark" in decision.sentence
    gate = next(gate for gate in decision.gates if gate.name == "repeats")
    assert any(words in gate.found for words in found), gate
    assert repeats(report, W1).reason is as_weight_cache, repeats(report, W1)
