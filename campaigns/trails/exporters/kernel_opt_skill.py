"""v<n>/, final_report.md, benchmark.md, env_check.md: versions as kernel-opt-skill keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.records.evaluations import machine_code_of
from campaigns.reports.baselines import NONE as NO_TORCH
from campaigns.reports.baselines import baseline_lines
from campaigns.reports.sheet import BASELINE
from campaigns.reports.totals import copies_of
from campaigns.rules.verdict.report_words import function_words
from campaigns.rules.wording import change, digits, duration, share
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.kernel_optimize import gain_words
from campaigns.trails.exporters.markdown import NOTHING, facts, page, said, table

NOT_PROFILED = "N/A — this round was timed, not profiled with hardware counters"


def version_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    for one in trail.rounds:
        yield f"{one.version}/correctness.md", _correctness(one)
        yield f"{one.version}/ncu_summary.md", _profile(one)
        if one.hypothesis:
            yield f"{one.version}/hypothesis.txt", _hypothesis(one)
        if one.candidate:
            yield f"{one.version}/{one.file_name}", one.candidate.text
    yield "env_check.md", page("# Environment", _environment(trail))
    yield "benchmark.md", _benchmark(trail)
    yield "final_report.md", _final(trail)


def _environment(trail: ExportedCampaign) -> list[str]:
    found = trail.environment
    return facts(sorted(found.items())) if found else [NOTHING]


def _correctness(one: ExportedRound) -> str:
    head = ("case", "correct", "calls checked", "largest |error|", "norm error", "of the tolerance")
    rows = [
        (
            case.case,
            "yes" if case.correct else "no",
            case.checked_calls,
            _number(case.max_abs_error),
            _number(case.norm_error),
            _number(case.margin),
        )
        for case in (one.report.cases if one.report else ())
    ]
    outcome = one.evaluation.outcome if one.evaluation else ""
    reason = one.evaluation.reason if one.evaluation else one.row.sentence
    return page(
        f"# Correctness of {one.version}",
        f"Status: {'PASS' if outcome == 'passed' else 'FAIL'}. {said(outcome or 'not run')}"
        f"{f': {said(reason)}' if reason else ''}",
        table(head, rows),
    )


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"


def _profile(one: ExportedRound) -> str:
    """What a tracer of the driver told; hardware counters were not read."""
    rows = []
    for case in one.report.cases if one.report else ():
        timing = case.candidate
        launch = timing.launch if timing else None
        if timing is None or (timing.device_us is None and launch is None):
            continue
        rows.append(
            (
                case.case,
                duration(timing.device_us) if timing.device_us else NOTHING,
                launch.kernels if launch else NOTHING,
                "×".join(map(str, launch.grid)) if launch else NOTHING,
                "×".join(map(str, launch.block)) if launch else NOTHING,
                launch.registers if launch else NOTHING,
                launch.shared_bytes if launch else NOTHING,
                f"{launch.occupancy_percent} %"
                if launch and launch.occupancy_percent is not None
                else NOTHING,
            )
        )
    head = (
        *("case", "device time", "kernels", "grid", "block", "registers", "shared bytes"),
        "occupancy (estimate)",
    )
    return page(
        f"# Profile of {one.version}", NOT_PROFILED + ".", table(head, rows), *_machine_code(one)
    )


def _machine_code(one: ExportedRound) -> list[list[str] | str]:
    """What its instructions do, where they were read: of what was measured to be the incumbent."""
    code = machine_code_of(one.candidate) if one.candidate else None
    if code is None:
        return []
    rows = [(function.name, function_words(function)) for function in code.functions]
    listed = table(("function", "instructions"), rows, f"{NOTHING}: {said(code.note)}")
    return ["## Machine code", f"As listed by {said(code.tool)}.", listed]


def _hypothesis(one: ExportedRound) -> str:
    idea = one.hypothesis
    assert idea is not None
    lines = {"Hypothesis": one.what, "Rationale": idea.rationale, "Expected": one.expected}
    return "".join(f"{name}: {' '.join(text.split()) or NOTHING}\n" for name, text in lines.items())


def _benchmark(trail: ExportedCampaign) -> str:
    first, best = trail.baseline, trail.best
    rows = []
    then = {r.case: r.time for r in first.row.results} if first else {}
    now = {r.case: r.time for r in best.row.results} if best else {}
    for case, time in now.items():
        before = then.get(case)
        rows.append(
            (
                case,
                f"{duration(before.median)} (n={before.n})" if before else NOTHING,
                f"{duration(time.median)} (n={time.n})" if time else NOTHING,
                f"{before.median / time.median:.3f}×" if before and time else NOTHING,
            )
        )
    return page(
        "# Benchmark",
        "Unpaired medians per call on the judge's clock; the two columns are of different "
        f"sessions. The gain that counts was measured side by side: {said(_total(trail))}",
        table(
            ("case", "v0", f"best ({best.version if best else 'none'})", "ratio of the two"), rows
        ),
        [f"- {said(line)}" for line in copies_of(trail.sheet)],
        _baselines(trail),
    )


def _baselines(trail: ExportedCampaign) -> list[str]:
    """torch beside the kernel of a round: what was measured, and why the rest was not."""
    lines = [f"- {said(line)}." for line in baseline_lines(trail.campaign)]
    return lines or [f"PyTorch eager and torch.compile: N/A — {NO_TORCH}."]


def _total(trail: ExportedCampaign) -> str:
    total = trail.sheet.total
    if total is None:
        return "no gain was shown."
    return f"{total.against(BASELINE)}. {trail.sheet.excess}".rstrip()


def _final(trail: ExportedCampaign) -> str:
    campaign, best = trail.campaign, trail.best
    return page(
        f"# Final report: {said(campaign.title)}",
        "## Environment",
        _environment(trail),
        "## Version iteration comparison",
        table(
            ("version", "time", "gain over the incumbent", "of the floor", "verdict"),
            [
                (
                    one.version,
                    duration(one.row.time_us) if one.row.time_us else "N/A — no proven time",
                    gain_words(one.gain, f"round {one.row.against}"),
                    share(one.row.share) if one.row.share else "N/A — floor UNKNOWN or not timed",
                    one.row.word.words,
                )
                for one in trail.rounds
            ],
        ),
        "## Strategies",
        table(
            ("strategy", *(one.version for one in trail.rounds)),
            [
                (name, *(_cell(one, name) for one in trail.rounds))
                for name in dict.fromkeys(
                    one.hypothesis.strategy for one in trail.rounds if one.hypothesis
                )
            ],
        ),
        "## Why each version",
        facts([(one.version, _why(one)) for one in trail.rounds]),
        "## Best version",
        facts(
            [
                ("Version", f"{best.version} (round {best.number}): {best.title}" if best else ""),
                ("Result", _total(trail)),
                ("Stopped because", campaign.stop_sentence),
                ("Left to the floor", _left(best)),
            ]
        ),
    )


def _why(one: ExportedRound) -> str:
    return one.hypothesis.rationale if one.hypothesis else "the baseline"


def _cell(one: ExportedRound, strategy: str) -> str:
    if one.hypothesis is None or one.hypothesis.strategy != strategy:
        return ""
    return "✓" if one.is_kept else "✗"


def _left(best: ExportedRound | None) -> str:
    if best is None or not best.row.share:
        return "N/A — the floor is UNKNOWN"
    if best.row.share >= 1:
        return "nothing: it is at the ceilings that are known"
    return f"{change(1 / best.row.share - 1)} of speed ({digits(best.row.share)} of it is reached)"
