"""The ranking of strategies (R38), with the four known failures of an older one as fixtures.

There a backend outweighed the kernel, an empty name was announced as the best strategy, the cure of
a silly start outweighed everything, and a bottleneck under another spelling never matched.
"""

import dataclasses
import random

import pytest

from knowledge.experience.recommend.score import (
    CUT_OFF,
    ContextRecord,
    Question,
    effect,
    evidence,
    fit,
    judge,
    wilson,
)

ASKED = Question(
    op="softmax",
    backend="triton",
    platform="a6000",
    arch="sm_86",
    dtype="fp32",
    bottleneck="memory_dram",
    size_log2=24.0,
)
EXACT = ContextRecord(
    key=1,
    strategy="tr.tile",
    op="softmax",
    dtype="fp32",
    backend="triton",
    platform="a6000",
    arch="sm_86",
    bottleneck="memory_dram",
    size_log2=24.0,
    tried=10,
    worked=8,
    gains=10,
    gain=0.1,
    recent_failures=0,
)


def context(**changed: object) -> ContextRecord:
    return EXACT._replace(**changed)


def judged(*contexts: ContextRecord, asked: Question = ASKED):
    return judge(asked, contexts)[0]


@pytest.mark.parametrize(
    ("changed", "points"),
    [
        ({}, 100),
        ({"op": "layernorm"}, 90),
        ({"op": "matmul"}, 60),
        ({"bottleneck": "memory_cache"}, 90),
        ({"bottleneck": "compute_alu"}, 75),
        ({"bottleneck": "unknown"}, 75),
        ({"backend": "cuda"}, 85),
        ({"arch": "sm_80"}, 95),
        ({"arch": "sm_90"}, 90),
        ({"arch": ""}, 90),
        ({"size_log2": 19.0}, 95),
        ({"size_log2": 40.0}, 90),
        ({"size_log2": None}, 90),
    ],
)
def test_r38_the_fit_adds_what_two_contexts_share(changed, points):
    assert fit(ASKED, context(**changed)) == points


@pytest.mark.parametrize(("arch", "points"), [("sm_90a", 100), ("sm_90", 100), ("sm_89", 90)])
def test_the_letter_of_a_target_is_no_other_architecture(arch, points):
    asked = dataclasses.replace(ASKED, arch="sm_90a")
    assert fit(asked, context(arch=arch)) == points


def test_r38_what_is_too_unlike_is_left_out_whatever_its_record():
    far = context(op="matmul", bottleneck="unknown", tried=1000, worked=1000)
    assert fit(ASKED, far) < CUT_OFF
    assert judged(far) == []


@pytest.mark.parametrize(
    ("n", "worked", "weight"),
    [(0, 0, 0), (1, 1, 0.056), (10, 5, 0.222), (20, 20, 1), (500, 490, 1)],
)
def test_strong_evidence_weighs_about_one(n, worked, weight):
    assert evidence(n, worked) == pytest.approx(weight, abs=0.001)


def test_the_wilson_interval():
    assert wilson(10, 5) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 0) == (0, 1)


def test_the_reasons_add_up_to_the_score():
    draw = random.Random(1)
    for _ in range(200):
        tried = draw.randrange(1, 60)
        (one,) = judged(
            context(
                tried=tried,
                worked=draw.randrange(0, tried + 1),
                gain=draw.uniform(-1, 3),
                recent_failures=draw.randrange(6),
            )
        )
        assert one.score == pytest.approx(sum(reason.points for reason in one.reasons), abs=0.05)
        assert one.score >= 0
        assert all(reason.words for reason in one.reasons)


def test_the_order_does_not_depend_on_the_order_of_rows():
    draw = random.Random(2)
    rows = [
        context(
            key=n,
            strategy=f"s{n % 9}",
            tried=n % 7 + 1,
            worked=n % 3,
            size_log2=draw.choice([8.0, 20.0]),
        )
        for n in range(60)
    ]
    first = judged(*rows)
    draw.shuffle(rows)
    assert judged(*rows) == first


def test_r38_a_recent_failure_in_the_same_context_takes_a_tenth():
    (clean,), (failed,) = judged(context()), judged(context(recent_failures=3))
    assert failed.score == pytest.approx(0.7 * clean.score, abs=0.1)
    assert failed.recent_failures == 3
    (elsewhere,) = judged(context(recent_failures=3, dtype="bf16"))
    assert elsewhere.score == clean.score


def test_contexts_are_taken_together_from_the_nearest_on():
    near, far = context(tried=1, worked=1), context(key=2, tried=30, worked=25, size_log2=40.0)
    (both,) = judged(near, far)
    assert (both.tried, both.worked) == (31, 26)
    (alone,) = judged(near)
    assert both.score > alone.score
    (strong,) = judged(
        context(tried=100, worked=100), context(key=2, tried=30, worked=10, op="layernorm")
    )
    assert strong.tried == 100


def test_what_never_worked_is_to_be_avoided():
    (one,) = judged(context(tried=1, worked=0))
    assert (one.avoid, one.tried, one.worked) == (True, 1, 0)
    assert any("1 of 1 showed no gain" in reason.words for reason in one.reasons)


def test_what_surely_fails_in_the_nearest_contexts_is_to_be_avoided_though_it_works_farther_off():
    near = context(tried=15, worked=0)
    far = context(key=2, op="layernorm", tried=100, worked=60)
    (one,) = judged(near, far)
    assert (one.avoid, one.tried) == (True, 15)


def test_what_fails_more_often_than_not_is_still_a_hit():
    (one,) = judged(context(tried=9, worked=3))
    assert not one.avoid


# The four known failures.


def test_an_exact_match_is_first():
    exact = context(strategy="exact", tried=3, worked=3)
    others = [
        context(key=2, strategy="op", op="layernorm", tried=3, worked=3),
        context(key=3, strategy="backend", backend="cuda", tried=3, worked=3),
        context(key=4, strategy="bottleneck", bottleneck="latency", tried=3, worked=3),
    ]
    assert judged(*others, exact)[0].strategy == "exact"


def test_an_unrelated_kernel_of_the_backend_never_stands_above_the_kernel_of_another():
    asked = Question(op="softmax", backend="triton")
    unrelated = context(strategy="tr.swizzle", op="matmul", tried=30, worked=30)
    related = context(key=2, strategy="cu.online", backend="cuda", tried=1, worked=1)
    assert fit(asked, unrelated) < fit(asked, related)
    asked = dataclasses.replace(ASKED, bottleneck="unknown")
    assert [one.strategy for one in judged(unrelated, related, asked=asked)] == ["cu.online"]


def test_r38_an_entry_without_a_strategy_is_never_recommended():
    assert judged(context(strategy="", tried=50, worked=50)) == []


def test_r38_the_cure_of_a_silly_start_counts_as_twice_as_fast():
    assert effect(35.0) == effect(1.0) == 1
    silly = context(strategy="silly", gain=35.0)
    double = context(key=2, strategy="double", gain=1.0)
    first, second = judged(silly, double)
    assert first.score == second.score
    sound = context(key=3, strategy="sound", gain=0.3, tried=20, worked=19)
    assert judged(silly, sound)[0].strategy == "sound"


def test_the_roofline_s_word_for_a_bottleneck_meets_the_profiler_s():
    asked = dataclasses.replace(ASKED, bottleneck="memory")
    for named in ("memory_dram", "memory_cache"):
        assert fit(asked, context(bottleneck=named)) == 90
