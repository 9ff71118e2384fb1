"""Verdicts are told apart without colour vision, and their fills or edges from the page.

UX check 9. Fills are read from the stylesheet, seen as by Machado et al. (2009), severity 1, and
compared by CIEDE2000; WCAG 2.2 gives the contrasts.
"""

import itertools
import re

import numpy
import pytest
from django.conf import settings

LEAST_DISTANCE, LEAST_TEXT, LEAST_EDGE = 12, 4.5, 3
CSS = (settings.BASE_DIR / "static" / "css" / "app.css").read_text()
FILLED = ("accepted", "nochange", "rejected", "invalid", "review")
EDGED = ("nochange", "review")
VISION = {
    "normal": numpy.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
          [0.0193339, 0.1191920, 0.9503041]]  # fmt: skip
WHITE = numpy.array([0.95047, 1, 1.08883])


def token(name, theme):
    """The colour as linear RGB; theme: 0 light, 1 dark."""
    found = re.search(rf"--{name}: (?:light-dark\()?#(\w{{6}})(?:, #(\w{{6}})\))?;", CSS)
    text = found[1 + theme] or found[1]
    shares = numpy.array([int(text[at : at + 2], 16) / 255 for at in (0, 2, 4)])
    return numpy.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light, dark = sorted((float(numpy.dot(TO_XYZ[1], rgb)) for rgb in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb, vision):
    xyz = numpy.dot(TO_XYZ, numpy.clip(numpy.dot(VISION[vision], rgb), 0, 1)) / WHITE
    x, y, z = numpy.where(xyz > (6 / 29) ** 3, numpy.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other):
    """CIEDE2000 of two colours in L*a*b*."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (numpy.hypot(a1, b1) + numpy.hypot(a2, b2)) / 2
    grow = 1 + (1 - numpy.sqrt(mean**7 / (mean**7 + 25**7))) / 2
    c1, c2 = numpy.hypot(a1 * grow, b1), numpy.hypot(a2 * grow, b2)
    h1, h2 = (numpy.degrees(numpy.arctan2(b, a * grow)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    hue, chroma, light = (h1 + turn / 2) % 360, (c1 + c2) / 2, (l1 + l2) / 2
    cos = [numpy.cos(numpy.radians(n * hue + at)) for n, at in ((1, -30), (2, 0), (3, 6), (4, -63))]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.2 * cos[3]
    s_l = 1 + 0.015 * (light - 50) ** 2 / numpy.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    d_h = 2 * numpy.sqrt(c1 * c2) * numpy.sin(numpy.radians(turn / 2))
    r_c = 2 * numpy.sqrt(chroma**7 / (chroma**7 + 25**7))
    r_t = -r_c * numpy.sin(numpy.radians(60 * numpy.exp(-(((hue - 275) / 25) ** 2))))
    parts = (l2 - l1) / s_l, (c2 - c1) / s_c, d_h / s_h
    return float(numpy.sqrt(sum(p**2 for p in parts) + r_t * parts[1] * parts[2]))


def test_the_distance_is_that_of_the_published_examples():
    """Sharma, Wu, Dalal (2005), pairs 1 and 17."""
    blues = distance((50, 2.6772, -79.7751), (50, 0, -82.7485))
    assert blues == pytest.approx(2.0425, abs=1e-4)
    assert distance((50, 2.5, 0), (73, 25, -18)) == pytest.approx(27.1492, abs=1e-4)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_verdicts_are_apart_in_every_vision_and_can_be_read(theme):
    fills = {name: token(f"v-{name}", theme) for name in FILLED}
    for vision, (one, other) in itertools.product(VISION, itertools.combinations(FILLED, 2)):
        apart = distance(lab(fills[one], vision), lab(fills[other], vision))
        assert apart >= LEAST_DISTANCE, (vision, one, other)
    page = token("page", theme)
    for name, fill in fills.items():
        assert f".badge.v-{name} {{ background: var(--v-{name}); color: var(--on-{name});" in CSS
        assert contrast(token(f"on-{name}", theme), fill) >= LEAST_TEXT, name
        edge = token("v-edge", theme) if name in EDGED else fill
        assert contrast(edge, page) >= LEAST_EDGE, name
