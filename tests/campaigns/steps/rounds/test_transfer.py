"""What a campaign does with a round whose gain would not reach real use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.management.facts import round_text
from campaigns.models import EvaluationState
from campaigns.rules.verdict.buckets import Bucket
from campaigns.rules.verdict.decision import Reason, VerdictWord
from tests.campaigns.steps import cast

FASTER = "// time 50"


@pytest.fixture
def of_bucket(monkeypatch):
    """Have every hypothesis of the script name this bucket."""
    plain = cast.hypothesis

    def give(bucket, **times):
        monkeypatch.setattr(
            cast, "hypothesis", lambda index: replace(plain(index), bucket=bucket, **times)
        )

    return give


@pytest.mark.parametrize("bucket", [Bucket.W2, Bucket.W3])
def test_r21_it_never_runs_what_only_a_benchmark_feeds(run, judge, script, of_bucket, bucket):
    of_bucket(bucket)
    script([FASTER])
    round_ = run().rounds.get(number=2)
    assert [job for job in judge.jobs if job.candidate.text == FASTER] == []
    assert (round_.verdict.word, round_.verdict.reason) == (
        VerdictWord.REJECTED,
        Reason.NO_TRANSFER,
    )
    assert round_.verdict.sentence.startswith(f"Rejected by Rule 11: {bucket} is ")
    (evaluation,) = round_.chosen.evaluations.all()
    assert (evaluation.state, evaluation.report) == (EvaluationState.DONE, {})


def test_r21_round_show_names_the_bound_of_a_weight_cache(run, script, of_bucket):
    of_bucket(Bucket.W1, work_us=30.0, step_us=2000.0)
    script([FASTER])
    round_ = run().rounds.get(number=2)
    assert round_.verdict.word == VerdictWord.ACCEPTED, round_.verdict.sentence
    assert "counts for at most 1.5 % (Rule 11)" in round_.verdict.sentence
    assert "bucket: W1: " in round_text(round_)
    assert "at most 1.5 % in real use (30.0 µs of 2.00 ms)" in round_text(round_)
