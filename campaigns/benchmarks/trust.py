"""Every dishonest and honest kernel through kopt: which gains are credited, which kernels refused?

What other evaluators say of the same kernels is in docs/benchmarks/trust.md, with the commit whose
harness asked them.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median_high

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    option,
)
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

KINDS = {False: "Dishonest candidates", True: "Honest candidates"}
MEANING = """
- **judged correct**: the evaluator accepts the candidate, which for a dishonest one is a false
  accept. **credited**: its verdict against the honest kernel that it names is a gain; where it
  names none, passing alone counts.
- **refused**: an honest candidate that ended as anything but correct. **broken host**: nothing was
  concluded.
""".strip()


@dataclass(frozen=True, slots=True)
class Opinion:
    """How one evaluation ended. ratio: how many times faster than the honest kernel."""

    outcome: Outcome
    reason: str = ""
    ratio: float | None = None
    gains: bool | None = None

    @property
    def accepted(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def credited(self) -> bool:
        return self.accepted and self.gains is not False

    @property
    def words(self) -> str:
        if not self.accepted:
            return self.outcome.words
        ratio = "" if self.ratio is None else f" ({self.ratio:.2f}×)"
        return f"correct{ratio}" + (", no gain" if self.gains is False else "")


Judged = tuple[Trick, Opinion]


def measure_trust(options: Namespace, progress: Progress) -> BenchReport:
    """Ask about every candidate, one after another: no other work may share the device."""
    device = this_device(options.device)
    tricks = mixed(chosen(device, options.tricks, options.backend, options.only or ""))
    deadline, judged = time.monotonic() + options.limit_s, list[Judged]()
    with held(device) as folder, EvaluatorService() as service:
        for trick in tricks:
            if time.monotonic() > deadline:
                progress(f"the time limit was reached after {len(judged)} of {len(tricks)}")
                break
            begun = time.monotonic()
            found = ask(trick, device, service, folder / "scratch")
            took = f"{time.monotonic() - begun:.1f} s"
            progress(f"{trick.name}: {found.words} {found.reason} ({took})")
            judged.append((trick, found))
    judged.sort(key=lambda one: one[0].name)
    return report_of(device, judged, len(tricks) - len(judged))


TRUST = Benchmark(
    "trust",
    "every dishonest and honest kernel through the judge",
    (
        DEVICE,
        option("--tricks", type=Path, default=TRICKS, help="folder; default: kopt's own"),
        option("--backend", action="append", help="default: all that run on the device"),
        option("--only", help="only candidates whose backend/name holds this text"),
        option("--limit-s", type=float, default=3600.0),
    ),
    measure_trust,
)


def ask(trick: Trick, device: Device, service: EvaluatorService, scratch: Path) -> Opinion:
    """The way a round does; a trick that names an honest kernel is compared with it, and judged."""
    job = job_of(trick, scratch, device.device, device.target)
    if trick.against:
        # Campaigns compare with looks, so this does as well.
        job = replace(job, protocol=replace(job.protocol, blocks=5, looks=LOOKS))
    report = service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        return Opinion(report.outcome, report.reason[:200])
    gains = ratio = None
    if trick.against:
        examined = Examined(trick.path.name, findings_of(trick.source), LENIENT)
        standard = Standard(has_incumbent=True, noise=noise_floor(0.0), examined=examined)
        gains = decide_session(report, standard).verdict is VerdictWord.ACCEPTED
        own, against = report.cases[0].candidate, report.cases[0].incumbent
        if own and against:
            ratio = median_high(against.samples_us) / max(median_high(own.samples_us), 1e-3)
    return Opinion(report.outcome, "", ratio, gains)


def report_of(device: Device, judged: Sequence[Judged], left: int) -> BenchReport:
    """Totals, what they mean, and a line per candidate. left: candidates that were not asked."""
    bad, good = ([one for trick, one in judged if trick.honest is honest] for honest in KINDS)
    totals: list[Row] = [
        {
            "dishonest asked": len(bad),
            "judged correct": sum(one.accepted for one in bad),
            "credited": sum(one.credited for one in bad),
            "honest asked": len(good),
            "refused": sum(not one.accepted for one in good),
            "broken host": sum(one.outcome is Outcome.BROKEN_HOST for one in (*bad, *good)),
            "not asked": left,
        }
    ]
    rows: dict[bool, list[Row]] = {honest: [] for honest in KINDS}
    for trick, one in judged:
        rows[trick.honest].append(
            {"candidate": trick.name, "what it does": trick.words["trick"], "kopt": one.words}
        )
    credited = f"{totals[0]['credited']} of {len(bad)} dishonest credited"
    return BenchReport(
        title="Trust: every dishonest and honest kernel through the judge",
        question="Which dishonest kernels does kopt credit with a gain, which honest ones does it "
        "refuse?",
        device=device,
        verdict=f"{credited}, {totals[0]['refused']} of {len(good)} honest refused.",
        tables=[
            ReportTable("Totals", totals, [MEANING]),
            *(ReportTable(title, rows[honest]) for honest, title in KINDS.items()),
        ],
        packages=("torch", "triton"),
    )


def mixed(tricks: Sequence[Trick]) -> list[Trick]:
    """Honest and dishonest ones of every backend spread evenly, so that any part is like the whole.

    Those that hang come last: one that spins on the device slows down what is timed after it.
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
