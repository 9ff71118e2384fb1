"""How much of a gain reaches real use: the buckets, the bound of a weight cache, the audit."""

from dataclasses import replace

import pytest

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.buckets import AcceptedRound, Bucket, Declared, audit, weight_bound
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import GATE_NAMES, decide_session
from tests.campaigns.rules.builders import case, report, timing

AGAINST = Standard(has_incumbent=True)
SLOW, FAST = timing([10.0] * 10), timing([5.0] * 10)
KERNEL, CACHE = Declared(Bucket.K1), Declared(Bucket.W1, 30.0, 2000.0)


def test_r21_a_weight_cache_is_bounded_by_its_share_of_a_step():
    assert weight_bound(30.0, 2000.0) == pytest.approx(0.015)
    assert "at most 1.5 % in real use (30.0 µs of 2.00 ms)" in CACHE.words


@pytest.mark.parametrize(
    ("work_us", "step_us", "field"),
    [(0.0, 1.0, "work_us"), (1.0, float("inf"), "step_us"), (3.0, 2.0, "work_us")],
)
def test_r21_it_takes_no_bound_from_what_is_no_time(work_us, step_us, field):
    with pytest.raises(ValueError, match=field):
        weight_bound(work_us, step_us)


@pytest.mark.parametrize("bucket", [Bucket.W2, Bucket.W3])
def test_r21_it_refuses_what_only_a_benchmark_feeds_and_names_the_rule(bucket):
    found = decide_session(None, replace(AGAINST, declared=Declared(bucket)))
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.NO_TRANSFER)
    assert found.sentence.startswith(f"Rejected by Rule 11: {bucket} is {bucket.words}")
    assert tuple(gate.name for gate in found.gates) == GATE_NAMES
    assert found.gates[1].passed is False


@pytest.mark.parametrize("bucket", [Bucket.K1, Bucket.K2, Bucket.K3, Bucket.K4])
def test_r21_it_credits_kernel_work_whole(bucket):
    found = decide_session(report(case(FAST, SLOW)), replace(AGAINST, declared=Declared(bucket)))
    assert found.reason is Reason.PROMOTED
    assert "W1" not in found.sentence
    assert found.gates[1].passed is True


@pytest.mark.parametrize(
    ("declared", "words", "passed"),
    [
        (CACHE, "it counts for at most 1.5 % (Rule 11)", True),
        (Declared(Bucket.W1, 30.0), "adds nothing to the campaign's real gain", None),
    ],
)
def test_r21_a_weight_cache_says_how_much_of_it_counts(declared, words, passed):
    found = decide_session(report(case(FAST, SLOW)), replace(AGAINST, declared=declared))
    assert found.reason is Reason.PROMOTED
    assert words in found.sentence
    assert found.gates[1].passed is passed


def gained(ratio):
    return Gain(ratio - 1, ratio - 1.001, ratio - 0.999, 20)


def test_r21_the_audit_multiplies_ratios():
    kept = [
        AcceptedRound(2, gained(1.5), KERNEL),
        AcceptedRound(3, gained(1.2), KERNEL),
        AcceptedRound(4, gained(1.1), CACHE),
    ]
    found = audit(kept, gained(1.5 * 1.2 * 1.015))
    assert 1 + found.structural.gain == pytest.approx(1.8)
    assert 1 + found.weights.gain == pytest.approx(1.015)
    assert found.residual == pytest.approx(1.0)
    assert (found.structural_rounds, found.weight_rounds, found.uncounted) == ((2, 3), (4,), ())
    assert not found.has_gap
    assert found.words.startswith("Clean: 1.83× faster [1.83, 1.83] measured against v0, and ")


@pytest.mark.parametrize(
    ("whole", "inflated", "gap"), [(1.509, False, False), (1.52, True, True), (1.4, False, True)]
)
def test_r21_it_flags_a_gap_of_more_than_a_hundredth(whole, inflated, gap):
    found = audit([AcceptedRound(2, gained(1.5), KERNEL)], gained(whole))
    assert (found.is_inflated, found.has_gap) == (inflated, gap)


def test_r21_what_noise_explains_is_not_inflated():
    kept = [AcceptedRound(2, Gain(7.44, 5.1, 10.2, 20), KERNEL)]
    found = audit(kept, Gain(8.76, 5.64, 17.0, 20))
    assert (found.is_inflated, found.has_gap) == (False, False)
    assert found.words == (
        "Clean: 9.76× faster [6.64, 18.0] measured against v0, and its parts multiply to the same "
        "within their intervals."
    )


@pytest.mark.parametrize("declared", [Declared(None), Declared(Bucket.W1, 30.0)])
def test_r21_a_gain_without_its_bucket_or_times_is_not_headline(declared):
    found = audit(
        [AcceptedRound(2, gained(1.5), KERNEL), AcceptedRound(3, gained(1.1), declared)], None
    )
    assert 1 + found.real.gain == pytest.approx(1.5)
    assert (found.uncounted, found.is_inflated) == ((3,), True)
    assert "by all rounds together" in found.words
