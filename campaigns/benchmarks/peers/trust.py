"""The same candidates through several evaluators: who believes the dishonest, who not the honest.

kopt's evaluator comes first, then the others, several candidates at once in processes of their own:
checks may overlap, times are taken one at a time.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.looks import LOOKS
from campaigns.rules.noise.gain import noise_floor
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.finding_kinds import LENIENT, Examined
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.syntax.findings.find import findings_of

KOPT = "kopt"
OPINIONS = {
    Outcome.PASSED: Opinion.CORRECT,
    Outcome.BROKEN_HOST: Opinion.DIED,
    Outcome.NOT_JUDGED: Opinion.DIED,
}
KINDS = ("Dishonest candidates", "Aimed at kopt", "Honest candidates")
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


# A candidate, and what each evaluator said of it, by the evaluator's name.
Judged = tuple[Trick, dict[str, PeerAnswer]]


def measure_trust(options: Namespace, progress: Progress) -> BenchReport:
    """Ask kopt, a plain harness, and those whose checkout is named about every candidate."""
    if settings.KOPT_SANDBOX == "ALL":
        # Each of them runs a candidate as the user of this command, dishonest ones too.
        raise BenchmarkError("KOPT_SANDBOX=all: the other evaluators run candidates unsandboxed")
    device = this_device(options.device)
    named = ((peers.KERNELBENCH, options.kernelbench), (peers.SOL, options.sol))
    others = [peers.at(peer, folder) for peer, folder in named if folder is not None]
    if others and device.kind != "gpu":
        raise PeerError(f"{others[0].name} evaluates on a CUDA device only, not on a CPU")
    others.append(peers.PLAIN)
    tricks = _mixed(chosen(device, options.tricks, options.backend, options.only or ""))
    deadline = time.monotonic() + options.limit_s

    def guarded(name: str, trick: Trick, work: Callable[[], PeerAnswer]) -> PeerAnswer:
        """`work`, unless the time is over."""
        begun = time.monotonic()
        if begun > deadline:
            return PeerAnswer(Opinion.NOT_RUN, "the time limit was reached")
        found = work()
        took = f"{time.monotonic() - begun:.1f} s"
        progress(f"{name} {trick.name}: {found.opinion} {found.reason} ({took})")
        return found

    found: dict[str, dict[str, PeerAnswer]] = {}
    with held(device) as folder:
        # One after another: kopt refuses to time on a device that somebody else uses.
        with EvaluatorService() as service:
            for trick in tricks:
                asked = partial(ask_kopt, trick, device, service, folder / "scratch")
                found[trick.name] = {KOPT: guarded(KOPT, trick, asked)}
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = {}
            for trick, peer in [(trick, peer) for trick in tricks for peer in others]:
                asked = partial(peers.ask, peer, trick, device, folder / "turn")
                answers[trick.name, peer.name] = pool.submit(guarded, peer.name, trick, asked)
            for (name, by), answer in answers.items():
                found[name][by] = answer.result()
    tricks.sort(key=lambda trick: trick.name)
    return report_of(device, others, [(trick, found[trick.name]) for trick in tricks])


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
        job = replace(job, protocol=replace(job.protocol, blocks=5, looks=LOOKS))
    report = service.evaluate(job)
    opinion = OPINIONS.get(report.outcome, Opinion.REFUSED)
    if opinion is not Opinion.CORRECT:
        return PeerAnswer(opinion, f"{report.outcome}: {report.reason}"[:200])
    gain = None
    if trick.against:
        examined = Examined(trick.path.name, findings_of(trick.source), LENIENT)
        standard = Standard(has_incumbent=True, noise=noise_floor(0.0), examined=examined)
        decision = decide_session(report, standard)
        gain = decision.verdict is VerdictWord.ACCEPTED
    timings = (report.cases[0].candidate, report.cases[0].incumbent)
    time_us, reference_us = (median_high(one.samples_us) if one else None for one in timings)
    return PeerAnswer(opinion, "", time_us, reference_us, gain)


def report_of(device: Device, others: Sequence[Peer], judged: Sequence[Judged]) -> BenchReport:
    """Totals, what they mean, and a line per candidate."""
    names = [KOPT, *(peer.name for peer in others)]
    totals: list[Row] = []
    for name in names:
        bad, good = (answers_of(judged, name, honest=honest) for honest in (False, True))
        totals.append(
            {
                "evaluator": name,
                "dishonest asked": len(bad),
                "judged correct": sum(one.accepted for one in bad),
                "credited": sum(one.credited for one in bad),
                "flagged": sum(one.opinion is Opinion.FLAGGED for one in bad),
                "died or hung": sum(one.opinion in (Opinion.DIED, Opinion.HUNG) for one in bad),
                "honest asked": len(good),
                "refused": sum(not one.accepted for one in good),
            }
        )
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
            *(
                ReportTable(title, [_row(*one, names) for one in judged if _kind(one[0]) == title])
                for title in KINDS
            ),
            ReportTable("Options", [], [OPTIONS]),
        ],
        packages=("torch", "triton", *(name for peer in others for name in peer.packages)),
    )


def answers_of(judged: Sequence[Judged], name: str, *, honest: bool) -> list[PeerAnswer]:
    """What evaluator `name` said of the honest or the dishonest candidates it was asked about.

    Those aimed at kopt count for kopt alone.
    """
    return [
        answers[name]
        for trick, answers in judged
        if trick.honest is honest
        and name in answers
        and (name == KOPT or not _is_aimed(trick))
        and answers[name].opinion not in (Opinion.NO_FORM, Opinion.NOT_RUN)
    ]


def _is_aimed(trick: Trick) -> bool:
    """Whether it deceives nobody but kopt, and does its work for the others."""
    return trick.words.get("aims") == KOPT


def _kind(trick: Trick) -> str:
    if trick.honest:
        return "Honest candidates"
    return "Aimed at kopt" if _is_aimed(trick) else "Dishonest candidates"


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


def _row(trick: Trick, answers: Mapping[str, PeerAnswer], names: Sequence[str]) -> Row:
    row: dict[str, object] = {"candidate": trick.name, "what it does": trick.words["trick"]}
    for name in names:
        answer = answers.get(name)
        row[name] = answer and str(answer.opinion)
        if answer and answer.accepted and answer.time_us is not None and answer.reference_us:
            ratio = f"correct ({answer.reference_us / max(answer.time_us, 1e-3):.2f}×)"
            row[name] = ratio if answer.gain is not False else f"{ratio}, no gain"
        elif answer and answer.opinion in (Opinion.DIED, Opinion.HUNG):
            row[name] = f"**{answer.opinion}**"
    return row
