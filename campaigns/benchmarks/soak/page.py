"""A soak as Markdown."""

from __future__ import annotations

from campaigns.benchmarks.soak.run import FRESH_KINDS, LOST, SHARE, Soak, Verdict
from campaigns.rules.noise import Gain

SHOWN = 20


def to_markdown(soak: Soak, command: str) -> str:
    known = ", ".join(f"{name} {value}" for name, value in sorted(soak.environment.items()))
    said = soak.verdict if soak.verdict is Verdict.HELD else f"**{soak.verdict}**"
    lines = [
        f"# {soak.evaluations} evaluations in a row on {soak.device}",
        "",
        f"Measured {soak.measured_at} in {soak.seconds:.0f} s by `{command}`; {known}.",
        "",
        f"One in {soak.hostile_every} is hostile. No leak, and at most {LOST:.0%} of throughput "
        f"lost at the end: {said}.",
        "",
        "| outcome | evaluations |",
        "|---|--:|",
        *(f"| {name} | {count} |" for name, count in sorted(soak.outcomes.items())),
        "",
        f"Ended otherwise than the candidate's file says: {len(soak.unexpected)}.",
        *(f"- {one}" for one in soak.unexpected[:SHOWN]),
        "",
        "## Left behind",
        "",
        "Counted after a first evaluation of each honest kind, and again after the last one.",
        "",
        "| | before | after |",
        "|---|--:|--:|",
        *(
            f"| {name.replace('_', ' ')} | {count} | {soak.after[name]} |"
            for name, count in soak.before.items()
        ),
        "",
        *(f"- {kind}: {words}" for kind, words in soak.leaks.items()),
        *([] if soak.leaks else ["Nothing leaked; after the service was closed nothing was left."]),
        "",
        "## Throughput",
        "",
        f"Honest evaluations of the first {SHARE:.0%} took {soak.first_s:.3f} s (median), of the "
        f"last {SHARE:.0%} {soak.last_s:.3f} s.",
        "",
        f"- the end against the start: {_words(soak.change)}; the host's load was "
        f"{soak.load[0]:.1f} at the start and {soak.load[1]:.1f} at the end",
        "- the same service after all of them against a fresh one, in alternation, so that the "
        f"host makes both slower alike, on the {FRESH_KINDS} kinds whose evaluations took most "
        f"nearly the same time: {_words(soak.against_fresh)}. This one is judged.",
    ]
    return "\n".join(lines) + "\n"


def _words(gain: Gain) -> str:
    return (
        f"throughput {gain.gain:+.1%} ({gain.low:+.1%} to {gain.high:+.1%}, {gain.kind}, at least "
        f"{gain.pairs} pairs of each kind)"
    )
