"""`round submit`: its options, and how it follows a candidate to its verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaigns.management.base_command import argument
from campaigns.models import Campaign, Round, RoundState, Submission
from campaigns.proposers.handed_in import BUCKETS, LARGEST_SOURCE, HandedIn
from campaigns.proposers.situation import facts_about

FOLLOW_EVERY_S = 1.0
COMMAND_LINE = "command line"

SUBMIT = (
    argument("campaign", type=int, help="the campaign's number"),
    argument("file", type=Path, help="the source of the candidate"),
    argument("--title", default="", help="the idea in a few words"),
    argument("--change", default="", help="what the source changes, against the incumbent"),
    argument("--rationale", default="", help="why that should help"),
    argument("--metric", default="", help='what should move, such as "time per call"'),
    argument("--direction", default="", help="up or down"),
    argument("--amount", default="", help="by how much, such as 8%%"),
    argument(
        "--evidence",
        action="append",
        default=[],
        metavar="CASE",
        help="a case whose measured facts the hypothesis rests on; may be repeated; "
        "default: every case of the incumbent",
    ),
    argument("--risks", default="", help="what may go wrong"),
    argument("--bucket", default=BUCKETS[0], help=f"{', '.join(BUCKETS)}; default: {BUCKETS[0]}"),
    argument("--strategy", default="", help="its name in the catalogue, if it has one"),
    argument(
        "--flags", help="for the compiler, in one text: --flags=-O3; default: the incumbent's"
    ),
    argument("--by", metavar="USER", help="the person whose candidate it is"),
    argument("--agent", metavar="NAME", help="the agent whose candidate it is"),
    argument("--wait", action="store_true", help="follow it to its verdict"),
)


def handed_in(campaign: Campaign, file: Path, said: dict[str, Any]) -> HandedIn:
    """The options as the step takes them. Raises OSError, UnicodeDecodeError."""
    evidence = tuple(said.pop("evidence")) or tuple(facts_about(campaign))
    with file.open("rb") as opened:
        # One byte more than is accepted, so that a longer file is refused and never read whole.
        text = opened.read(LARGEST_SOURCE + 1).decode()
    return HandedIn(source=text, file_name=file.name, evidence=evidence, **said)


def follow(submission: Submission, tell: Callable[[str], None]) -> Round | None:
    """Tell the campaign's events until the round is closed; None where the campaign ended first."""
    told = submission.campaign.events.order_by("-pk").values_list("pk", flat=True).first() or 0
    while True:
        # Read before the events, so that the last event is never missed.
        campaign = Campaign.objects.get(pk=submission.campaign_id)
        round_ = submission.rounds.select_related("verdict").first()
        for event in campaign.events.filter(pk__gt=told):
            tell(event.message)
            told = event.pk
        if campaign.is_finished or (round_ and round_.state == RoundState.CLOSED):
            return round_
        time.sleep(FOLLOW_EVERY_S)
