"""Numbers as they are drawn: a baseline beside each ratio, no progress within noise, a word and a
glyph on each verdict, and a roofline whose glyphs stand where their numbers say."""

import math
from itertools import pairwise

import pytest

from tests.campaigns.sample import build_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A ratio or a change in per cent names its baseline: on itself, in its sentence, in the head of its
# column, or in the head or the caption of what it stands in.
NAMELESS = r"""() => {
  const ratio = /\d\s?×(?!\s?\d)|[+−-]\d[\d.,]*\s?%/;
  const named = /\b(vs|against|over|to v0|incumbent|of the predicted)\b|tolerance|predicted one/;
  const near = e => [e.textContent, e.closest("td")?.dataset.label,
    e.closest("p, li, dd, td, th, figcaption, summary")?.textContent,
    e.closest("figure")?.textContent,
    e.closest("section, .panel")?.querySelector("header")?.textContent];
  const text = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (text.nextNode()) {
    const e = text.currentNode.parentElement;
    if (e.closest("pre, code, .code, [data-baseline]") || !ratio.test(text.currentNode.data)) {
      continue;
    }
    if (!near(e).some(words => named.test(words))) found.push(e.outerHTML.slice(0, 200));
  }
  return found;
}"""
# Of what has a baseline as data the name can be seen in its row, its caption or its header.
UNSEEN = """() => [...document.querySelectorAll("main [data-baseline]")].filter(e => {
  const table = e.closest("table"), near = [e, e.closest("tr, li, p, dd"), table?.tHead,
    table?.caption, e.closest("section, figure, .panel")?.querySelector("header, figcaption")];
  const name = e.dataset.baseline.split(" (")[0];
  return !name || !near.some(n => n && n.textContent.includes(name));
}).map(e => e.outerHTML.slice(0, 200))"""
# An interval that holds zero: no word of progress, and its number of pairs and kind are said.
UNCLEAR = """() => [...document.querySelectorAll("[data-ci-low]")]
  .filter(e => +e.dataset.ciLow <= 0 && +e.dataset.ciHigh >= 0)"""
PROGRESS = f"""{UNCLEAR}.filter(e => /faster|slower/.test(e.innerText) || !(+e.dataset.n > 0)
  || !/%/.test(e.title) || e.closest("tr, #result")?.querySelector(".badge.v-accepted"))
  .map(e => e.outerHTML.slice(0, 200))"""
BADGES = """() => [...document.querySelectorAll(".badge[data-verdict]")].map(e => [
  e.dataset.verdict, e.innerText.trim(),
  e.querySelector("svg.glyph use").getBoundingClientRect().width > 0])"""
# What a glyph or a row says with its colour is said in words too.
SILENT = """() => [...document.querySelectorAll("[data-verdict]")].filter(e => e.matches("a")
  ? !e.ariaLabel || !e.querySelector("path")
  : !e.matches(".badge, :has(.badge)") && !/[a-z]/.test(e.innerText))
  .map(e => e.outerHTML.slice(0, 200))"""
WORDS = {
    "accepted": "accepted",
    "no_change": "no change shown",
    "rejected": "rejected",
    "invalid": "invalid",
    "needs_review": "needs review",
    "running": "running",
}
ROOFLINE = r"""() => {
  const figure = document.querySelector("#chart-roofline"), svg = figure.querySelector("svg.plot");
  const back = svg.getScreenCTM().inverse();
  const pair = name => svg.dataset[name].split(" ").map(Number);
  const log = (value, [low, high], [start, end]) =>
    start + Math.log(value / low) / Math.log(high / low) * (end - start);
  const centre = e => {
    const box = e.getBoundingClientRect();
    return new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(back);
  };
  return {
    scales: [svg.dataset.xscale, svg.dataset.yscale],
    titles: [...svg.querySelectorAll(".axis-title")].map(e => e.textContent),
    marks: [...svg.querySelectorAll("a.mark")].map(a => {
      const at = centre(a.querySelector(".hit"));
      return {number: +a.dataset.round, verdict: a.dataset.verdict, at: [at.x, at.y],
        told: [a.dataset.x, a.dataset.y],
        due: [log(+a.dataset.x, pair("xdomain"), pair("xrange")),
              log(+a.dataset.y, pair("ydomain"), pair("yrange"))]};
    }),
    arrows: [...svg.querySelectorAll("path.arrow")]
      .map(p => p.getAttribute("d").match(/-?[\d.]+/g).map(Number)),
    rows: [...figure.querySelectorAll("tr[data-round]")].map(tr => [+tr.dataset.round,
      ...[...tr.querySelectorAll("td:not(.words)")].slice(0, 2).map(td => td.dataset.value)]),
    ceilings: [...figure.querySelectorAll(".chart-sources a")].map(a => [a.textContent, a.href]),
  };
}"""
GAP_PX, LEAST_ARROW_PX = 9, 22


def test_each_ratio_has_a_baseline_and_each_verdict_a_word(enter, finished):
    """UX checks 9, 14 and 15, on every kind of page that shows a gain."""
    live = build_sample(rounds=3, running=True)
    own = f"/c/{finished.pk}/"
    seen = enter()
    page, found, badges, unclear = seen.page, [], set(), 0
    for path in (
        *("/", "/review/", "/events/", "/x/", "/x/strategies/"),
        *(own, f"{own}rounds/", f"{own}activity/", f"{own}figures/", f"{own}report/"),
        *(f"{own}r/2/", f"{own}r/4/", f"{own}r/4/cases/", f"{own}compare?r=3&r=4&r=10"),
        *(f"/c/{live.pk}/", "/search/?q=softmax"),
    ):
        seen.open(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        for fault in (NAMELESS, UNSEEN, PROGRESS, SILENT):
            found += [(path, said) for said in page.evaluate(fault)]
        badges |= {tuple(badge) for badge in page.evaluate(BADGES)}
        unclear += page.evaluate(f"{UNCLEAR}.length".replace("() => ", ""))
    assert found == []
    assert unclear > 3
    assert badges == {(verdict, words, True) for verdict, words in WORDS.items()}


def test_the_roofline_stands_where_its_numbers_say(enter, finished):
    """UX check 11: log axes, glyphs, arrows, the table beside it, and ceilings that are cited."""
    seen = enter()
    seen.open(f"/c/{finished.pk}/")
    drawn = seen.page.evaluate(ROOFLINE)
    assert drawn["scales"] == ["log", "log"]
    assert [title.rpartition(",")[0] for title in drawn["titles"]] == [
        "operational intensity, FLOP/byte", "TFLOP/s",
    ]  # fmt: skip
    marks = {mark["number"]: mark for mark in drawn["marks"]}
    assert [
        number for number, mark in marks.items() if math.dist(mark["at"], mark["due"]) > 1
    ] == []
    told = {number: tuple(values) for number, *values in drawn["rows"]}
    assert {n: values for n, values in told.items() if values[0]} == {
        number: tuple(mark["told"]) for number, mark in marks.items()
    }
    kept = [mark for mark in drawn["marks"] if mark["verdict"] == "accepted"]
    steps = [(a["at"], b["at"]) for a, b in pairwise(kept)]
    steps = [step for step in steps if math.dist(*step) > LEAST_ARROW_PX]
    assert len(steps) == len(drawn["arrows"]) > 0
    for (start, end), arrow in zip(steps, drawn["arrows"], strict=True):
        assert math.dist(start, arrow[:2]) == pytest.approx(GAP_PX, abs=1)
        assert math.dist(end, arrow[2:]) == pytest.approx(GAP_PX, abs=1)
    assert drawn["ceilings"]
    for words, address in drawn["ceilings"]:
        seen.page.goto(address)
        line = seen.page.locator("tr:target, tr.cited").first.inner_text()
        value = words.partition(" [")[0].split()[-2]
        assert value in line, (words, line)
