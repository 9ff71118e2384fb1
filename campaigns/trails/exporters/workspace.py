"""README.md, the best kernel, the problem, and a bench that runs by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.signature import read_parameters
from campaigns.models import Candidate
from campaigns.records.campaigns import stop_policy_of
from campaigns.rules.wording import amount, known_duration
from campaigns.trails.exporters.counted import isa_table
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import NOTHING, facts, page, said, table
from knowledge.specs.cited import UNKNOWN

ROOF = ("case", "operations", "bytes", "op/B", "bound by the roofline", "floor", "target")
BENCHED = (
    "`python quick_test_bench.py` builds the best kernel (`--round N`: that of a round), "
    "checks and times it. It needs torch, not kopt, and locks nothing up: a kernel runs as you"
)
UNBENCHED = "there is no round yet, so nothing to run"
FILES = (
    "- `rounds/round-N/`: what each round tried, its source, and everything that was measured",
    "- `logs/`, `performance.md`: the history and the trend, a row a round",
    "- `memory/`, `plans/`: the same a version a file; v0 is round 1",
    "- `v<n>/`, `final_report.md`, `benchmark.md`: the same by version, in prose",
)
BENCH = Path(__file__).parent / "standalone" / "quick_test_bench.py"


def workspace_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    yield "README.md", _readme(trail)
    for name, text in sorted(trail.campaign.problem.files.items()):
        yield f"problem/{name}", text
    best = trail.best
    if best is not None and best.candidate is not None:
        yield f"best/{best.file_name}", best.candidate.text
    if any(one.candidate for one in trail.rounds):
        yield "quick_test_bench.py", BENCH.read_text()
        yield "bench.json", bench_text(trail, trail.rounds)


def bench_text(
    trail: ExportedCampaign, tried: Iterable[ExportedRound], **chosen: int | None
) -> str:
    """What the bench has to know of these rounds. chosen: what it does when nobody asks."""
    best = trail.best
    cases = {case.name: case.params for case in trail.campaign.problem.cases.all()}
    rounds = {
        str(one.number): {
            "kernel": one.snapshot,
            "flags": one.candidate.flags,
            "against": one.against,
            "signature": _signature(one.candidate),
        }
        for one in tried
        if one.candidate
    }
    known = {
        "backend": trail.campaign.backend,
        "best": best.number if best else None,
        **chosen,
        "rounds": rounds,
        "cases": {name: cases[name] for name in map(str, trail.campaign.cases) if name in cases},
    }
    return json.dumps(known, indent=1) + "\n"


def _signature(code: Candidate) -> list[str]:
    """The parameters of a compiled kernel, aliases resolved; empty where the source has none."""
    if code.file_name.endswith(".py"):
        return []
    try:
        found = read_parameters(code.text, code.file_name)
    except (BuildFailed, Unsupported):
        return []
    return [f"{one.type}{'*' if one.pointer else ''} {one.name}" for one in found]


def _readme(trail: ExportedCampaign) -> str:
    campaign, problem = trail.campaign, trail.campaign.problem
    target, policy = trail.sheet.target, stop_policy_of(campaign)
    about = {
        "Platform": campaign.platform.name,
        "Architecture": campaign.platform.arch,
        "Framework": campaign.backend,
        "dtype": problem.dtype,
        "Kernel type": problem.op,
    }
    bounds = [f"{name} {value:g}" for name, value in problem.tolerance.items()]
    inputs = {
        "Kernel": f"{campaign.backend} v0 of the problem {problem.slug}",
        "Shapes": ", ".join(map(str, campaign.cases)),
        "Reference": "problem/ref.py",
        "Correctness threshold": ", ".join(bounds),
    }
    stops = {
        "Target": trail.sheet.goal_words,
        "Most rounds": policy.max_rounds,
        "Regressions in a row": policy.max_consecutive_regressions,
        "Rounds in a row without a gain": policy.max_consecutive_non_accepts,
        "Ended by": campaign.stop_sentence or f"not ended: {trail.sheet.phase}",
    }
    specs = [(c.metric, c.display, c.evidence, c.citation) for c in target.citations]
    roofs = [
        (
            *(case.case, amount(case.flops, "op"), amount(case.bytes, "B")),
            f"{case.intensity:.3g}" if case.bytes else NOTHING,
            case.bound or UNKNOWN,
            known_duration(case.floor_us, UNKNOWN),
            case.words or known_duration(case.target_us, UNKNOWN),
        )
        for case in target.cases.values()
    ]
    return page(
        f"# {said(campaign.title)}",
        "What a campaign of kopt recorded, in the formats that other systems read. Every figure "
        "comes from stored measurements; no kernel and no agent has written a result here.",
        *("## Target", facts(about.items())),
        *("## Inputs", facts(inputs.items())),
        "## Hardware Spec",
        table(("metric", "value", "evidence", "source"), specs, UNKNOWN),
        *("## Roofline", table(ROOF, roofs)),
        *("## Stop Conditions", facts(stops.items())),
        "## ISA Optimization Targets",
        isa_table(trail.best),
        *("## Files", [f"- {BENCHED if trail.rounds else UNBENCHED}", *FILES]),
    )
