"""A realistic campaign, invented numbers: driven through the real steps by a scripted proposer.

Ten rounds with every verdict, a sweep, long names, and hostile text wherever people or candidates
can leave some. Pages, reports and browser tests share it.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from django.conf import settings
from django.db import connection
from django.utils import timezone

from campaigns.evaluator.contract import CaseReport, Outcome, Phase, Report, Source, Timer, Timing
from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.transitions import claim
from campaigns.proposers.base import Draft, Hypothesis, MetricDirection, Variant
from campaigns.rules.stop.policy import StopPolicy
from campaigns.rules.verdict.buckets import Bucket
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.measuring.results import record_report
from knowledge.exchange.importer import MEASURED, SHIPPED
from knowledge.exchange.readers.files import read_folder
from knowledge.models.document import SHIPPED_ORIGIN
from tests.campaigns.profiles import counted, listed
from tests.kept_rows import made_once
from tests.kept_wiki import put_files

PROBLEM = settings.BASE_DIR / "campaigns" / "problems" / "softmax"
PLATFORM = "h200-sxm"
HOSTILE = "<script>document.title='owned'</script><img src=//evil.example/x onerror=alert(1)>"
WORK = {"1024x1024": (5.0 * 2**20, 8.0 * 2**20), "4096x4096": (5.0 * 2**24, 8.0 * 2**24)}
V0_US = {"1024x1024": 9.84, "4096x4096": 142.6}
PAIRS = 10

TWO_PASS = """// Row softmax: one block per row, peak and sum kept in one pass over global memory.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void softmax_rows(const float* input, float* output, int N, int D) {
    __shared__ float peaks[THREADS], totals[THREADS];
    const float* x = input + static_cast<long>(blockIdx.x) * D;
    float* y = output + static_cast<long>(blockIdx.x) * D;
    float peak = -INFINITY, total = 0.0f;
    for (int j = threadIdx.x; j < D; j += THREADS) {
        float higher = fmaxf(peak, x[j]);
        total = total * __expf(peak - higher) + __expf(x[j] - higher);
        peak = higher;
    }
    peaks[threadIdx.x] = peak;
    totals[threadIdx.x] = total;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            float a = peaks[threadIdx.x], b = peaks[threadIdx.x + half];
            float higher = fmaxf(a, b);
            totals[threadIdx.x] = totals[threadIdx.x] * __expf(a - higher)
                                + totals[threadIdx.x + half] * __expf(b - higher);
            peaks[threadIdx.x] = higher;
        }
        __syncthreads();
    }
    for (int j = threadIdx.x; j < D; j += THREADS) {
        y[j] = __expf(x[j] - peaks[0]) / totals[0];
    }
}

extern "C" void solve(float* input, float* output, int N, int D) {
    softmax_rows<<<N, THREADS>>>(input, output, N, D);
}
"""


@dataclass(frozen=True)
class Idea:
    """One scripted round. gains: case → time of the incumbent over time of the candidate."""

    strategy: str
    title: str
    gains: dict[str, float]
    edit: tuple[str, str] | None = None
    text: str = ""
    flags: tuple[str, ...] = ()
    outcome: Outcome = Outcome.PASSED
    disagrees: bool = False
    variants: tuple[str, ...] = ()
    log: str = ""
    notes: tuple[str, ...] = ()
    expected: float = 0.1


def both(gain: float) -> dict[str, float]:
    return dict.fromkeys(WORK, gain)


IDEAS = (
    Idea(
        "recipe.block_per_row",
        "Give each row a whole block and find peak and sum in one pass",
        {"1024x1024": 2.31, "4096x4096": 2.84},
        text=TWO_PASS,
        expected=0.6,
    ),
    Idea(
        "search.threads",
        "Sweep the threads of a block",
        both(1.083),
        edit=("constexpr int THREADS = 256;", "constexpr int THREADS = 512;"),
        variants=("THREADS = 512", "THREADS = 1024", "THREADS = 128"),
    ),
    Idea("search.flags", "Compile with -O3", both(1.002), flags=("-O3",), expected=0.02),
    Idea(
        "recipe.unroll",
        f"Unroll the first loop by four {HOSTILE}",
        {"1024x1024": 0.914, "4096x4096": 0.957},
        edit=("    float peak = -INF", "    #pragma unroll 4\n    float peak = -INF"),
        log=f"candidate.cu(11): warning #20012-D: \x1b[31munroll ignored\x1b[0m {HOSTILE}",
        notes=("the pragma has no loop to act on",),
    ),
    Idea(
        "recipe.float4",
        "Read four values at a time through float4 so that every memory transaction is full, and "
        "keep the remainder of rows whose length is no multiple of four in a scalar loop",
        {"1024x1024": 1.118, "4096x4096": 1.224},
        edit=("y[j] = __expf(x[j] - peaks[0]) / totals[0];",
              "float scaled = __expf(x[j] - peaks[0]);\n        y[j] = scaled / totals[0];"),
        expected=0.15,
    ),
    Idea(
        "recipe.skip_peak",
        "Leave out the subtraction of the row's peak",
        both(1.0),
        edit=("x[j] - peaks[0]", "x[j]"),
        outcome=Outcome.WRONG_RESULT,
        log=f"{HOSTILE}\nnan in row 17",
    ),
    Idea("recipe.half_rows", "Write only the rows that are read again", both(2.6)),
    Idea(
        "recipe.persistent",
        "Keep the blocks resident and loop over rows",
        both(1.07),
        edit=("blockIdx.x) * D;\n    float* y", "blockIdx.x + 0) * D;\n    float* y"),
        disagrees=True,
    ),
    Idea(
        "recipe.reciprocal",
        "Multiply by the reciprocal of the sum instead of dividing",
        {"1024x1024": 1.031, "4096x4096": 1.034},
        edit=("scaled / totals[0]", "scaled * (1.0f / totals[0])"),
        expected=0.03,
    ),
)  # fmt: skip


@dataclass
class Bench:
    """Plays worker and proposer. times: candidate → its true time per case."""

    campaign: Campaign
    dice: random.Random = field(default_factory=lambda: random.Random(7))
    times: dict[int, dict[str, float]] = field(default_factory=dict)
    labels: dict[str, Idea] = field(default_factory=dict)

    def propose(self, campaign: Campaign) -> Draft | None:
        number = campaign.rounds.count() + 1
        if number - 2 >= len(IDEAS):
            return None
        idea = IDEAS[number - 2]
        source = _edited(campaign.incumbent.source, idea)
        variants = [Variant(idea.title[:200], source)]
        if idea.variants:
            variants = [Variant(name, _threads(source, name)) for name in idea.variants]
        for variant in variants:
            self.labels[variant.label] = idea
        return Draft(_hypothesis(idea), tuple(variants))

    def measure(self, evaluation: Evaluation) -> None:
        claim(
            Evaluation.objects.filter(pk=evaluation.pk),
            state=EvaluationState.RUNNING,
            holder="gpu-box:4711",
            started_at=timezone.now(),
            heartbeat_at=timezone.now(),
        )
        evaluation.refresh_from_db()
        record_report(evaluation, self._report(evaluation))

    def _report(self, evaluation: Evaluation) -> Report:
        candidate = evaluation.candidate
        idea = self.labels.get(candidate.label)
        rival = self.times.get(evaluation.against_id or 0, V0_US)
        gains = idea.gains if idea else both(1.0)
        if candidate.label in ("THREADS = 1024", "THREADS = 128"):
            gains = both(0.98)
        own = self.times.setdefault(candidate.pk, {c: rival[c] / gains[c] for c in WORK})
        if evaluation.kind == "report":
            rival = V0_US
        wrong = idea is not None and idea.outcome is Outcome.WRONG_RESULT
        cases = [
            self._case(case, own[case], rival[case], idea if not wrong else None, wrong=wrong)
            for case in WORK
        ]
        is_first = candidate.round.number == 1
        explained = evaluation.traits.reads_code and not wrong
        return Report(
            job_id=str(evaluation.pk),
            machine_code=listed("v0" if is_first else "two_pass") if explained else None,
            profile=counted("softmax_naive" if is_first else "softmax_good", "4096x4096")
            if explained
            else None,
            outcome=idea.outcome if idea else Outcome.PASSED,
            phase=Phase.DONE,
            reason="4096x4096: 16,777,216 of 16,777,216 values are wrong" if wrong else "",
            cases=tuple(cases),
            build_log=idea.log if idea and not wrong else "",
            runner_log=idea.log if idea and wrong else "",
            notes=idea.notes if idea else (),
            environment={
                "device": "NVIDIA H200",
                "driver": "570.86.15",
                "compiler": "nvcc 12.8.93",
                "target": "sm_90a",
                "clocks": "1,980 MHz, no throttling seen",
                "host": "gpu-box",
            },
            wall_s={"build": 3.81, "check": 0.92, "burst": 4.7},
        )

    def _case(
        self, name: str, own: float, rival: float, idea: Idea | None, *, wrong: bool
    ) -> CaseReport:
        found = CaseReport(
            case=name,
            correct=not wrong,
            checked_calls=5,
            max_abs_error=1.2 if wrong else 2.98e-8,
            max_rel_error=None if wrong else 6.1e-7,
            margin=9.4e3 if wrong else 0.0047,
            message=f"row 17: nan, expected 0.000244 {HOSTILE}" if wrong else "",
        )
        if wrong:
            return found
        device = own * (0.62 if idea and idea.disagrees else 0.995)
        drift = [self.dice.gauss(1, 0.004) for _ in range(PAIRS)]
        return replace(
            found,
            candidate=self._timing(own, drift, device),
            incumbent=self._timing(rival, drift, rival * 0.995),
        )

    def _timing(self, time_us: float, drift: list[float], device_us: float) -> Timing:
        samples = tuple(time_us * d * self.dice.gauss(1, 0.003) for d in drift)
        return Timing(samples, long_calls=512, short_calls=64, timer=Timer.GRAPH,
                      device_us=device_us, warm_us=0.82 * time_us,
                      eager_us=time_us + 2.4)  # fmt: skip


def build_sample(*, rounds: int = 10, running: bool = False, owner: object = None) -> Campaign:
    """Make the campaign. running: one more round is open and being measured, no end in sight."""

    def build() -> int:
        return _build(rounds, owner, running=running)

    # What runs does so by the clock of its test. PostgreSQL adds no row in a later state.
    if running or connection.vendor != "sqlite":
        return Campaign.objects.get(pk=build())
    key = ("sample", rounds, str(owner))
    return Campaign.objects.get(pk=made_once(key, ["knowledge", "campaigns"], build, user=owner))


def _build(rounds: int, owner: object, *, running: bool) -> int:
    # By documents alone: its invented times stay what they are when a measurement is shipped.
    texts = read_folder(SHIPPED)
    put_files({p: t for p, t in texts.items() if not p.startswith(MEASURED)}, SHIPPED_ORIGIN)
    start = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
    if running:
        start = timezone.now() - timedelta(seconds=27 * (rounds + 1))
    with ticking(start), patch("campaigns.steps.lifecycle.set_target.work_model", _work):
        policy = StopPolicy(max_rounds=20 if running else rounds)
        wish = Wish(
            problem=PROBLEM,
            platform=PLATFORM,
            backend="cuda",
            cases=tuple(V0_US),
            policy=policy,
            seed=20261121,
            created_by=owner,
        )
        campaign = create_campaign(wish)
        confirm(campaign)
        _drive(campaign, rounds, running=running)
    return campaign.pk


def _drive(campaign: Campaign, rounds: int, *, running: bool) -> None:
    bench = Bench(campaign)
    with patch("campaigns.steps.lifecycle.advance.propose", bench.propose):
        while not campaign.is_finished:
            waiting = Evaluation.objects.filter(
                candidate__round__campaign=campaign, state=EvaluationState.QUEUED
            )
            last = waiting.last()
            if running and last and last.candidate.round.number > rounds:
                claim(
                    Evaluation.objects.filter(pk=last.pk),
                    state=EvaluationState.RUNNING,
                    holder="gpu-box:4711",
                    phase="burst",
                    started_at=timezone.now(),
                    heartbeat_at=timezone.now(),
                )
                return
            for evaluation in waiting:
                bench.measure(evaluation)
            advance(campaign)
            campaign.refresh_from_db()


@contextmanager
def ticking(start: datetime) -> Iterator[None]:
    """Let every look at the clock take a second, so that the records have believable times."""
    moment = start

    def now() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    with patch("django.utils.timezone.now", now):
        yield


def _work(folder: object, cases: object) -> dict[str, tuple[float, float]]:
    return WORK


def _edited(source: Source, idea: Idea) -> Source:
    text = idea.text or source.text
    if idea.edit:
        assert idea.edit[0] in text, f"{idea.strategy}: nothing to edit"
        text = text.replace(*idea.edit)
    return Source(source.name, text, (*source.flags, *idea.flags))


def _threads(source: Source, label: str) -> Source:
    return replace(source, text=source.text.replace("THREADS = 512", label))


def _hypothesis(idea: Idea) -> Hypothesis:
    return Hypothesis(
        strategy=idea.strategy,
        title=idea.title,
        change=f"{idea.title}.",
        rationale="The kernel is bound by memory, so bytes that move twice cost twice the time; "
        f"whatever shortens the wait counts. {HOSTILE if 'unroll' in idea.strategy else ''}",
        evidence=(
            "4096x4096: 143 µs by unpaired medians, 19.6 % of the floor of 28.0 µs, memory-bound "
            "[memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L14]",
        ),
        expected_metric="time_us",
        expected_direction=MetricDirection.DOWN,
        expected_amount=idea.expected,
        risks="Rows whose length is no multiple of the block need their own tail.",
        params={},
        bucket=Bucket.K1,
    )
