"""tips.md: what a few rounds showed, in the four fields of a tip and from records alone (R41).

Nobody has looked at them: a lesson is written by a person, and these are its raw material. Rounds
that failed for the host's sake tell nothing of a kernel and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import Part, facts, page

MOST = 5
NONE = "N/A — no round of this campaign has shown a gain, a loss or that a change does nothing."
NOTE = (
    "Written from the records of the rounds with the clearest results; nobody has reviewed them. "
    "They are guidance for the next campaign and no evidence in it."
)
TELLING = (Word.ACCEPTED, Word.REJECTED, Word.NO_CHANGE)


def tip_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of the one file."""
    campaign, chosen = trail.campaign, told(trail)
    parts: list[Part] = ["# Tips", NOTE if chosen else NONE]
    where = f"{campaign.problem.op} in {campaign.backend} on {campaign.platform.name}"
    cases = ", ".join(map(str, campaign.cases))
    for one in chosen:
        idea, closed = one.hypothesis, f"{one.closed} ".lstrip()
        assert idea is not None
        word = "ACCEPTED" if one.is_kept else "ROLLED BACK"
        shown = f"shown against round {one.against} on that device, not beyond"
        fields = {
            "Context": f"{where}; {idea.strategy}: {one.what}",
            "Signal": "; ".join(idea.evidence) or one.expected or idea.rationale,
            "Takeaway": one.word.told(one.sentence),
            "Applicability": f"cases {cases}; {shown}",
        }
        parts += [f"### {closed}round-{one.number} — {word}", facts(fields.items())]
    yield "tips.md", page(*parts)


def told(trail: ExportedCampaign) -> list[ExportedRound]:
    """The rounds to tell of, at most five: the largest measured changes, in their order."""
    telling = [one for one in trail.rounds if one.hypothesis and one.word in TELLING]
    sizes = {one.number: abs(one.gain.gain) for one in telling if one.gain}
    clearest = sorted(sizes, key=lambda number: -sizes[number])[:MOST]
    return [one for one in telling if one.number in clearest]
