"""The best kernel, the problem, and a bench that runs by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.signature import read_parameters
from campaigns.models import Candidate
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound

BENCH = Path(__file__).parent / "standalone" / "quick_test_bench.py"


def workspace_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    for name, text in sorted(trail.campaign.problem.files.items()):
        yield f"problem/{name}", text
    best = trail.best
    if best is not None and best.candidate is not None:
        yield f"best/{best.file_name}", best.candidate.text
    if any(one.candidate for one in trail.rounds):
        yield "quick_test_bench.py", BENCH.read_text()
        yield "bench.json", bench_text(trail, trail.rounds)


def version_sources(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each source where kernel-opt-skill looks for it."""
    for one in trail.rounds:
        if one.candidate:
            yield f"{one.version}/{one.file_name}", one.candidate.text


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
