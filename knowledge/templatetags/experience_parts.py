"""How pages write attempts and hits: effect with interval and baseline, label, marked words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.experience.wording import faster, gain_words, signed_percent
from knowledge.models import Experience, TrackRecord
from knowledge.search.rank import is_form
from knowledge.search.tokens import WORD
from knowledge.specs.facts import named_values

register = template.Library()
register.filter("as_factor", faster)

# The shapes and colours of the verdicts that have the same meaning.
LOOKS = {
    AttemptLabel.SUCCESS: "accepted",
    AttemptLabel.SMALL: "accepted",
    AttemptLabel.MICRO: "accepted",
    AttemptLabel.TIE: "nochange",
    AttemptLabel.REGRESSION: "rejected",
    AttemptLabel.INCORRECT: "invalid",
}


@register.simple_tag
def effect(entry: Experience) -> SafeString:
    """Write an attempt's effect with its interval, against what (law 9)."""
    if entry.gain is None:
        return format_html('<span class="muted">{}</span>', "not measured")
    words = gain_words(entry.gain, entry.gain_low, entry.gain_high)
    against = entry.baseline or "its incumbent"
    pairs = f", n {entry.pairs}" if entry.pairs else ""
    return format_html(
        '<span class="delta" data-delta="{}" data-baseline="{}" data-n="{}"><strong>{}</strong> '
        '<span class="ci">against {}{}</span></span>',
        entry.gain, against, entry.pairs or "", words, against, pairs,
    )  # fmt: skip


@register.simple_tag
def typical(track: TrackRecord) -> SafeString:
    """Write the median effect of a context with its interval."""
    ends = track.gain_low, track.gain_high
    return format_html(
        '<span class="delta" data-delta="{}" data-baseline="each incumbent" data-n="{}">'
        '{} <span class="ci">vs each incumbent, n {}</span></span>',
        "" if track.gain_median is None else track.gain_median,
        track.gains, gain_words(track.gain_median, *ends), track.gains,
    )  # fmt: skip


@register.simple_tag
def outcome(label: str) -> SafeString:
    """Write an attempt's label as glyph, word and colour."""
    look = LOOKS[AttemptLabel(label)]
    return format_html(
        '<span class="badge v-{}" data-label-word="{}"><svg class="glyph" viewBox="0 0 12 12"'
        ' aria-hidden="true"><use href="#g-{}"/></svg>{}</span>',
        look, label, look, label,
    )  # fmt: skip


@register.filter
def named(values: Mapping[str, Any]) -> str:
    """Write names with their values in one line: "BLOCK_M=128, stages=3"."""
    return named_values(values, ", ")


@register.filter
def in_thousands(count: int) -> str:
    """Write a count with commas: "12,345"."""
    return f"{count:,}"


@register.filter
def per_cent(share: float) -> str:
    """Write a share in whole per cent: 0.47 is "47 %"."""
    return f"{share * 100:.0f} %"


@register.filter
def signed_per_cent(fraction: float | None) -> str:
    """Write a gain for a column whose head says so: 0.05 is "+5.0"; a dash where there is none."""
    return "–" if fraction is None else signed_percent(fraction)


@register.filter
def bottleneck_words(value: str) -> str:
    """Write a bottleneck as people do: "memory dram"."""
    return Bottleneck(value).words


@register.filter
def marked(text: str, forms: frozenset[str]) -> SafeString:
    """Write a text with these words of the index marked; all of it is text, whatever it holds."""
    return format_html_join("", "{}", ((part,) for part in _parts(str(text), forms)))


@register.simple_tag
def found_effect(facts: Mapping[str, Any]) -> SafeString:
    """Write the effect of a context or an attempt, against what, and of how many (law 9)."""
    gain = facts.get("gain")
    if gain is None:
        return format_html('<span class="muted">{}</span>', "not measured")
    words = gain_words(gain, facts.get("gain_low"), facts.get("gain_high"))
    counted = facts.get("gains") or 0
    many, against = (f"median of {counted} ", "each") if counted > 1 else ("", "its")
    return format_html(
        '<span class="delta" data-delta="{}" data-baseline="{} incumbent" data-n="{}">'
        '<strong>{}</strong> <span class="ci">{}against {} incumbent</span></span>',
        gain, against, counted or "", words, many, against,
    )  # fmt: skip


def _parts(text: str, forms: frozenset[str]) -> Iterator[str]:
    last = 0
    for match in WORD.finditer(text):
        if is_form(match[0], forms):
            yield text[last : match.start()]
            yield format_html("<mark>{}</mark>", match[0])
            last = match.end()
    yield text[last:]
