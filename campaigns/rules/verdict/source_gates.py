"""Gates on the source: what was found in it before the build, and whether its own kernels ran.

A refused finding ends it, others are shown. Own kernels are those that the source defines, and
those that its campaign declared by name before confirmation, because a header or a macro may define
kernels that the text does not show. Their device time must explain the measured time. An imported
framework proves nothing: a candidate may call a library and launch a decoy kernel beside it. The
runner reports the trace and could forge it, so that gate can only raise a doubt.
"""

from __future__ import annotations

import statistics

from campaigns.evaluator.contract import CaseReport, Report, Timing, Traced
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.verdict.finding_kinds import Examined, Finding, FindingKind, Stance
from campaigns.rules.verdict.gates import Standard, decisive_samples
from campaigns.rules.wording import duration, share

NAME = "static findings"
MOST_NAMED = 3


def static_findings(examined: Examined | None) -> GateOutcome:
    """Does the source hold anything that its campaign refuses?

    None for a candidate that was stored before sources were examined; it passes.
    """
    if examined is None:
        return GateOutcome(Gate(NAME, None, "not examined", ""))
    kinds = [kind.words for kind in FindingKind if examined.policy[kind] is Stance.REFUSED]
    limit = f"nothing of kind {', '.join(kinds)}" if kinds else "nothing is refused"
    if refused := examined.of(Stance.REFUSED):
        first = refused[0]
        sentence = (
            f"Rejected before it was built: {examined.file} line {first.line}, {first.what}. "
            f"{first.kind.meaning} This campaign refuses findings of kind {first.kind.words}."
        )
        return stopped(NAME, _listed(refused), limit, Reason.FINDING_REFUSED, sentence)
    asked, allowed = examined.of(Stance.REVIEW), examined.of(Stance.ALLOWED)
    flagged = examined.of(Stance.FLAGGED)
    parts = [f"for review: {_listed(asked)}"] if asked else []
    parts += [f"flagged: {_listed(flagged)}"] if flagged else []
    parts += [f"{len(allowed)} allowed"] if allowed else []
    return GateOutcome(Gate(NAME, True, "; ".join(parts) or "nothing found", limit))


def for_review(examined: Examined | None, gain: str) -> GateOutcome | None:
    """Why a person has to accept this gain: the finding; None if nobody has to."""
    if examined is None or not (found := examined.of(Stance.REVIEW)):
        return None
    sentence = (
        f"Needs review: {gain}. {examined.file} line {found[0].line}, {found[0].what}. "
        f"{found[0].kind.meaning} A person decides whether the gain reaches real use."
    )
    limit = "a person has to accept a gain that rests on state kept between calls"
    return stopped("kept answers", _listed(found), limit, Reason.KEEPS_ANSWERS, sentence)


def _listed(findings: tuple[Finding, ...]) -> str:
    named = [f"line {each.line}, {each.what} ({each.kind.words})" for each in findings[:MOST_NAMED]]
    more = len(findings) - MOST_NAMED
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")


# On an H200 a kernel for show that copies a library's answer took 14 to 37 % of the device time and
# one that did the second of two passes 42 %; copying can reach half where both are as fast. Honest
# kernels beside small help took 75 % (inputs cast before a product) to 100 %.
LEAST_SHARE = 0.6
WAY_OUT = (
    "A kernel from a header or a macro counts if the campaign declares its name (own_kernels)."
)


def own_kernels(report: Report, standard: Standard) -> GateOutcome:
    """Which part of the time is spent in kernels that are the candidate's own?

    It is not asked of v0: a campaign may start from torch, or from a kernel with help of torch's.
    Filling memory computes nothing and counts for neither side. Unexplained time counts against the
    candidate, beyond the launch overhead.
    """
    limit = f"own kernels launched, and at least {share(LEAST_SHARE)} of the time in them"
    explained = [
        _explained(case, case.candidate, case.candidate.traced, standard)
        for case in report.cases
        if case.candidate is not None and case.candidate.traced is not None
    ]
    if not explained and standard.has_kernels is not False:
        return GateOutcome(Gate("own kernels", None, "not recorded", limit))
    part, found = min(explained, key=lambda each: each[0], default=(-1.0, "None is compiled"))
    if part >= LEAST_SHARE:
        return GateOutcome(Gate("own kernels", True, found, limit))
    if standard.is_v0:
        return GateOutcome(Gate("own kernels", None, found, "not asked of v0"))
    sentence = f"Needs review: {found}; {limit} are required."
    if part < 0:
        sentence = f"Needs review: no kernel of its own source was launched. {found}."
    reason = Reason.NOT_ITS_OWN_KERNEL
    return stopped("own kernels", found, limit, reason, f"{sentence} {WAY_OUT}")


def _explained(
    case: CaseReport, timing: Timing, traced: Traced, standard: Standard
) -> tuple[float, str]:
    """The share of the time in own kernels on one case, −1 if none was launched; and its words."""
    ran = [kernel for kernel in traced.own if kernel.launches > 0]
    own_us = sum(kernel.device_us for kernel in ran)
    work_us = own_us + traced.other_us - traced.filling_us
    measured_us = statistics.median(decisive_samples(case, timing)) - traced.filling_us
    whole_us = max(work_us, measured_us - standard.launch_overhead_us)
    part = own_us / whole_us if whole_us > 0 else 0.0
    told = []
    for one in sorted(ran, key=lambda one: -one.device_us):
        declared = "declared by the campaign, " if one.declared else ""
        told.append(f"{one.name} ({declared}{one.launches:g} × a call)")
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    found = (
        f"{case.case}: {share(part)} of {duration(whole_us)} in own kernels: "
        f"{', '.join(told[:3]) or 'none'}{more}; "
        f"{duration(traced.other_us - traced.filling_us)} in others"
    )
    return part if ran else -1.0, found
