"""Records → a few lines of Markdown for a pull request: the result, its cases, its surroundings.

All of it is stored text or made from it, so all of it is escaped. Links are absolute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.urls import reverse

from campaigns.models import Evaluation
from campaigns.records.evaluations import report_of
from campaigns.reports.rows import RoundRow, standing_words
from campaigns.reports.sheet import BASELINE, CampaignSheet
from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import known_duration
from knowledge.exchange.writers.markdown import link, plain, table

# An address of this server → with its host.
Site = Callable[[str], str]
# What of an environment tells two measurements apart at a glance; the round's page has all of it.
MOST_FACTS = 6


def round_lines(row: RoundRow, site: Site) -> Iterator[str]:
    """One round: the parts of a Markdown text."""
    campaign, number = row.round.campaign, row.number
    here = site(row.round.get_absolute_url())
    yield f"## {link(f'Round {number}: {row.title}', here)}"
    rival = "" if row.is_baseline else _baseline(row.against)
    word = f"{row.word.words}, {standing_words(row.standing)}" if row.standing else row.word.words
    said = _gain(row.gain, rival) if row.gain and rival else plain(row.sentence)
    yield f"**{plain(word).capitalize()}**: {said or 'there is no verdict yet'}"
    yield _cases(row, rival)
    yield _surroundings(row.verdict.evaluation if row.verdict else None)
    yield _links(
        ("Diff", site(reverse("round_diff", args=[campaign.pk, number]))),
        ("Campaign", site(campaign.get_absolute_url())),
        ("Reproduce", site(reverse("reproducer", args=[campaign.pk, number]))),
    )


def campaign_lines(sheet: CampaignSheet, site: Site) -> Iterator[str]:
    """A campaign: its best round, and what each kept round added to the incumbent of its time."""
    campaign, best, shown = sheet.campaign, sheet.best, sheet.shown
    here = site(campaign.get_absolute_url())
    yield f"## {link(campaign.title, here)}"
    if best is None or shown.gain is None or not sheet.is_faster:
        yield "**No candidate was shown to be better than v0.**"
    else:
        found = link(f"round {best.number}", site(best.round.get_absolute_url()))
        yield f"**The best is {found}**: {_gain(shown.gain, _baseline(sheet.against))}."
    yield plain(campaign.stop_sentence if campaign.is_finished else "The campaign goes on.")
    if best is not None and sheet.is_faster:
        before, head = shown.incumbent_times, f"Before: {_baseline(sheet.against)}"
        lines = [
            (plain(c), known_duration(before.get(c)), known_duration(us))
            for c, us in shown.times.items()
        ]
        yield table(("Case", head, f"After: round {best.number}"), lines)
    yield table(("Kept", "Gain"), list(_kept(sheet, site)))
    yield _surroundings(best.verdict.evaluation if best and best.verdict else None)
    yield _links(
        ("Rounds", site(reverse("rounds", args=[campaign.pk]))),
        ("Report", site(reverse("report", args=[campaign.pk]))),
    )


def _kept(sheet: CampaignSheet, site: Site) -> Iterator[tuple[str, str]]:
    for row in sheet.rows:
        if row.is_kept and not row.is_baseline:
            named = link(f"Round {row.number}: {row.title}", site(row.round.get_absolute_url()))
            rival = _baseline(row.against)
            yield named, plain(f"{row.gain.brief} against {rival}") if row.gain else ""


def _baseline(number: int | None) -> str:
    return BASELINE if number in (None, 1) else f"round {number}"


def _gain(gain: Gain, rival: str) -> str:
    """With interval, count and baseline in one sentence (law 9)."""
    return plain(gain.against(rival))


def _cases(row: RoundRow, rival: str) -> str:
    """What was measured side by side; empty of a baseline and of what was not timed."""
    timed = [result for result in row.results if result.time]
    if not rival or not timed:
        return ""
    lines = [
        (
            plain(one.case),
            known_duration(one.against.median if one.against else None),
            known_duration(one.time.median if one.time else None),
            plain(one.gain.words) if one.gain else "",
            str(one.gain.pairs) if one.gain else "",
        )
        for one in timed
    ]
    head = ("Case", f"Before: {plain(rival)}", f"After: round {row.number}", "Gain", "n")
    return table(head, lines)


def _surroundings(measured: Evaluation | None) -> str:
    """Where it was measured, in one line."""
    report = report_of(measured) if measured else None
    if measured is None or report is None:
        return ""
    facts = [f"{name} {value}" for name, value in sorted(report.environment.items()) if value]
    worker = [f"worker {measured.worker.name}"] if measured.worker else []
    return f"Measured with {plain(', '.join([*facts[:MOST_FACTS], *worker]))}."


def _links(*named: tuple[str, str]) -> str:
    return " · ".join(link(text, address) for text, address in named)
