"""Row softmax on this host: one kernel is better for short rows, another for long ones.

Nothing is made up here: the evaluator measures, the rules call for a split, and judge what is made.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Case, Limits, Protocol, Report, Source
from campaigns.proposers.dispatch.generate import dispatcher, given_integers
from campaigns.proposers.dispatch.parts import DispatchPlan, Part
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.dispatch import call_for_split, class_of
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.verdict.predicate import DispatchProblem, predicate
from tests.evaluator import small

pytestmark = pytest.mark.judged

SOFTMAX = Path("campaigns/problems/softmax")
SHORT, LONG = "D=32", "D=4096"
CASES = (
    Case("4096x32", {"N": 4096, "D": 32}),
    Case("2048x32", {"N": 2048, "D": 32}),
    Case("64x4096", {"N": 64, "D": 4096}),
)
# Each row in a tile of one size, so that its loops have no tail: a waste for short rows.
TILED = """\
#include <cmath>
#define TILE 4096

static inline float power(float x) { return expf(x); }

extern "C" void solve(const float* input, float* output, int N, int D) {
    alignas(64) static thread_local float tile[TILE];
    for (int row = 0; row < N; ++row) {
        const float* x = input + static_cast<long>(row) * D;
        float* y = output + static_cast<long>(row) * D;
        float peak = x[0];
        for (int j = 0; j < D; ++j) peak = x[j] > peak ? x[j] : peak;
        float total = 0.0f;
        for (int at = 0; at < D; at += TILE) {
            int width = D - at < TILE ? D - at : TILE;
            for (int j = 0; j < width; ++j) tile[j] = x[at + j] - peak;
            for (int j = width; j < TILE; ++j) tile[j] = -80.0f;
            for (int j = 0; j < TILE; ++j) tile[j] = power(tile[j]);
            for (int j = 0; j < width; ++j) total += tile[j];
            for (int j = 0; j < width; ++j) y[at + j] = tile[j];
        }
        float scale = 1.0f / total;
        for (int j = 0; j < D; ++j) y[j] *= scale;
    }
}
"""
PROTOCOL = Protocol(
    blocks=4,
    burst_ms=4.0,
    max_slots=64,
    arena_mib=512,
    trials=2,
    limits=Limits(build_s=60, load_s=20, call_s=5, prepare_s=30, total_s=240, lost_s=240),
)
CLASSES = {case.name: class_of(case.params, ("D",)) for case in CASES}
STANDARD = Standard(
    has_incumbent=True, classes=CLASSES, cases=frozenset(CLASSES), whole=len(CASES), noise=0.03
)


def test_r19_short_and_long_rows_of_softmax_each_keep_their_own_kernel(service, tmp_path):
    v0 = Source("v0.cpp", (SOFTMAX / "v0.cpp").read_text())
    tiled = Source("tiled.cpp", TILED, ("-O3", "-march=native", "-ffast-math"))

    def measured(candidate: Source) -> Report:
        more = {"incumbent": v0, "cases": CASES, "protocol": PROTOCOL}
        return service.evaluate(small.job(SOFTMAX.resolve(), tmp_path, candidate, **more))

    first = decide_session(measured(tiled), STANDARD)
    call = call_for_split(first.reason, first.classes, STANDARD.noise)
    assert call is not None, first.sentence
    assert [name for name, _ in call.taken] == [LONG]
    when = predicate(
        DispatchProblem(
            params={case.name: case.params for case in CASES},
            classes=CLASSES,
            taken=frozenset([LONG]),
            columns=("D",),
            given=given_integers("cpp", v0),
        )
    )
    assert when.words == f"D ≥ {LONG.removeprefix('D=')}"
    made = dispatcher("cpp", DispatchPlan(Part("round_1", v0), Part("round_2", tiled), v0, when))

    found = decide_session(measured(made), replace(STANDARD, taken=frozenset([LONG])))
    assert found.verdict is VerdictWord.ACCEPTED, found.sentence
    assert found.classes[LONG].low > STANDARD.noise
    # Where the tiled kernel alone lost by far, the split does not.
    assert first.classes[SHORT].high < -0.3 < -STANDARD.noise < found.classes[SHORT].gain
