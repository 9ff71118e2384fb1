"""How pages write verdicts, gains, times and citations: one tag each, so that all pages agree."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from campaigns.charts.marks import GLYPHS
from campaigns.models import StandingWord
from campaigns.models.kinds import EVALUATION_KINDS
from campaigns.models.verdict import MEANINGS
from campaigns.records.rounds import hypothesis_of
from campaigns.records.target.target_drift import TargetDrift
from campaigns.records.verdicts import gain_of
from campaigns.reports.progress import spoken
from campaigns.reports.rows import standing_words
from campaigns.reports.team.listing import SHORT_ROUND_COLUMNS
from campaigns.reports.theme import COOKIE, Theme
from campaigns.rules import wording
from campaigns.rules.noise.gain import Gain
from campaigns.rules.target.ceilings import PLACEHOLDER, CampaignTarget
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.report_words import function_words
from knowledge.charts.frame import full
from knowledge.lookup.columns import ListColumn
from knowledge.specs.citation import CitationState
from knowledge.specs.cited import UNKNOWN, Cited

register = template.Library()
TAGS = "campaigns/tags"

# A look-up through something that is not there gives "" in a template, not None.
MISSING: tuple[Any, ...] = (None, "")

STANDING_CSS = {
    StandingWord.CLAIMED: "open",
    StandingWord.VERIFIED: "pass",
    StandingWord.NOT_VERIFIED: "fail",
    StandingWord.REPRODUCED: "pass",
    StandingWord.NOT_REPRODUCED: "fail",
    StandingWord.UNTOLD: "open",
}
# First part of a page's path → the navigation entry that it belongs to.
PLACES = {
    "": "home",
    "c": "campaigns",
    "p": "campaigns",
    "w": "wiki",
    "x": "experience",
    "search": "experience",
    "review": "review",
    "workers": "workers",
    "jobs": "workers",
}


def _marked(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """A filter that writes the name and all digits of a quantity beside its words (law 9)."""

    def filter_(value: Any) -> str:
        text = write(value)
        if not isinstance(value, wording.NamedNumber):
            return text
        mark = '<data value="{}" data-quantity="{}">{}</data>'
        return format_html(mark, float(value), value.name, text)

    return filter_


register.filter("session_gain", gain_of)
register.filter("spoken", spoken)
register.filter("share", _marked(wording.share))
register.filter("duration", _marked(wording.duration))
# Microseconds, for a column whose header says so: "1,240", "34.3".
register.filter("us", _marked(lambda value: "–" if value in MISSING else wording.digits(value)))
register.filter("change", wording.change)
register.filter("factor", wording.factor)
register.filter("hypothesis", hypothesis_of)
register.filter("instructions", function_words)
register.filter("bytes", lambda value: wording.amount(value, "B"))
register.filter("per_second", lambda value: wording.amount(value, "B/s"))
register.filter("plain", lambda name: str(name).replace("_", " "))


@register.simple_tag
def glyph(name: str) -> SafeString:
    """Draw a glyph of the sprite in base.html; it is decoration, the word stands beside it."""
    return format_html(
        '<svg class="glyph" viewBox="0 0 12 12" aria-hidden="true"><use href="#g-{}"/></svg>', name
    )


def _named(word: str) -> dict[str, Any]:
    """A verdict and the class that colours it."""
    verdict = VerdictWord(word)
    return {"verdict": verdict, "css": GLYPHS[verdict].css.removeprefix("v-")}


@register.inclusion_tag(f"{TAGS}/badge.html")
def badge(word: str, size: str = "") -> dict[str, Any]:
    """Write a verdict as glyph, word and colour."""
    return {**_named(word), "size": size}


@register.inclusion_tag(f"{TAGS}/tally.html")
def tally(word: str, count: int) -> dict[str, Any]:
    """Write how many rounds have a verdict, for rows with no room for words."""
    return {**_named(word), "count": count}


@register.inclusion_tag(f"{TAGS}/standing.html")
def standing(word: str) -> dict[str, Any]:
    """Write how far a gain is confirmed as glyph and word; what it means is in the title."""
    css, words = STANDING_CSS[StandingWord(word)], standing_words(word)
    return {"word": word, "css": css, "words": words, "meaning": MEANINGS[word]}


@register.inclusion_tag(f"{TAGS}/age.html")
def age(at: datetime, seconds: float, lost_after_s: float | None = None) -> dict[str, Any]:
    """Write how long ago something was; live.js keeps it true while the page stays open.

    lost_after_s: after so many seconds the element before it says that no heartbeat came.
    """
    return {"at": at, "seconds": seconds, "lost_after_s": lost_after_s}


@register.inclusion_tag(f"{TAGS}/delta.html")
def delta(gain: Gain | None, baseline: str) -> dict[str, Any]:
    """Write a change with its interval, count and baseline in one element (law 9)."""
    change, _, ends = gain.words.partition(" [") if gain else ("", "", "")
    return {"gain": gain, "baseline": baseline, "change": change, "ends": ends}


@register.simple_tag
def cite(cited: Cited | None, link: bool = True, state: str = CitationState.OK.value) -> SafeString:
    """Write a cited value as a link to its line, or the words for a missing one."""
    if not cited:
        return format_html('<span class="unknown">{}</span>', "UNKNOWN (gpu-wiki not found)")
    if not link:
        return format_html("{}", cited.display)
    return cited_as(cited, state)


def cited_as(cited: Cited, state: str) -> SafeString:
    """Write a cited value with the state of its citation; in a word where it is not ok."""
    word = format_html(' <span class="unknown">{}</span>', spaced(state)) if state != "ok" else ""
    return format_html(
        '<a href="{}" title="{}" data-cite-state="{}">{}</a>{}',
        cited.href, cited.citation, state, cited.display, word,
    )  # fmt: skip


@register.inclusion_tag(f"{TAGS}/ceiling.html", takes_context=True)
def ceiling(context: dict[str, Any], target: CampaignTarget, question: str) -> dict[str, Any]:
    """Write the ceiling that a target rests on: cited, a labelled placeholder, or UNKNOWN."""
    cited = target.bandwidth if question == "bandwidth" else target.compute
    return {
        "cited": cited,
        "state": _state(context, cited.citation) if cited else "",
        "assumed": target.assumed.get(question),
        "placeholder": PLACEHOLDER,
    }


@register.inclusion_tag(f"{TAGS}/provisional_formula.html")
def provisional_formula(target: CampaignTarget, case: str) -> dict[str, Any]:
    """Write what a placeholder would lead to for one case, and say beside it what it is."""
    return {"found": target.provisional.get(case), "placeholder": PLACEHOLDER}


@register.simple_tag
def baseline_words(number: int | None) -> str:
    """Name a baseline as every change does: "round 3"; round 1 is v0."""
    if number in MISSING:
        return "v0"
    return "v0 (round 1)" if number == 1 else f"round {number}"


@register.simple_tag(takes_context=True)
def gate_citation(
    context: dict[str, Any], citations: str, target: CampaignTarget, is_file: bool = False
) -> SafeString:
    """Write a gate's citations, one a line; links where they are ceilings of the target."""
    known = {c.citation: c for c in (*target.bandwidths, *target.computes, *target.lessers)}
    lines = []
    for citation in citations.split("\n"):
        if is_file or citation not in known:
            lines.append((format_html("{}", citation),))
        else:
            written = replace(known[citation], display=citation)
            lines.append((cited_as(written, _state(context, citation)),))
    return format_html_join(mark_safe("<br>"), "{}", lines)


@register.inclusion_tag(f"{TAGS}/saved.html")
def saved(
    old_us: float | None, new_us: float | None, saved_us: float | None
) -> dict[str, float | str | None]:
    """Write how a part of a time changed: "−3.90 (12.1 → 8.20)"; what was saved is below zero."""
    is_known = old_us is not None and new_us is not None and saved_us is not None
    change = wording.signed(-(saved_us or 0.0)) if is_known else None
    return {"old_us": old_us, "new_us": new_us, "change": change}


@register.simple_tag
def short_columns() -> tuple[ListColumn, ...]:
    """What a table of rounds shows where there is little room."""
    return SHORT_ROUND_COLUMNS


@register.simple_tag
def cell(value: float | None, form: str = "") -> SafeString:
    """Write a number in a table cell with all its digits beside it. form: as format() takes it."""
    if value is None:
        return format_html("<td>{}</td>", "–")
    text = format(value, form) if form else wording.digits(value)
    name = getattr(value, "name", "")
    mark = format_html(' data-quantity="{}"', name) if name else ""
    return format_html('<td title="{0}" data-value="{0}"{1}>{2}</td>', full(value), mark, text)


@register.simple_tag(takes_context=True)
def undo_offer(context: dict[str, Any]) -> dict[str, Any] | None:
    """What the person decided seconds ago and may take back: url, words, and ms that are left."""
    request, person = context.get("request"), context.get("user")
    # A page that tells of an error has no person, and may not ask a session that is out of reach.
    if request is None or person is None or not person.is_authenticated:
        return None
    offer: dict[str, Any] | None = request.session.get("undo")
    left_s = offer["until"] - time.time() if offer else 0.0
    return {**offer, "left_ms": int(left_s * 1000)} if offer and left_s > 0 else None


@register.filter
def purpose(kind: str) -> str:
    """Say what an evaluation was for: "remeasure" is the second session."""
    return EVALUATION_KINDS[kind].words


@register.filter
def spaced(value: str) -> str:
    """Write a stored word as people do: "max_rounds" is "max rounds"."""
    return str(value).replace("_", " ")


@register.filter
def metric(name: str) -> str:
    """Write a metric without its unit: "time_us" is "time"."""
    return spaced(name.removesuffix("_us"))


@register.filter
def time_or_unknown(value: float | None) -> str:
    """Write a time with its unit, or that a ceiling for it is missing."""
    return UNKNOWN if value is None else wording.duration(value)


@register.filter
def small(value: Any) -> str:
    """Write an error: "0", "2.4e-07"."""
    return "–" if value in MISSING else f"{value:.2g}"


@register.filter
def amount(value: Any, unit: str) -> str:
    """Write a large quantity with a prefix: "33.6 MB"."""
    return "–" if value in MISSING else wording.amount(value, unit)


@register.filter
def time_change(gain: Gain) -> str:
    """Write a gain as the change of time that a hypothesis predicts: 1.0 is "50 % less time"."""
    return wording.time_words(gain.gain, gain.low, gain.high)


@register.filter
def clock(value: datetime | None) -> str:
    """Write a moment with its date, in UTC."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if value else "–"


@register.simple_tag(takes_context=True)
def theme(context: dict[str, Any]) -> Theme:
    """The chosen theme; the server writes it onto <html>, so that the first paint is right."""
    request: HttpRequest | None = context.get("request")
    return Theme.read(request.COOKIES.get(COOKIE, "") if request else "")


@register.simple_tag
def themes() -> list[Theme]:
    """All themes."""
    return list(Theme)


@register.simple_tag(takes_context=True)
def here(context: dict[str, Any], place: str) -> str:
    """Mark the navigation entry that the page belongs to."""
    request: HttpRequest | None = context.get("request")
    first = request.path.split("/")[1] if request else "-"
    return format_html(' aria-current="{}"', "page") if PLACES.get(first) == place else ""


def _state(context: dict[str, Any], citation: str) -> str:
    """The state of a citation that the campaign pinned, where the page has looked it up."""
    drift: TargetDrift | None = context.get("drift")
    return drift.state_of(citation) if drift else CitationState.OK
