"""tips.md: what a few rounds showed, in the four fields of a tip and from records alone (R41).

Nobody has looked at them: a lesson is written by a person, and these are its raw material. Rounds
that failed for the host's sake tell nothing of a kernel and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import facts, page

MOST = 5
NONE = "N/A — no round of this campaign has shown a gain, a loss or that a change does nothing."
NOTE = (
    "Written from the records of the rounds with the clearest results; nobody has reviewed them. "
    "They are guidance for the next campaign and no evidence in it."
)
TELLING = (Word.ACCEPTED, Word.REJECTED, Word.NO_CHANGE)


def tip_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of the one file."""
    chosen = told(trail)
    parts: list[list[str] | str] = ["# Tips", NOTE if chosen else NONE]
    for one in chosen:
        closed = one.row.round.closed_at
        at = f"{closed:%Y-%m-%d %H:%M} " if closed else ""
        word = "ACCEPTED" if one.is_kept else "ROLLED BACK"
        parts += [f"### {at}round-{one.number} — {word}", _fields(trail, one)]
    yield "tips.md", page(*parts)


def told(trail: ExportedCampaign) -> list[ExportedRound]:
    """The rounds to tell of, at most five: the largest measured changes, in their order."""
    found = [
        one
        for one in trail.rounds
        if one.hypothesis and one.gain is not None and one.row.word in TELLING
    ]
    clearest = sorted(found, key=lambda one: -abs(one.gain.gain) if one.gain else 0.0)[:MOST]
    return [one for one in found if one in clearest]


def _fields(trail: ExportedCampaign, one: ExportedRound) -> list[str]:
    campaign, idea = trail.campaign, one.hypothesis
    assert idea is not None
    signal = "; ".join(idea.evidence) or one.expected or idea.rationale
    cases = ", ".join(map(str, campaign.cases))
    return facts(
        [
            (
                "Context",
                f"{campaign.problem.op} in {campaign.backend} on {campaign.platform.name}; "
                f"{idea.strategy}: {one.what}",
            ),
            ("Signal", signal),
            ("Takeaway", one.row.word.told(one.row.sentence)),
            (
                "Applicability",
                f"cases {cases}; shown against round {one.row.against} on that device, not beyond",
            ),
        ]
    )
