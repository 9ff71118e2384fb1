"""Markdown → HTML that is safe to show, whoever wrote the document."""

from __future__ import annotations

import markdown
import nh3
from django.utils.safestring import SafeString, mark_safe

EXTENSIONS = ["tables", "pymdownx.superfences", "pymdownx.tilde"]
TAGS = {
    *("h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "code", "em", "strong", "del", "a"),
}


def render_markdown(text: str) -> SafeString:
    """The document as HTML. Scripts, styles, images, forms and foreign schemes do not survive."""
    html = markdown.markdown(text, extensions=EXTENSIONS, output_format="html")
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)  # nh3 has just cleaned it
