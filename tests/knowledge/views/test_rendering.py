"""Rendered documents are harmless, whoever wrote them."""

import pytest

from knowledge.views.document import render_markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        "![x](https://example.org/pixel.png)",
        "<style>body{display:none}</style>",
        "<form action='/logout/'><button>x</button></form>",
        "<p style='position:fixed' onclick='x()' id='main' class='x'>y</p>",
        "<iframe src='https://example.org'></iframe>",
        "<svg><script>alert(1)</script></svg>",
    ],
)
def test_it_leaves_nothing_that_acts_or_loads(text):
    html = render_markdown(text)
    for trace in ("<script", "onerror", "onclick", "javascript:", "data:", "<img", "<style"):
        assert trace not in html
    for trace in ("<form", "<iframe", "<svg", "style=", "id=", "class=", "alert(1)</"):
        assert trace not in html


def test_it_renders_tables_lists_code_and_links():
    html = render_markdown("# T\n\n|a|b|\n|-|-|\n|1|2|\n\n- x\n\n```\n<b>\n```\n\n[l](docs/a.md)\n")
    assert "<h1>T</h1>" in html
    assert "<td>1</td>" in html
    assert "<li>x</li>" in html
    assert "&lt;b&gt;" in html
    assert '<a href="docs/a.md" rel="noopener noreferrer nofollow">l</a>' in html
