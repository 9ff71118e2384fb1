"""A campaign of 500 rounds stays usable (UX check 23), and the campaign page light (22).

How long the pages take is measured by `bench pages`.
"""

from gzip import compress

import pytest

from campaigns.benchmarks.drawn import HEIGHT, WORDS
from tests.browser.conftest import DESK
from tests.campaigns.many_rounds import build_many_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST_NODES, MOST_WORDS, MOST_PX, MOST_PRINTED, MOST_BYTES = 6_000, 430, 1_800, 1_800, 60_000
NODES = "() => document.querySelectorAll('*').length"
HEAD_PX = """() => {
  scrollTo(0, document.documentElement.scrollHeight);
  return document.querySelector("header.bar").getBoundingClientRect().top;
}"""
# Pairs of upright texts of a chart that share more than a fifth of the smaller one's box.
TOUCHING = """() => [...document.querySelectorAll("svg.plot")].flatMap(plot => {
  const texts = [...plot.querySelectorAll("text:not([transform])")].map(e =>
    [e.textContent, e.getBoundingClientRect()]).filter(([, box]) => box.width);
  const shared = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left))
    * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const size = box => box.width * box.height;
  return texts.flatMap(([text, a], at) => texts.slice(at + 1)
    .filter(([, b]) => shared(a, b) > 0.2 * Math.min(size(a), size(b)))
    .map(([other]) => `${text} and ${other}`));
})"""


def test_it_stays_usable_with_500_rounds(enter, owner):
    """Few nodes, the head in sight, nothing beside the window, and no two labels on each other."""
    own, seen = f"/c/{build_many_rounds().pk}/", enter()
    page = seen.page
    for path in ("", "rounds/", "figures/", "report/", "r/400/", "compare/2..480"):
        seen.open(own + path)
        assert page.evaluate(NODES) <= MOST_NODES, path
        assert page.evaluate(HEAD_PX) == 0, path
        assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"], path
        assert page.evaluate(TOUCHING) == [], path
    seen.open(own)
    assert page.evaluate(HEIGHT) <= MOST_PX


def test_a_campaign_is_light_on_the_screen_and_on_paper(enter, finished):
    """Scripts and styles as they are sent; the words that the report prints."""
    seen, sent = enter(), {}
    parts = ("stylesheet", "script")
    seen.page.on("requestfinished", lambda one: one.resource_type in parts
                 and sent.update({one.url: len(compress(one.response().body(), 9))}))  # fmt: skip
    assert "unsafe-inline" not in seen.open(f"/c/{finished.pk}/").headers["content-security-policy"]
    assert seen.page.evaluate(WORDS) <= MOST_WORDS
    assert seen.page.evaluate(HEIGHT) <= MOST_PX
    seen.open(f"/c/{finished.pk}/report/")
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate(WORDS) <= MOST_PRINTED
    assert len(sent) > len(parts)
    assert sum(sent.values()) <= MOST_BYTES
