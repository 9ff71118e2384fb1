"""How pages write comments: the thread of a subject, and the text of a remark."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from knowledge.curation.comment import MENTION
from knowledge.lookup.threads import Said, Thread, thread_of

register = template.Library()


@register.simple_tag
def comments_on(kind: str, key: Any) -> Thread:
    """The thread of a subject; one query."""
    return thread_of(kind, str(key))


@register.simple_tag
def said_at(thread: Thread | None, kind: str, anchor: str) -> list[Said]:
    """What is said of one part of the subject."""
    return thread.at(kind, anchor) if isinstance(thread, Thread) else []


@register.filter
def addnum(text: str, number: int) -> str:
    """A text with a number behind it, as the anchor of a line: "L12"."""
    return f"{text}{number}"


@register.filter
def remark(text: str) -> SafeString:
    """Write plain text with its line breaks; `@name` stands out."""
    return format_html_join(mark_safe("<br>"), "{}", ((_line(one),) for one in text.split("\n")))


def _line(text: str) -> SafeString:
    parts, end = [], 0
    for found in MENTION.finditer(text):
        parts.append(format_html("{}<b data-mention>@{}</b>", text[end : found.start()], found[1]))
        end = found.end()
    return format_html_join("", "{}", ((part,) for part in (*parts, text[end:])))
