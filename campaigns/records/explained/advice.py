"""What findings of profiles promised, and what the rounds that followed them gained (R26)."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.models import Round
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.expectation import FINDING, AdviceRecord
from knowledge.models import EntryStanding, Experience

# Of the newest; the record of advice is not that of old hardware.
MOST_ROUNDS = 2_000
# The round took place, also where its entry was merged into another.
JUDGED = (EntryStanding.COUNTS, EntryStanding.MERGED)


@dataclass(frozen=True, slots=True)
class _Followed:
    """One round that cites a finding. promised: by the evidence that it rested on."""

    accepted: bool
    gain: float | None
    promised: float | None


def advice_record(names: Iterable[str]) -> dict[str, AdviceRecord]:
    """Finding → what became of it, of rounds that the eyes of this call see; two queries.

    A round counts by its entry of experience: so those that are masked do not, nor do failures of
    the infrastructure (law 8) and what a person still has to decide. None for what nobody cited.
    """
    wanted = {*names}
    if not wanted:
        return {}
    rows = Round.objects.filter(hypothesis__cites__0__isnull=False).order_by("-pk")
    cited = rows.values_list(
        "campaign", "number", "hypothesis__cites", "evidence__facts__profile__findings"
    )[:MOST_ROUNDS]
    rested: dict[tuple[int | None, int | None], tuple[list[str], Any]] = {
        (campaign, number): (cites, found) for campaign, number, cites, found in cited
    }
    entries = Experience.objects.filter(
        standing__in=JUDGED, campaign__in={campaign for campaign, _ in rested}
    )
    followed: dict[str, list[_Followed]] = defaultdict(list)
    for campaign, number, verdict, gain in entries.values_list(
        "campaign", "round", "verdict", "gain"
    ):
        cites, found = rested.get((campaign, number), ([], ()))
        promised = _promised(found or ())
        for name in {one.removeprefix(FINDING) for one in cites if one.startswith(FINDING)}:
            if name in wanted:
                accepted = verdict == VerdictWord.ACCEPTED
                followed[name].append(_Followed(accepted, gain, promised.get(name)))
    return {name: _record(rounds) for name, rounds in followed.items()}


def _promised(found: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
    return {one["name"]: one.get("share") for one in found}


def _record(rounds: list[_Followed]) -> AdviceRecord:
    gains = [one.gain for one in rounds if one.gain is not None]
    promised = [one.promised for one in rounds if one.promised is not None]
    return AdviceRecord(
        rounds=len(rounds),
        accepted=sum(one.accepted for one in rounds),
        measured=len(gains),
        gain=statistics.median(gains) if gains else None,
        promised=statistics.median(promised) if promised else None,
    )
