"""How the page of the search writes a hit: its text with the words that were looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from knowledge.experience.wording import gain_words
from knowledge.search.rank import is_form
from knowledge.search.tokens import WORD

register = template.Library()


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
    told = gain_words(gain, facts.get("gain_low"), facts.get("gain_high"))
    counted = facts.get("gains")
    return format_html(
        '<span class="delta" data-delta="{}" data-baseline="its incumbent" data-n="{}">'
        '<strong>{}</strong> <span class="ci">{}</span></span>',
        gain, counted or "", told,
        f"median of {counted} against each incumbent"
        if counted and counted > 1
        else "against its incumbent",
    )  # fmt: skip


def _parts(text: str, forms: frozenset[str]) -> Iterator[str]:
    last = 0
    for match in WORD.finditer(text):
        if is_form(match[0], forms):
            yield text[last : match.start()]
            yield format_html("<mark>{}</mark>", match[0])
            last = match.end()
    yield text[last:]
