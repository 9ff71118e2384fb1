"""A figure as a file that needs nothing else: an SVG with its own colours.

The rules are those of the pages: the part of charts.css between two marks, with the tokens of
app.css in their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.html import strip_tags

from campaigns.charts.marks import NoChart
from campaigns.reports.figures.registry import AnyChart

BEGIN, END = "/* drawn:", "/* end of drawn */"
THEMES = ("light", "dark")
_TOKEN = re.compile(r"(--[\w-]+): ([^;]+);")
_PAIR = re.compile(r"light-dark\(([^,()]+), ([^,()]+)\)")
_DRAWING = re.compile(r'<svg class="plot.*?</svg>', re.DOTALL)
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_NAMED = re.compile(r'aria-label="Times by ([^":]*)')
GAP, HEAD = 24, 26
_HREF = re.compile(r'href="(?=/)')


def drawing_of(chart: AnyChart, theme: str, site: str) -> str:
    """The SVG of a figure. theme: light or dark. site: what its links begin with.

    Raises LookupError for one that cannot be drawn.
    """
    if isinstance(chart, NoChart):
        raise LookupError(chart.sentence)
    context = {"chart": chart, "chart_id": "figure"}
    drawings = _DRAWING.findall(render_to_string(chart.template, context))
    head, _, inside = (drawings[0] if len(drawings) == 1 else _beside(drawings)).partition(">")
    caption = render_to_string(f"campaigns/charts/captions/{chart.kind}.html", {"chart": chart})
    finding = escape(" ".join(strip_tags(caption).split()), quote=False)
    size = 'width="{:g}" height="{:g}"'.format(*_size(head))
    head = head.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" {size} ', 1)
    title: str = chart.title  # type: ignore[union-attr]
    told = f'<title id="figure-title">{escape(title, quote=False)}</title>'
    told += f'<desc id="figure-caption">{finding}</desc>'
    ground = '<rect width="100%" height="100%" fill="{}"/>'.format(_tokens(theme)["--page"])
    inside = _HREF.sub(f'href="{site.rstrip("/")}', inside)
    return f"{head}>{told}<style>{style(theme)}</style>{ground}{inside}\n"


def _beside(drawings: Sequence[str]) -> str:
    """Several small drawings in two columns, each under its name, as one."""
    width, height = _size(drawings[0])
    parts = []
    for at, drawing in enumerate(drawings):
        x, y = (at % 2) * (width + GAP), (at // 2) * (height + HEAD)
        name = _NAMED.search(drawing)
        parts.append(
            f'<text class="tick head" x="{x:g}" y="{y + 16:g}">{name[1] if name else ""}</text>'
        )
        place = f'<svg x="{x:g}" y="{y + HEAD:g}" width="{width:g}" height="{height:g}" '
        parts.append(drawing.replace("<svg ", place, 1))
    rows = (len(drawings) + 1) // 2
    box = f"0 0 {2 * width + GAP:g} {rows * (height + HEAD):g}"
    return f'<svg class="plot small" viewBox="{box}">{"".join(parts)}</svg>'


def _size(head: str) -> tuple[float, float]:
    found = _SIZE.search(head)
    assert found, f"no size in {head[:80]!r}"
    return float(found[1]), float(found[2])


@cache
def style(theme: str) -> str:
    """The rules of every drawing, each colour as it is in one theme."""
    text = _read("css/charts.css")
    text = text[text.index("*/", text.index(BEGIN)) + 2 : text.index(END)]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    tokens = _tokens(theme)
    text = re.sub(r"var\((--[\w-]+)\)", lambda found: tokens[found[1]], text)
    return "\n".join(line.strip() for line in _of(theme, text).splitlines() if line.strip())


@cache
def _tokens(theme: str) -> dict[str, str]:
    text = _read("css/app.css")
    return {name: _of(theme, value) for name, value in _TOKEN.findall(text)}


def _of(theme: str, text: str) -> str:
    return _PAIR.sub(lambda pair: pair[1 + THEMES.index(theme)], text)


def _read(name: str) -> str:
    path = finders.find(name)
    assert isinstance(path, str), f"{name}: no such static file"
    return Path(path).read_text(encoding="utf-8")
