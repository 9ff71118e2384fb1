"""v<n>/, final_report.md, benchmark.md, env_check.md: versions as kernel-opt-skill keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.reports.baselines import NONE as NO_TORCH
from campaigns.reports.baselines import baseline_lines
from campaigns.reports.sheet import BASELINE
from campaigns.reports.totals import copies_of
from campaigns.rules.verdict.report_words import function_words
from campaigns.rules.wording import change, duration, known_duration, share
from campaigns.trails.exporters.counted import (
    NOT_PROFILED,
    limit_words,
    metric_parts,
    profile_parts,
)
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.kernel_optimize import gain_words
from campaigns.trails.exporters.markdown import NOTHING, Part, facts, page, said, table

CORRECTNESS = ("case", "correct", "calls checked", "largest |error|", "norm error")
COMPARED = (
    *("version", "time", "incumbent beside it", "gain over the incumbent"),
    *("share", "limited by", "verdict"),
)
PROFILE = ("case", "device time", "kernels", "grid", "block", "registers", "shared bytes")


def version_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    for one in trail.rounds:
        yield f"{one.version}/correctness.md", _correctness(one)
        yield f"{one.version}/ncu_summary.md", _profile(one)
        if profiled := one.explained.profiled:
            counted = page(f"# Counters of {one.version}", *metric_parts(profiled))
            yield f"{one.version}/ncu_details.md", counted
        if idea := one.hypothesis:
            told = {
                "Hypothesis": one.what,
                "Bottleneck": limit_words(one.rests_on, one.rival.note),
                "Rationale": idea.rationale,
                "Expected": one.expected,
            }
            lines = [
                f"{name}: {' '.join(text.split()) or NOTHING}\n" for name, text in told.items()
            ]
            yield f"{one.version}/hypothesis.txt", "".join(lines)
        if one.candidate:
            yield f"{one.version}/{one.file_name}", one.candidate.text
    # Of the evaluation that the best round rests on.
    found = trail.best.stored.get("environment", {}) if trail.best else {}
    environment = facts(sorted(found.items())) or [NOTHING]
    yield "env_check.md", page("# Environment", environment)
    yield "benchmark.md", _benchmark(trail)
    yield "final_report.md", _final(trail, environment)


def _correctness(one: ExportedRound) -> str:
    rows = []
    for case in one.report.cases if one.report else ():
        sizes = (case.max_abs_error, case.norm_error, case.margin)
        errors = (NOTHING if size is None else f"{size:.3g}" for size in sizes)
        rows.append((case.case, "yes" if case.correct else "no", case.checked_calls, *errors))
    outcome = one.evaluation.outcome if one.evaluation else ""
    reason = one.evaluation.reason if one.evaluation else one.sentence
    return page(
        f"# Correctness of {one.version}",
        f"Status: {'PASS' if outcome == 'passed' else 'FAIL'}. {said(outcome or 'not run')}"
        f"{f': {said(reason)}' if reason else ''}",
        table((*CORRECTNESS, "of the tolerance"), rows),
    )


def _profile(one: ExportedRound) -> str:
    """What counters and a tracer of the driver told, and what its instructions do.

    Counters and instructions are read of what was measured to be the incumbent.
    """
    rows = []
    for case in one.report.cases if one.report else ():
        timing = case.candidate
        launch = timing.launch if timing else None
        if timing is None or (timing.device_us is None and launch is None):
            continue
        told: tuple[object, ...] = (NOTHING,) * 6
        if launch:
            known = launch.occupancy_percent is not None
            told = (
                launch.kernels,
                *("×".join(map(str, sizes)) for sizes in (launch.grid, launch.block)),
                *(launch.registers, launch.shared_bytes),
                f"{launch.occupancy_percent} %" if known else NOTHING,
            )
        time = known_duration(timing.device_us, NOTHING)
        rows.append((case.case, time, *told))
    parts: list[Part] = [*profile_parts(one.explained), "## Launches"]
    parts.append(table((*PROFILE, "occupancy (estimate)"), rows, NOTHING))
    code = one.explained.code
    if code is not None:
        listed = [(function.name, function_words(function)) for function in code.functions]
        none = f"{NOTHING}: {said(code.note)}"
        parts += ["## Machine code", f"As listed by {said(code.tool)}."]
        parts.append(table(("function", "instructions"), listed, none))
    return page(f"# Profile of {one.version}", *parts)


def _benchmark(trail: ExportedCampaign) -> str:
    best, final = trail.best, trail.sheet.final
    v0 = final.incumbent_times if final else {}
    rows = [
        (case, duration(v0[case]), duration(us))
        for case, us in (final.times if final else {}).items()
    ]
    # torch beside the kernel of a round: what was measured, and why the rest was not.
    beside = [f"- {said(line)}." for line in baseline_lines(trail.campaign)]
    return page(
        "# Benchmark",
        "Times per call, medians of the final session, which measured both side by side. "
        f"The gain that counts: {said(_total(trail))}",
        table(("case", "v0", f"best ({best.version if best else 'none'})"), rows),
        [f"- {said(line)}" for line in copies_of(trail.sheet)],
        beside or [f"PyTorch eager and torch.compile: N/A — {NO_TORCH}."],
    )


def _total(trail: ExportedCampaign) -> str:
    total = trail.sheet.total
    if total is None:
        return "v0 and the best have not been compared side by side."
    return f"{total.against(BASELINE)}."


def _limit(one: ExportedRound) -> str:
    found = one.explained.profiled
    return found.limit.words if found else f"N/A — {NOT_PROFILED}"


def _share(one: ExportedRound) -> str:
    if not one.share:
        return "N/A — floor UNKNOWN or not timed"
    return f"{share(one.share)} of {one.target.roof_words}"


def _final(trail: ExportedCampaign, environment: list[str]) -> str:
    best, rounds = trail.best, trail.rounds
    compared = [
        (
            one.version,
            known_duration(one.time_us, "N/A — no proven time"),
            known_duration(one.incumbent_us, NOTHING),
            gain_words(one.gain, f"round {one.against}"),
            _share(one),
            _limit(one),
            one.word.words,
        )
        for one in rounds
    ]
    ideas = {one.version: one.hypothesis for one in rounds}
    strategies = [
        (
            name,
            *(
                ("✓" if one.is_kept else "✗") if idea and idea.strategy == name else ""
                for one, idea in zip(rounds, ideas.values(), strict=True)
            ),
        )
        for name in dict.fromkeys(idea.strategy for idea in ideas.values() if idea)
    ]
    reached = trail.sheet.share
    left = "N/A — the floor is UNKNOWN"
    if reached:
        limit = trail.sheet.target.roof_words
        left = f"{change(1 / reached - 1)} of speed ({share(reached)} of {limit})"
    if reached and reached >= 1:
        left = "nothing: it is at the ceilings that are known"
    conclusion = {
        "Version": f"{best.version} (round {best.number}): {best.title}" if best else "",
        "Result": _total(trail),
        "Stopped because": trail.campaign.stop_sentence,
        "Left to the floor": left,
    }
    return page(
        f"# Final report: {said(trail.campaign.title)}",
        *("## Environment", environment),
        "## Version iteration comparison",
        table(COMPARED, compared),
        "## Strategies",
        table(("strategy", *ideas), strategies),
        "## Why each version",
        facts((name, idea.rationale if idea else "the baseline") for name, idea in ideas.items()),
        *("## Best version", facts(conclusion.items())),
    )
