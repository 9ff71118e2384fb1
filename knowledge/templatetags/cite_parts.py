"""How pages write the state of a citation: one word, and why, from the notes of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from knowledge.models import Citation, Spec

register = template.Library()

CHIP = (
    '<span class="chip-line"><a class="cite" href="{href}{lines}#L{first}" title="{quote}">'
    '{path}:{locator}</a> {state} <button type="button" class="quiet" data-copy="{text}"'
    ' aria-label="Copy citation of {metric}, {locator}">Copy</button></span>'
    '<details class="quoted"><summary>quote<span class="sr"> for {metric}</span></summary>'
    '{note}<pre class="quote">{quote}</pre><code class="citation">{text}</code></details>'
)


@register.simple_tag(takes_context=True)
def cite_state(context: dict[str, Any], spec: Spec, state: str) -> SafeString:
    """Write the state in a word, with the note of `cite_notes` as its title; none: no citation."""
    return state_word(state, _note(context, spec) if state else "")


@register.simple_tag
def state_word(state: str, note: str = "") -> SafeString:
    """Write a state in a word, with a note as its title; none: no citation."""
    if not state:
        return format_html(
            '<span class="cite-state" data-cite-state="none">{}</span>', "no citation"
        )
    return format_html(
        '<span class="cite-state" data-cite-state="{}"{}>{}</span>',
        state,
        format_html(' title="{}"', note) if note else "",
        str(state).replace("_", " "),
    )


@register.simple_tag(takes_context=True)
def cite_note(context: dict[str, Any], spec: Spec) -> SafeString | str:
    """Write the same note as text, for those who cannot hover; empty where there is none."""
    note = _note(context, spec)
    return format_html('<p class="sub" data-cite-note>{}.</p>', note) if note else ""


@register.simple_tag(takes_context=True)
def cite_chip(context: dict[str, Any], citation: Citation, state: str) -> SafeString:
    """Write a citation as a link to its line, its state in a word, and the quoted text.

    In Python, since a sheet has hundreds: their template nodes were a fifth of its time.
    """
    line, revision, spec = citation.line, citation.revision, citation.spec
    several = line.first_line != line.last_line
    return format_html(
        CHIP,
        href=revision.get_absolute_url(),
        lines=f"&lines={line.first_line}-{line.last_line}" if several else "",
        first=line.first_line,
        quote=citation.quote,
        path=line.path,
        locator=line.locator,
        state=cite_state(context, spec, state),
        metric=line.metric,
        text=line,
        note=cite_note(context, spec),
    )


@register.filter
def paired_with(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of two lists of one length, such as platforms and the cells of a row."""
    return zip(first, second, strict=True)


def _note(context: dict[str, Any], spec: Spec) -> str:
    note: str = context.get("cite_notes", {}).get(spec.pk, "")
    return note[:1].upper() + note[1:]
