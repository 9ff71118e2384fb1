"""One round to run again elsewhere: one folder, one command, beside the incumbent of its time."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.kernel_optimize import verdict_text
from campaigns.trails.exporters.markdown import facts, page, said
from campaigns.trails.exporters.workspace import BENCH, bench_text


def reproducer_files(trail: ExportedCampaign, number: int) -> Iterator[tuple[str, str]]:
    """(path, text) of each. Raises LookupError for a round without a source, or not closed yet."""
    found = {one.number: one for one in trail.rounds if one.candidate}
    if number not in found:
        known = ", ".join(map(str, found)) or "none yet"
        raise LookupError(f"round {number}: no closed round with a source; accepted: {known}")
    one = found[number]
    rival = found.get(one.row.against or 0)
    rival = rival if rival is not one else None
    shown = [one, rival] if rival else [one]
    yield "README.md", _readme(trail, one, rival)
    for name, text in sorted(trail.campaign.problem.files.items()):
        yield f"problem/{name}", text
    for each in shown:
        assert each.candidate is not None
        yield each.snapshot, each.candidate.text
    yield f"{one.folder}/artifacts/verdict.json", verdict_text(one)
    yield BENCH.name, BENCH.read_text()
    against = rival.number if rival else None
    yield "bench.json", bench_text(trail, shown, round=number, against=against)


def _readme(trail: ExportedCampaign, one: ExportedRound, rival: ExportedRound | None) -> str:
    code = one.candidate
    assert code is not None
    return page(
        f"# Round {one.number}: {said(one.title)}",
        f"Of {said(trail.campaign.title)}. `python {BENCH.name}` builds, checks and times it"
        + (f" in turn with round {rival.number}, its incumbent then" if rival else "")
        + ". It needs torch and a compiler, not kopt, and locks nothing up: a kernel runs as you.",
        facts(
            [
                ("Verdict then", one.row.word.told(one.row.sentence)),
                ("Measured on", trail.campaign.platform.name),
                ("Flags", " ".join(code.flags) or "none of its own"),
                ("Incumbent then", f"round {rival.number}: {rival.title}" if rival else "none"),
            ]
        ),
        "The bench's times are a quick look by the host's clock on one seed. They prove nothing, "
        "and do not compare with the campaign's own.",
    )
