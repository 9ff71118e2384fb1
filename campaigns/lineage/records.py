"""Records → the chain of commits: which rounds, with which files, message and date."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from campaigns.lineage.formatting import formatted
from campaigns.lineage.git import LineageError, branch_name
from campaigns.lineage.repository import PlannedCommit
from campaigns.models import Campaign, Commit, Round, RoundState
from campaigns.models.campaign import measured_here
from campaigns.records.campaigns import intake_of
from campaigns.records.evaluations import report_of
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.records.verdicts import borne_of, gain_of
from campaigns.rules.stop.intake import AUTO
from campaigns.rules.verdict.attribution import attributions_of
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import change, digits, share

# The kind of the event that says why a commit could not be made.
FAILED = "lineage_failed"
# Besides the kernel: what is needed to build and check it elsewhere.
DESCRIPTION = ("problem.toml", "ref.py")
BASELINE = "baseline"
MOST_LINES = 12
UNTOLD = "The records do not say where the time went."
WIDTH = 72
INDENT = "    "
LONGEST_WORDS = 60
LONGEST_TEXT = 2000
CUT = "…"
Section = tuple[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Link:
    """One accepted round and its commit to be. commit: the recorded one, or None.

    source: the text to commit, where that is not the candidate's own; else empty. note: why.
    """

    round: Round
    commit: Commit | None
    entry: PlannedCommit
    source: str
    note: str


def accepted_rounds(campaign: Campaign) -> QuerySet[Round]:
    """The rounds that have a commit, or should have one: the baseline first; none of a sample."""
    own = campaign.rounds.filter(measured_here("campaign__"))
    rows = own.filter(state=RoundState.CLOSED, verdict__word=VerdictWord.ACCEPTED)
    return rows.order_by("number")


def uncommitted(campaign: Campaign) -> list[int]:
    """The numbers of the accepted rounds without a commit on record."""
    rows = accepted_rounds(campaign).filter(commit__isnull=True)
    return list(rows.values_list("number", flat=True))


def branch_of(campaign: Campaign) -> str:
    """The branch of its first commit, else the requested one, else one made of names."""
    first = Commit.objects.filter(round__campaign=campaign).order_by("round__number").first()
    if first is not None:
        return first.branch
    chosen = intake_of(campaign).git_branch
    if chosen != AUTO:
        return chosen
    names = (campaign.problem.op, campaign.backend, campaign.platform.slug)
    return branch_name(*names, campaign.created_at)


def chain_of(campaign: Campaign) -> list[Link]:
    """Every commit that the campaign should have, the oldest first. Raises LineageError."""
    rows = accepted_rounds(campaign).select_related("chosen", "commit", "verdict", "against__round")
    links = []
    for round_ in rows:
        round_.campaign = campaign
        try:
            links.append(_link(round_, getattr(round_, "commit", None)))
        except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            # JSON columns hold what another version or an agent stored; the round goes on without
            # a commit.
            what = f"{type(error).__name__}: {error}"
            number = round_.number
            raise LineageError(f"round {number}: its records cannot be read: {what}") from None
    return links


def _link(round_: Round, commit: Commit | None) -> Link:
    if commit is not None:
        entry = _entry(round_, commit.source, commit.message)
        return Link(round_, commit, entry, commit.source, commit.note)
    source, note = "", ""
    if settings.KOPT_FORMAT == "ON" and round_.chosen:
        done = formatted(round_.chosen.file_name, round_.chosen.text)
        source, note = done.text if done.text != round_.chosen.text else "", done.note
    return Link(round_, None, _entry(round_, source, story_of(round_, note)), source, note)


def _entry(round_: Round, source: str, message: str) -> PlannedCommit:
    campaign, chosen = round_.campaign, round_.chosen
    if chosen is None or round_.closed_at is None:
        raise ValueError("chosen, closed_at: None; accepted: those of a closed round")
    files = {name: campaign.problem.files[name] for name in DESCRIPTION}
    files[campaign.problem.backends[campaign.backend]] = source or chosen.text
    return PlannedCommit(message, files, int(round_.closed_at.timestamp()))


# A standing that comes later (reproduced elsewhere) or an answer is left out, so that the same
# round gives the same message at any time.
def story_of(round_: Round, note: str = "") -> str:
    """The message of an accepted round's commit (R46). note: what became of its formatting."""
    campaign, verdict, chosen = round_.campaign, round_.verdict, round_.chosen
    if chosen is None:
        raise ValueError(f"{round_}: chosen: None; accepted: the accepted candidate")
    hypothesis = hypothesis_of(round_)
    strategy, gain = BASELINE, None
    sections: list[Section] = [
        ("Hypothesis", ["None: the problem's own v0, measured against itself."]),
        ("Result", [verdict.sentence]),
    ]
    if hypothesis is not None:
        strategy, gain = hypothesis.strategy or hypothesis.title, gain_of(verdict)
        before = round_.against
        against = f"The incumbent was round {before.round.number}." if before else ""
        sections = [
            ("Hypothesis", [hypothesis.change or hypothesis.title, hypothesis.rationale]),
            ("Evidence", hypothesis.evidence[:MOST_LINES]),
            ("Result", [verdict.sentence, against]),
            ("Why it worked, as far as records say", _why(round_, hypothesis)),
        ]
    flags = f"flags {' '.join(chosen.flags)}" if chosen.flags else "no flags of its own"
    built = f"backend {campaign.backend}, {flags}; sha256 {chosen.digest}"
    page = reverse("round", args=[round_.campaign_id, round_.number])
    sections += [("Build", [built, note]), ("Round", [page])]
    first = subject(campaign.problem.op, round_.number, strategy, gain.gain if gain else None)
    return message(first, sections)


def _why(round_: Round, hypothesis: StoredHypothesis) -> list[str]:
    """What was expected; and where time was saved, from the first session only: it explains the
    result and is not a second result."""
    verdict, where = round_.verdict, []
    for one in attributions_of(report_of(verdict.evaluation)):
        saved_us, of_us = one.saved.total_us, one.incumbent.total_us
        word = "saved" if saved_us >= 0 else "lost"
        told = f"{digits(abs(saved_us))} µs {word} of the incumbent's {digits(of_us)} µs a call"
        where.append(f"{one.case}: {told} in the first session, most in: {one.main}.")
    expected = f"Expected: {hypothesis.expected_metric} {hypothesis.expected_direction}"
    if hypothesis.expected_amount is not None:
        expected += f" by {share(hypothesis.expected_amount)}"
    borne = borne_of(round_, verdict)
    expected += f": {borne}" if borne else ""
    return [f"{expected}.", *(where[:MOST_LINES] or [UNTOLD])]


# Hypotheses come from proposers, agents and people. Each text becomes one line of printable
# characters first, and is indented below our titles. So none can begin a line, be read as another
# section, or be taken for a trailer by git.
def subject(op: str, number: int, strategy: str, gain: float | None) -> str:
    """R46's first line: `[opt] <op> round-N: <strategy> (+x %)`; without a gain no bracket."""
    words = f"[opt] {one_line(op, LONGEST_WORDS)} round-{number}: "
    words += one_line(strategy, LONGEST_WORDS) or "without a name"
    return words if gain is None else f"{words} ({change(gain)})"


def message(first: str, sections: Sequence[Section]) -> str:
    """The whole message. first: as `subject` wrote it. A section without a text is left out."""
    parts = [first]
    for title, texts in sections:
        told = [folded(text) for text in texts if one_line(text)]
        if told:
            parts.append("\n".join([f"{title}:", *told]))
    return "\n\n".join(parts) + "\n"


def folded(text: str) -> str:
    """A stored text as indented lines of one paragraph."""
    # A citation is found again only where it is whole.
    wrapper = textwrap.TextWrapper(WIDTH, INDENT, INDENT, break_on_hyphens=False)
    return wrapper.fill(one_line(text))


def one_line(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text without line ends, control characters, direction marks and runs of blanks."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    whole = " ".join(shown.split())
    return whole if len(whole) <= longest else whole[: longest - 1].rstrip() + CUT
