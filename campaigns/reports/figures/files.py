"""A figure as a file that needs nothing else: an SVG with its own colours, and a PNG of it.

The rules are those of the pages: the part of charts.css between two marks, with the tokens of
app.css in their place. The PNG is drawn with the fonts of this folder (a subset of DejaVu Sans,
see fonts/LICENSE), so that it looks the same on a host that has no font at all.
"""

from __future__ import annotations

import re
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
FONTS = Path(__file__).parent / "fonts"
FONT = "DejaVu Sans"
# Of a PNG over the drawing's own units: sharp on a screen of high density.
ZOOM = 2.0
_TOKEN = re.compile(r"(--[\w-]+): ([^;]+);")
_PAIR = re.compile(r"light-dark\(([^,()]+), ([^,()]+)\)")
_HREF = re.compile(r'href="(?=/)')


def drawing_of(chart: AnyChart, theme: str, site: str) -> str:
    """The SVG of a figure. theme: light or dark. site: what its links begin with.

    Raises LookupError for one that cannot be drawn.
    """
    if isinstance(chart, NoChart):
        raise LookupError(chart.sentence)
    body = render_to_string(chart.template, {"chart": chart, "chart_id": "figure"})
    opened = body[body.index("<svg ") : body.rindex("</svg>")]
    head, _, inside = opened.partition(">")
    caption = render_to_string("campaigns/charts/caption.html", {"chart": chart})
    finding = escape(" ".join(strip_tags(caption).split()), quote=False)
    size = f'width="{chart.frame.width:g}" height="{chart.frame.height:g}"'
    head = head.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" {size} ', 1)
    title: str = chart.title  # type: ignore[union-attr]
    told = f'<title id="figure-title">{escape(title, quote=False)}</title>'
    told += f'<desc id="figure-caption">{finding}</desc>'
    ground = '<rect width="100%" height="100%" fill="{}"/>'.format(_tokens(theme)["--page"])
    inside = _HREF.sub(f'href="{site.rstrip("/")}', inside)
    return f"{head}>{told}<style>{style(theme)}</style>{ground}{inside}</svg>\n"


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


def picture_of(svg: str) -> bytes:
    """The PNG of a drawing, twice as large."""
    # Only here: a library in another language, which no page needs to load.
    from resvg_py import svg_to_bytes

    found: bytes = svg_to_bytes(
        svg_string=svg,
        zoom=ZOOM,
        skip_system_fonts=True,
        font_files=[str(path) for path in sorted(FONTS.glob("*.ttf"))],
        font_family=FONT,
        sans_serif_family=FONT,
    )
    return found
