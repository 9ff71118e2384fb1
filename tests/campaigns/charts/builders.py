"""A campaign of eleven rounds as the three charts take it, and where the texts of a drawing are."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

from django.template.loader import render_to_string

from campaigns.charts.deltas import DeltaPoint
from campaigns.charts.labels import NARROW, WIDE, Area, Label, Letters, square, touch
from campaigns.charts.marks import GLYPHS, Mark
from campaigns.charts.progress import ProgressPoint
from campaigns.charts.roofline import Roof, RoofPoint
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.rules.builders import ceiling

ROUNDS = [
    (VerdictWord.ACCEPTED, 410.0),
    (VerdictWord.ACCEPTED, 180.0),
    (VerdictWord.REJECTED, 205.0),
    (VerdictWord.NO_CHANGE, 178.0),
    (VerdictWord.ACCEPTED, 96.0),
    (VerdictWord.REJECTED, None),
    (VerdictWord.NEEDS_REVIEW, 60.0),
    (VerdictWord.ACCEPTED, 41.0),
    (VerdictWord.INVALID, 20.0),
    (VerdictWord.NO_CHANGE, 41.2),
    (VerdictWord.RUNNING, None),
]
FLOPS, INTENSITY = 1.6775e8, 1.25

BANDWIDTHS = [
    Roof(ceiling(4.8e12)),
    Roof(ceiling(3.9e12, evidence=EvidenceClass.MEASURED, metric="copy_bandwidth")),
]
COMPUTES = [Roof(ceiling(67e12, "op/s"))]


def href(number: int) -> str:
    return f"/campaigns/1/rounds/{number}/"


def roof_points() -> list[RoofPoint]:
    return [
        RoofPoint(number, verdict, href(number), INTENSITY, FLOPS / us * 1e6 if us else None)
        for number, (verdict, us) in enumerate(ROUNDS, 1)
    ]


def progress_points() -> list[ProgressPoint]:
    return [
        ProgressPoint(number, verdict, href(number), us)
        for number, (verdict, us) in enumerate(ROUNDS, 1)
    ]


def delta(
    number: int,
    gain: float,
    half: float = 0.01,
    verdict: VerdictWord = VerdictWord.ACCEPTED,
    noise: float = 0.012,
):
    found = Gain(gain, gain - half, gain + half, 10)
    return DeltaPoint(number, verdict, href(number), found, noise)


def figure(chart) -> str:
    return render_to_string("campaigns/charts/figure.html", {"chart": chart, "chart_id": "c"})


def caption(html: str) -> str:
    """What stands below a drawing, its blanks as a browser shows them."""
    (found,) = re.findall(r"<figcaption[^>]*>(.*?)</figcaption>", html, re.DOTALL)
    return " ".join(found.split())


def mark(number: int, x: float, y: float, verdict=VerdictWord.ACCEPTED) -> Mark:
    return Mark(number, f"/r/{number}", GLYPHS[verdict], x, y, "", "", "")


SVG = "{http://www.w3.org/2000/svg}"


def drawings(html: str) -> list[ElementTree.Element]:
    """The drawings of a page, without the keys of its legends."""
    found = re.findall(r"<svg class=\"plot.*?</svg>", html, re.DOTALL)
    return [
        ElementTree.fromstring(text.replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))
        for text in found
    ]


def texts_of(svg: ElementTree.Element, letters: Letters) -> dict[str, Area]:
    """Every text that is shown where letters are so large, with the room that it takes."""
    hidden = "narrow" if letters is WIDE else "minor wide"
    parents = {child: parent for parent in svg.iter() for child in parent}
    found = {}
    for n, text in enumerate(svg.iter(f"{SVG}text")):
        classes = {*text.get("class", "").split(), *parents[text].get("class", "").split()}
        if classes & {*hidden.split()} or (letters is NARROW and "ceiling-label" in classes):
            continue
        numbers = list(map(float, re.findall(r"-?[\d.]+", text.get("transform", ""))))
        x, y, angle = (*numbers, 0, 0, 0)[:3] if numbers else (
            *(float(text.get(name, "0")) for name in "xy"), 0)  # fmt: skip
        dy = text.get("dy", "0")
        y += 0.32 * letters.size if dy.endswith("em") else float(dy)
        x += float(text.get("dx", "0"))
        words, anchor = "".join(text.itertext()), text.get("text-anchor", "start")
        css = next((name for name in ("number", "value") if name in classes), "")
        found[f"{n} {words}"] = letters.area(Label(x, y, words, False, anchor, angle, css))
    return found


def glyphs_of(svg: ElementTree.Element, letters: Letters) -> list[Area]:
    """The room of every mark."""
    half, found = 6.5 * letters.glyph, []
    for link in svg.iter(f"{SVG}a"):
        if "mark" in link.get("class", "").split():
            place = link.find(f"{SVG}g").get("transform")
            x, y = map(float, re.findall(r"-?[\d.]+", place))
            found.append(square(x, y, half))
    return found


def faults_of(html: str) -> list[str]:
    """Which texts of its drawings touch each other or leave their drawing, in either size."""
    found = []
    for svg in drawings(html):
        _, _, width, height = map(float, svg.attrib["viewBox"].split())
        fixed = "small" in svg.attrib["class"].split()
        for letters in (WIDE,) if fixed else (WIDE, NARROW):
            areas = texts_of(svg, letters)
            pairs = combinations(areas.items(), 2)
            found += [f"{a} touches {b}" for (a, one), (b, other) in pairs if touch(one, other)]
            found += [
                f"{name} lies on a mark"
                for name, area in areas.items()
                if any(touch(area, glyph) for glyph in glyphs_of(svg, letters))
            ]
            found += [
                f"{name} leaves it"
                for name, area in areas.items()
                if area.left < 0 or area.top < 0 or area.right > width or area.bottom > height
            ]
    return [f"{count} times {fault}" for fault, count in Counter(found).items()]
