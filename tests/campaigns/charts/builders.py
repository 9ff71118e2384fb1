"""A campaign of eleven rounds as the three charts take it."""

from __future__ import annotations

import re

from django.template.loader import render_to_string

from campaigns.charts.deltas import DeltaPoint
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
