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
    parts = (found.structural, found.weights, found.product)
    assert [part.ratio for part in parts] == pytest.approx([1.8, 1.015, 1.98])
    assert found.residual == pytest.approx(1.0)
    assert [part.rounds for part in (*parts, found.uncounted)] == [(2, 3), (4,), (2, 3, 4), ()]


@pytest.mark.parametrize(
    ("whole", "inflated", "selected"),
    [(1.509, False, False), (1.52, True, False), (1.4, False, True)],
)
def test_r21_it_flags_a_gap_of_more_than_a_hundredth(whole, inflated, selected):
    found = audit([AcceptedRound(2, gained(1.5), KERNEL)], gained(whole))
    assert (found.is_inflated, found.is_selected) == (inflated, selected)
    product = "The product of the rounds' gains over v0 is 1.50×"
    assert found.words.startswith(f"{product}, the final gain {gained(whole).words}, which ")


@pytest.mark.parametrize("whole", [Gain(8.76, 5.64, 17.0, 20), Gain(3.1, 1.2, 7.6, 20)])
def test_r21_a_gap_within_the_interval_of_the_final_session_is_not_flagged(whole):
    found = audit([AcceptedRound(2, Gain(7.44, 5.1, 10.2, 20), KERNEL)], whole)
    assert (found.is_inflated, found.is_selected) == (False, False)


@pytest.mark.parametrize("declared", [Declared(None), Declared(Bucket.W1, 30.0)])
def test_r21_a_gain_without_its_bucket_or_times_is_not_headline(declared):
    kept = [AcceptedRound(2, gained(1.5), KERNEL), AcceptedRound(3, gained(1.1), declared)]
    found = audit(kept, gained(1.65))
    assert found.real == pytest.approx(1.5)
    assert (found.uncounted.rounds, found.is_inflated) == ((3,), True)


def test_before_the_final_session_no_product_is_told():
    found = audit([AcceptedRound(n, gained(1.5), KERNEL) for n in (2, 3)], None)
    assert found.parts == ()
    assert "2.25" not in found.words
