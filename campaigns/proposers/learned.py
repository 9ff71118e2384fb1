"""What the team's experience says to a campaign, as plain values for its proposer (R36, R38)."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from django.db.models import QuerySet

from campaigns.models import Campaign, Evaluation, Round
from campaigns.models.kinds import TORCH
from campaigns.proposers.base import Advice, TriedElsewhere
from campaigns.proposers.evidence import bottleneck_of, read_facts
from campaigns.records.cases import shapes_of
from campaigns.records.evaluations import COMPILER_PATH
from campaigns.records.rounds import evidence_of
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Hit, Question
from knowledge.experience.terms import AttemptLabel, shape_class, size_log2
from knowledge.experience.wording import gain_words
from knowledge.models import EntryStanding, Experience, Strategy

MOST_ADVISED = 5
MOST_FOLLOWED = 5
MOST_ROWS = 500
WORKED = tuple(label for label in AttemptLabel if label.worked)


def question_of(campaign: Campaign) -> Question:
    """What a campaign asks of the team's experience now."""
    evidence = evidence_of(campaign)
    return Question(
        op=campaign.problem.op,
        backend=campaign.backend,
        platform=campaign.platform.slug,
        arch=campaign.platform.target,
        dtype=campaign.problem.dtype,
        bottleneck=bottleneck_of(read_facts(evidence.facts if evidence else {})),
        size_log2=size_log2(shapes_of(campaign.case_rows)),
    )


def advice_for(campaign: Campaign) -> tuple[Advice, ...]:
    """What experience recommends to try, best first."""
    asked = question_of(campaign)
    hits = recommend(asked, MOST_ADVISED).hits
    strategies = Strategy.objects.filter(slug__in=[hit.strategy for hit in hits])
    aliases = {row.slug: (*row.aliases, *row.recipes) for row in strategies}
    tracks = [track for hit in hits for track in hit.tracks]
    rows = _counting().filter(track__in=tracks, label__in=WORKED).order_by("-happened_at")
    by_strategy: dict[str, list[Experience]] = defaultdict(list)
    for row in rows[:MOST_ROWS]:
        by_strategy[row.track.strategy].append(row)
    return tuple(
        _advice(hit, by_strategy[hit.strategy], aliases.get(hit.strategy, ()), asked)
        for hit in hits
    )


def _advice(
    hit: Hit, rows: Sequence[Experience], aliases: Iterable[str], asked: Question
) -> Advice:
    # From this very context, so that its values need no screening again.
    context = _context(asked)
    here = [row for row in rows if all(getattr(row.track, k) == v for k, v in context.items())]
    chains = _best_first(here or rows)
    best = [chain[-1] for chain in chains]
    cited = [str(row.uuid) for row in best]
    gain = gain_words(hit.gain_median, hit.gain_low, hit.gain_high) + " vs each incumbent"
    params = (tuple(sorted(row.params.items())) for row in best if row.params)
    return Advice(
        strategy=hit.strategy,
        names=_names(hit.strategy, aliases, rows),
        gain=statistics.median(map(_total, chains)) if chains else hit.gain_median,
        params=tuple(dict.fromkeys(params))[:MOST_ADVISED],
        is_here=bool(here),
        entries=tuple(dict.fromkeys((*cited, *hit.entries)))[:MOST_FOLLOWED],
        words=f"worked in {hit.worked} of {hit.tried} attempts, median {gain}; {hit.scope}",
    )


def _names(slug: str, aliases: Iterable[str], rows: Iterable[Experience]) -> tuple[str, ...]:
    """What proposers may call it. An alias for many, `tune.*`, stands only for those that worked,
    where it is known which did."""
    used = {row.strategy_name for row in rows}
    plain = [alias for alias in aliases if not alias.endswith("*")]
    wide = [alias for alias in aliases if alias.endswith("*")]
    open_ended = [one for one in wide if not any(fnmatchcase(name, one) for name in used)]
    return tuple(dict.fromkeys((slug, *sorted(used), *plain, *open_ended)))


def _best_first(rows: Iterable[Experience]) -> list[list[Experience]]:
    """The gains of a strategy in each campaign, in their order; the largest total first.

    A number that was doubled twice is best at its last value, and not where it gained most.
    """
    chains: dict[tuple[object, str], list[Experience]] = defaultdict(list)
    for row in rows:
        chains[row.campaign or row.uuid, row.strategy_name].append(row)
    listed = [sorted(chain, key=lambda row: (row.round or 0, row.pk)) for chain in chains.values()]
    return sorted(listed, key=lambda chain: (-_total(chain), chain[-1].pk))


def _total(chain: Iterable[Experience]) -> float:
    """What a chain of gains comes to: 10 % after 10 % is 0.21."""
    return math.prod(1 + (row.gain or 0.0) for row in chain) - 1


def _context(asked: Question) -> dict[str, str]:
    """What the tracks of this very context have, by field."""
    same = {name: getattr(asked, name) for name in ("op", "backend", "platform", "dtype")}
    return same | {"shape_class": shape_class(asked.size_log2)}


def spent_for(campaign: Campaign) -> tuple[TriedElsewhere, ...]:
    """Ideas that other campaigns tried in this context without a gain, newest first (R36)."""
    asked, incumbent = question_of(campaign), campaign.incumbent
    context = {f"track__{name}": value for name, value in _context(asked).items()}
    rows = _counting().filter(campaign__isnull=False, **context)
    others = list(rows.exclude(campaign=campaign.pk).order_by("-happened_at")[:MOST_ROWS])
    digest = incumbent.digest if incumbent else ""
    rivals = _rivals(others)
    measured = Evaluation.objects.filter(candidate__round__campaign=campaign)
    own = measured.exclude(report={}).exclude(kind__in=TORCH).order_by("-pk")
    # The one that this campaign's last measurement was built with.
    compiler = str(own.values_list(COMPILER_PATH, flat=True).first() or "")
    same = {row.pk for row in others if rivals.get((row.campaign, row.round)) == digest}
    # What worked on another source may still be a failure on this one, and the other way round.
    worked = {(row.params_key, row.pk in same) for row in others if row.label in WORKED}
    anywhere = {key for key, _ in worked}
    found: dict[tuple[str, str], TriedElsewhere] = {}
    for row in others:
        on_this = row.pk in same
        redeemed = (row.params_key, True) in worked if on_this else row.params_key in anywhere
        if row.label in WORKED or redeemed:
            continue
        one = _spent(row, on_this, compiler)
        known = found.get((row.params_key, row.strategy_name))
        if known is None or (one.is_same and not known.is_same):
            found[row.params_key, row.strategy_name] = one
    return tuple(found.values())


def _spent(row: Experience, on_this: bool, compiler: str) -> TriedElsewhere:
    """on_this: it started from the source that is the incumbent. compiler: the one in use now."""
    newer = bool(compiler and row.compiler and compiler != row.compiler)
    outcome = row.reason.replace("_", " ") or row.label
    if row.gain is not None:
        outcome = gain_words(row.gain, row.gain_low, row.gain_high)
    return TriedElsewhere(
        strategy=row.strategy_name,
        params=tuple(sorted(row.params.items())),
        is_same=on_this and not newer,
        entry=str(row.uuid),
        words=f"campaign {row.campaign}, round {row.round}: {outcome}",
        news=f"it is built with {compiler} now" if on_this else "the incumbent is another source",
    )


def _rivals(rows: Iterable[Experience]) -> dict[tuple[int | None, int | None], str]:
    """Campaign and round → the digest of the source that the round started from."""
    campaigns = {row.campaign for row in rows}
    found = Round.objects.filter(campaign__in=campaigns).exclude(against=None)
    return {
        (campaign, number): digest
        for campaign, number, digest in found.values_list("campaign", "number", "against__digest")
    }


def _counting() -> QuerySet[Experience]:
    return Experience.objects.filter(standing=EntryStanding.COUNTS).select_related("track")
