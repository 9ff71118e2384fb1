"""Figures in a real browser: no two texts touch, every mark can be hit, the files open."""

import pytest
from django.urls import reverse

from campaigns.reports.figures.registry import FIGURES
from tests.browser.conftest import DESK, PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Ux check 23: boxes that overlap by more than a fifth of the smaller; and what leaves its drawing.
CROWDED = """() => [...document.querySelectorAll("svg.plot")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text:not([transform*=rotate])")]
    .filter(t => t.getClientRects().length);
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
  const area = b => b.width * b.height;
  const both = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left))
    * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const found = [], name = svg.closest("figure").id, frame = svg.getBoundingClientRect();
  boxes.forEach(([one, a], i) => {
    if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push(`${name}: ${one} is out`);
    boxes.slice(i + 1).forEach(([other, b]) => {
      if (both(a, b) > 0.2 * Math.min(area(a), area(b))) found.push(`${name}: ${one} on ${other}`);
    });
  });
  return found;
})"""
SMALL = """() => [...document.querySelectorAll("svg.plot a:not(.ceiling-label)")]
  .map(a => [a.ariaLabel, (a.querySelector(".hit") || a).getBoundingClientRect()])
  .filter(([_, box]) => box.width < 23.9 || box.height < 23.9).map(([name]) => name)"""


def test_figures_can_be_read_hit_and_taken_along(enter, finished):
    seen = enter()
    gallery = reverse("figures", args=[finished.pk])
    for size in (DESK, PHONE):
        seen.page.set_viewport_size(size)
        seen.open(gallery)
        assert seen.page.evaluate(CROWDED) == []
        assert seen.page.evaluate(SMALL) == []
    seen.page.set_viewport_size(DESK)
    for name in FIGURES:
        seen.open(gallery)
        seen.page.click(f"#figure-{name} >> text=Figure and table")
        assert seen.page.evaluate(CROWDED) == [], name
        answer = seen.page.request.get(f"{seen.url}{gallery}{name}.svg")
        assert answer.body().startswith(b"<svg")
    seen.open(f"{gallery}roofline.svg")
    width = "getComputedStyle(document.querySelector('.ceiling')).strokeWidth"
    assert seen.page.evaluate(width) == "2px"
    seen.open(reverse("rounds", args=[finished.pk]))
    for number in (3, 6, 10):
        seen.page.check(f"input[name=r][value='{number}']")
    seen.page.click("#compare")
    assert seen.page.text_content("h1") == "Round 3, round 6 and round 10"
