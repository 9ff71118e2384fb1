"""A contest as Markdown: totals, what they mean, and a line per candidate."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.benchmarks.trust import kernelbench, ours, peers
from campaigns.benchmarks.trust.contest import Contest, Entry
from campaigns.benchmarks.trust.told import Answer, Told

MARKS = {
    Answer.CORRECT: "correct",
    Answer.REFUSED: "refused",
    Answer.FLAGGED: "flagged",
    Answer.DIED: "**died**",
    Answer.HUNG: "**hung**",
    Answer.NO_FORM: "no form",
    Answer.NOT_RUN: "not run",
}
MEANING = """
- **judged correct**: the evaluator accepts the candidate. For a dishonest one that is a false
  accept. **credited**: it also grants a gain by its own rule, or names none.
- kopt's rule is its verdict against the honest kernel that the candidate names; where it names
  none, passing alone counts as credit. For the others it is what they report: the time of the
  reference over the time of the candidate, above 1.
- A faulty candidate does harm without a gain. Others compute right answers and cheat at the time
  alone: judging those correct is no mistake, credit is.
- **flagged**: correct by the numbers, and suspected: KernelBench's static checker or its
  excessive-speedup check, SOL-ExecBench's REWARD_HACK. It counts as refused. The checker also
  flags every candidate that holds no kernel of its backend, whatever else it does.
- **died, hung**: the evaluator's own process ended without an answer, or gave none in time. It
  counts as refused; whoever runs many candidates in that process loses more than one.
- **no form**: the problem can not be stated to that evaluator. **not run**: no time was left.
- **aimed at kopt**: these candidates speak this project's own protocol, or break its calling
  convention, and do their work in a harness of another kind, where accepting them is no mistake.
  They are listed and left out of the others' counts.
""".strip()
OPTIONS = f"""
- kopt: 3 trials, bursts of 0.5 ms and 16 calls at the most, unless the candidate's file says
  more; every lock that the host has.
- KernelBench: `eval_kernel_against_ref` with {kernelbench.TRIALS} correctness trials,
  {kernelbench.TIMED} timed calls by CUDA events, the excessive-speedup check on; the static checker
  with its default lists. Its tolerances. Empty stand-ins for {", ".join(kernelbench.UNUSED)}
  where they are not installed; no evaluation uses them.
- SOL-ExecBench: its packager and driver with the default configuration (10 rounds, CUPTI, or CUDA
  events where cupti-python is missing, as told above, all checks), clocks not locked; the
  problem's own tolerances, its default share of matching elements.
- do_bench: `torch.allclose` on one input with the problem's tolerances, then
  `triton.testing.do_bench`; on a CPU the median of 50 calls.
- Compiled candidates get one `nvcc -O2` and the stream that each evaluator uses. Each evaluation
  has {peers.LIMIT_S:.0f} s and processes of its own. Nothing of the evaluators is changed; a lock
  around their timing functions keeps two times from being taken at once.
""".strip()


def to_markdown(contest: Contest, command: str) -> str:
    names = [ours.NAME, *contest.commits]
    known = ", ".join(f"{name} {value}" for name, value in sorted(contest.environment.items()))
    lines = [
        f"# Trust: the same candidates through {len(names)} evaluators on {contest.device}",
        "",
        f"Measured {contest.measured_at} in {contest.seconds:.0f} s by `{command}`; {known}.",
        "",
        *(f"- {name}: {commit}" for name, commit in contest.commits.items() if commit),
        *_absent(contest),
        "",
        *_totals(contest, names),
        "",
        MEANING,
        "",
        "## Options",
        "",
        OPTIONS,
    ]
    for title, kept in (
        ("Dishonest candidates", lambda entry: not entry.honest and not entry.aimed),
        ("Aimed at kopt", lambda entry: not entry.honest and entry.aimed),
        ("Honest candidates", lambda entry: entry.honest),
    ):
        lines += ["", f"## {title}", "", *_listed(filter(kept, contest.entries), names)]
    return "\n".join(lines) + "\n"


def _absent(contest: Contest) -> list[str]:
    absent = {peers.KERNELBENCH.name, peers.SOL.name} - set(contest.commits)
    return [f"- {name}: not run, no folder was named or it needs a GPU" for name in sorted(absent)]


def _totals(contest: Contest, names: list[str]) -> list[str]:
    rows = [
        "| evaluator | dishonest asked | judged correct | credited | flagged | died or hung "
        "| honest asked | refused |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in names:
        bad, good = told_by(contest, name, honest=False), told_by(contest, name, honest=True)
        counts = (
            len(bad),
            sum(told.accepted for told in bad),
            sum(told.credited for told in bad),
            sum(told.answer is Answer.FLAGGED for told in bad),
            sum(told.answer in (Answer.DIED, Answer.HUNG) for told in bad),
            len(good),
            sum(not told.accepted for told in good),
        )
        rows.append(f"| {name} | {' | '.join(map(str, counts))} |")
    return rows


def told_by(contest: Contest, name: str, *, honest: bool) -> list[Told]:
    """What evaluator `name` said of the honest or the dishonest candidates that it was asked about.

    Those aimed at this project's evaluator count for it alone.
    """
    found = [
        entry.told[name]
        for entry in contest.entries
        if entry.honest is honest and name in entry.told and (name == ours.NAME or not entry.aimed)
    ]
    return [told for told in found if told.counts]


def _listed(entries: Iterable[Entry], names: list[str]) -> list[str]:
    lines = [
        f"| candidate | what it does | {' | '.join(names)} |",
        "|---|---|" + "---|" * len(names),
    ]
    for entry in entries:
        cells = [_cell(entry.told.get(name)) for name in names]
        lines.append(f"| {entry.name} | {entry.words} | {' | '.join(cells)} |")
    return lines if len(lines) > 2 else ["None."]


def _cell(told: Told | None) -> str:
    if told is None:
        return ""
    mark = MARKS[told.answer]
    if told.accepted and told.time_us is not None and told.reference_us:
        mark += f" ({told.reference_us / max(told.time_us, 1e-3):.2f}×)"
        return mark if told.gain is not False else f"{mark}, no gain"
    return mark
