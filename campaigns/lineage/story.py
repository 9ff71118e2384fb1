"""What a commit says about its round: only what was recorded when the round was closed.

A standing that comes later (reproduced elsewhere) or an answer is left out, so that the same round
gives the same message at any time.
"""

from __future__ import annotations

from django.urls import reverse

from campaigns.lineage.message import Section, message, subject
from campaigns.models import Round
from campaigns.records.round.hypotheses import StoredHypothesis, hypothesis_of
from campaigns.records.round.reports import report_of
from campaigns.records.round.verdicts import borne_of, gain_of
from campaigns.rules.verdict.attribution import Attribution, attributions_of
from campaigns.rules.wording import digits, share

BASELINE = "baseline"
MOST_LINES = 12
UNTOLD = "The records do not say where the time went."


def story_of(round_: Round, note: str = "") -> str:
    """The message of an accepted round's commit (R46). note: what became of its formatting."""
    campaign, verdict = round_.campaign, round_.verdict
    hypothesis = hypothesis_of(round_)
    strategy = (hypothesis.strategy or hypothesis.title) if hypothesis else BASELINE
    gain = gain_of(verdict) if hypothesis else None
    first = subject(campaign.problem.op, round_.number, strategy, gain.gain if gain else None)
    return message(first, [*_told(round_, hypothesis), _build(round_, note), _page(round_)])


def _told(round_: Round, hypothesis: StoredHypothesis | None) -> list[Section]:
    verdict = round_.verdict
    if hypothesis is None:
        tried = "None: the problem's own v0, measured against itself."
        return [("Hypothesis", [tried]), ("Result", [verdict.sentence])]
    return [
        ("Hypothesis", [hypothesis.change or hypothesis.title, hypothesis.rationale]),
        ("Evidence", hypothesis.evidence[:MOST_LINES]),
        ("Result", [verdict.sentence, _against(round_)]),
        ("Why it worked, as far as records say", _why(round_, hypothesis)),
    ]


def _against(round_: Round) -> str:
    return f"The incumbent was round {round_.against.round.number}." if round_.against else ""


def _why(round_: Round, hypothesis: StoredHypothesis) -> list[str]:
    verdict = round_.verdict
    where = [_saved(one) for one in attributions_of(report_of(verdict.evaluation))]
    expected = f"Expected: {hypothesis.expected_metric} {hypothesis.expected_direction}"
    if hypothesis.expected_amount is not None:
        expected += f" by {share(hypothesis.expected_amount)}"
    borne = borne_of(round_, verdict)
    expected += f": {borne}" if borne else ""
    return [f"{expected}.", *(where[:MOST_LINES] or [UNTOLD])]


def _saved(found: Attribution) -> str:
    """From the first session only: it explains the result and is not a second result."""
    saved_us, word = found.saved.total_us, "saved" if found.saved.total_us >= 0 else "lost"
    told = (
        f"{digits(abs(saved_us))} µs {word} of the incumbent's {digits(found.incumbent.total_us)}"
    )
    return f"{found.case}: {told} µs a call in the first session, most in: {found.main}."


def _build(round_: Round, note: str) -> Section:
    chosen = round_.chosen
    if chosen is None:
        raise ValueError(f"{round_}: chosen: None; accepted: the accepted candidate")
    flags = f"flags {' '.join(chosen.flags)}" if chosen.flags else "no flags of its own"
    return "Build", [f"backend {round_.campaign.backend}, {flags}; sha256 {chosen.digest}", note]


def _page(round_: Round) -> Section:
    return "Round", [reverse("round", args=[round_.campaign_id, round_.number])]
