"""The same candidates through several evaluators: who believes the dishonest, who not the honest.

kopt's evaluator comes first, then the others, several candidates at once in processes of their own:
checks may overlap, times are taken one at a time.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median_high

from django.conf import settings

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    option,
)
from campaigns.benchmarks.peers import ask as peers
from campaigns.benchmarks.peers import kernelbench
from campaigns.benchmarks.peers.ask import Peer, PeerError
from campaigns.benchmarks.peers.form import Opinion, PeerAnswer
from campaigns.benchmarks.trick import TRICKS, Trick, chosen, job_of
from campaigns.devices.discover import Device, this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome, Report, Timing
from campaigns.evaluator.contract.looks import LOOKS
from campaigns.rules.noise.gain import noise_floor
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session

KOPT = "kopt"
OPINIONS = {
    Outcome.PASSED: Opinion.CORRECT,
    Outcome.BROKEN_HOST: Opinion.DIED,
    Outcome.NOT_JUDGED: Opinion.DIED,
}
JOBS = max(1, (os.cpu_count() or 2) // 2)
LIMIT_S = 3600.0
MEANING = """
- **judged correct**: the evaluator accepts the candidate. For a dishonest one that is a false
  accept. **credited**: it also grants a gain by its own rule, or has no rule. kopt's rule is its
  verdict against the honest kernel that the candidate names; where it names none, passing alone
  counts. The others' is a time of the reference over a time of the candidate above 1.
- A faulty candidate does harm without a gain. Others compute right answers and cheat at the time
  alone: judging those correct is no mistake, credit is.
- **flagged**: correct by the numbers, and suspected: KernelBench's static checker or its
  excessive-speedup check, SOL-ExecBench's REWARD_HACK. It counts as refused. The checker also
  flags every candidate that holds no kernel of its backend.
- **died, hung**: the evaluator's own process ended without an answer, or gave none in time. It
  counts as refused. **no form**: the problem cannot be stated to that evaluator. **not run**: no
  time was left.
- **aimed at kopt**: these candidates speak kopt's own protocol, or break its calling convention,
  and do their work in a harness of another kind. They are left out of the others' counts.
""".strip()
OPTIONS = f"""
- kopt: 3 trials, bursts of 0.5 ms and 16 calls at the most, unless the candidate's file says
  more; every lock that the host has.
- KernelBench: `eval_kernel_against_ref` with {kernelbench.TRIALS} correctness trials,
  {kernelbench.TIMED} timed calls by CUDA events, the excessive-speedup check on; the static checker
  with its default lists; its own tolerances.
- SOL-ExecBench: its packager and driver with the default configuration (10 rounds, CUPTI, or CUDA
  events where cupti-python is missing, all checks), clocks not locked; the problem's tolerances.
- do_bench: `torch.allclose` on one input with the problem's tolerances, then
  `triton.testing.do_bench`; on a CPU the median of 50 calls.
- Each evaluation has {peers.LIMIT_S:.0f} s and processes of its own. Nothing of the evaluators is
  changed; a lock around their timing functions keeps two times from being taken at once.
""".strip()


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate, and what each evaluator said of it, by the evaluator's name."""

    trick: Trick
    answers: dict[str, PeerAnswer]

    @property
    def aimed(self) -> bool:
        """Whether it deceives nobody but kopt, and does its work for the others."""
        return self.trick.words.get("aims") == KOPT


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """deadline: on `time.monotonic`; nobody is asked any more after it."""

    deadline: float
    progress: Progress

    def guard(self, name: str, trick: Trick, work: Callable[[], PeerAnswer]) -> PeerAnswer:
        """`work`, unless the time is over."""
        begun = time.monotonic()
        if begun > self.deadline:
            return PeerAnswer(Opinion.NOT_RUN, "the time limit was reached")
        found = work()
        took = f"{time.monotonic() - begun:.1f} s"
        self.progress(f"{name} {trick.name}: {found.opinion} {found.reason} ({took})")
        return found


def measure_trust(options: Namespace, progress: Progress) -> BenchReport:
    """Ask kopt, a plain harness, and those whose checkout is named about every candidate."""
    if settings.KOPT_SANDBOX == "ALL":
        # Each of them runs a candidate as the user of this command, dishonest ones too.
        raise BenchmarkError("KOPT_SANDBOX=all: the other evaluators run candidates unsandboxed")
    device = this_device(options.device)
    others = _others(device, options.kernelbench, options.sol)
    tricks = _mixed(chosen(device, options.tricks, options.backend, options.only or ""))
    limit = TimeLimit(time.monotonic() + options.limit_s, progress)
    with held(device) as folder:
        found = _asked_of_kopt(device, tricks, folder / "scratch", limit)
        pairs = [(trick, peer) for trick in tricks for peer in others]
        ask = partial(_asked_of, device, folder / "turn", limit)
        with ThreadPoolExecutor(options.jobs) as pool:
            for (trick, peer), answer in zip(pairs, pool.map(ask, pairs), strict=True):
                found[trick.name][peer.name] = answer
    tricks.sort(key=lambda trick: trick.name)
    judged = [Judged(trick, found[trick.name]) for trick in tricks]
    return report_of(device, others, judged)


TRUST = Benchmark(
    "trust",
    "the same candidates through several evaluators, of which only kopt's has a sandbox",
    (
        DEVICE,
        option("--kernelbench", type=Path, help="checkout of KernelBench; needs a GPU"),
        option("--sol", type=Path, help="checkout of SOL-ExecBench; needs a GPU"),
        option("--tricks", type=Path, default=TRICKS, help="folder; default: kopt's own"),
        option("--backend", action="append", help="default: all that run on the device"),
        option("--only", help="only candidates whose backend/name holds this text"),
        option("--jobs", type=int, default=JOBS, help="evaluations at once"),
        option("--limit-s", type=float, default=LIMIT_S),
    ),
    measure_trust,
)


def ask_kopt(trick: Trick, device: Device, service: EvaluatorService, scratch: Path) -> PeerAnswer:
    """The way a round does; a trick that names an honest kernel is compared with it, and judged."""
    job = job_of(trick, scratch, device.device, device.target)
    if trick.against:
        # As campaigns compare: with looks.
        job = replace(job, protocol=replace(job.protocol, blocks=LOOKS[-1].blocks, looks=LOOKS))
    report = service.evaluate(job)
    opinion = OPINIONS.get(report.outcome, Opinion.REFUSED)
    if opinion is not Opinion.CORRECT:
        return PeerAnswer(opinion, f"{report.outcome}: {report.reason}"[:200])
    case = report.cases[0]
    gain = _gains(report) if trick.against else None
    return PeerAnswer(opinion, "", _middle(case.candidate), _middle(case.incumbent), gain)


def report_of(device: Device, others: Sequence[Peer], judged: Sequence[Judged]) -> BenchReport:
    """Totals, what they mean, and a line per candidate."""
    names = [KOPT, *(peer.name for peer in others)]
    totals = [_total(judged, name) for name in names]
    commits = {peer.name: commit for peer in others if (commit := peer.commit())}
    absent = {peers.KERNELBENCH.name, peers.SOL.name} - set(names)
    notes = [f"{name}: not run, no folder was named or it needs a GPU." for name in sorted(absent)]
    return BenchReport(
        title=f"Trust: the same candidates through {len(names)} evaluators",
        question="Which dishonest kernels does an evaluator credit with a gain, which honest ones "
        "does it refuse?",
        device=device,
        verdict="Dishonest candidates that were credited: "
        + ", ".join(f"{t['evaluator']} {t['credited']} of {t['dishonest asked']}" for t in totals)
        + ".",
        notes=[f"{name}: {commit}." for name, commit in commits.items()] + notes,
        tables=[
            ReportTable("Totals", totals, [MEANING]),
            ReportTable(
                "Dishonest candidates",
                _rows((j for j in judged if not j.trick.honest and not j.aimed), names),
            ),
            ReportTable(
                "Aimed at kopt",
                _rows((j for j in judged if not j.trick.honest and j.aimed), names),
            ),
            ReportTable("Honest candidates", _rows((j for j in judged if j.trick.honest), names)),
            ReportTable("Options", [], [OPTIONS]),
        ],
        packages=("torch", "triton", *(name for peer in others for name in peer.packages)),
    )


def answers_of(judged: Sequence[Judged], name: str, *, honest: bool) -> list[PeerAnswer]:
    """What evaluator `name` said of the honest or the dishonest candidates it was asked about.

    Those aimed at kopt count for kopt alone.
    """
    return [
        answer
        for one in judged
        if one.trick.honest is honest
        and (answer := one.answers.get(name)) is not None
        and (name == KOPT or not one.aimed)
        and answer.opinion not in (Opinion.NO_FORM, Opinion.NOT_RUN)
    ]


def _asked_of_kopt(
    device: Device, tricks: Sequence[Trick], scratch: Path, limit: TimeLimit
) -> dict[str, dict[str, PeerAnswer]]:
    """One after another: kopt refuses to time on a device that somebody else uses."""
    found = {}
    with EvaluatorService() as service:
        for trick in tricks:
            ask = partial(ask_kopt, trick, device, service, scratch)
            found[trick.name] = {KOPT: limit.guard(KOPT, trick, ask)}
    return found


def _asked_of(device: Device, turn: Path, limit: TimeLimit, pair: tuple[Trick, Peer]) -> PeerAnswer:
    trick, peer = pair
    return limit.guard(peer.name, trick, partial(peers.ask, peer, trick, device, turn))


def _others(device: Device, kernelbench_at: Path | None, sol_at: Path | None) -> list[Peer]:
    """The plain harness, and those that a folder is named for; they only know CUDA devices."""
    named = ((peers.KERNELBENCH, kernelbench_at), (peers.SOL, sol_at))
    asked = [peers.at(peer, folder) for peer, folder in named if folder is not None]
    if asked and device.kind != "gpu":
        raise PeerError(f"{asked[0].name} evaluates on a CUDA device only, not on a CPU")
    return [*asked, peers.PLAIN]


def _mixed(tricks: Sequence[Trick]) -> list[Trick]:
    """Honest and dishonest ones of every backend spread evenly, so that any part is like the whole.

    Those that hang come last: one that spins on the device slows down what is timed beside it.
    """
    groups: dict[tuple[str, bool], list[Trick]] = {}
    for trick in tricks:
        groups.setdefault((trick.backend, trick.honest), []).append(trick)
    place = {
        trick.name: number / len(group)
        for group in groups.values()
        for number, trick in enumerate(group)
    }
    return sorted(tricks, key=lambda t: (Outcome.TIMED_OUT in t.outcomes, place[t.name]))


def _gains(report: Report) -> bool:
    decision = decide_session(report, Standard(has_incumbent=True, noise=noise_floor(0.0)))
    return decision.verdict is VerdictWord.ACCEPTED


def _middle(timing: Timing | None) -> float | None:
    return median_high(timing.samples_us) if timing else None


def _total(judged: Sequence[Judged], name: str) -> Row:
    bad, good = (answers_of(judged, name, honest=honest) for honest in (False, True))
    return {
        "evaluator": name,
        "dishonest asked": len(bad),
        "judged correct": sum(one.accepted for one in bad),
        "credited": sum(one.credited for one in bad),
        "flagged": sum(one.opinion is Opinion.FLAGGED for one in bad),
        "died or hung": sum(one.opinion in (Opinion.DIED, Opinion.HUNG) for one in bad),
        "honest asked": len(good),
        "refused": sum(not one.accepted for one in good),
    }


def _rows(judged: Iterable[Judged], names: Sequence[str]) -> list[Row]:
    return [
        {"candidate": one.trick.name, "what it does": one.trick.words["trick"]}
        | {name: _cell_of(one.answers.get(name)) for name in names}
        for one in judged
    ]


def _cell_of(answer: PeerAnswer | None) -> str | None:
    if answer is None:
        return None
    if answer.accepted and answer.time_us is not None and answer.reference_us:
        ratio = f"correct ({answer.reference_us / max(answer.time_us, 1e-3):.2f}×)"
        return ratio if answer.gain is not False else f"{ratio}, no gain"
    bold = answer.opinion in (Opinion.DIED, Opinion.HUNG)
    return f"**{answer.opinion}**" if bold else str(answer.opinion)
