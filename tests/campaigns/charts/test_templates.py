import re
from xml.etree import ElementTree

import pytest

from campaigns.charts import deltas, progress, roofline
from tests.campaigns.charts.builders import (
    BANDWIDTHS,
    COMPUTES,
    delta,
    figure,
    progress_points,
    roof_points,
)

SVG = "{http://www.w3.org/2000/svg}"
TARGET = progress.TargetLine(31.1, "a formula", (progress.SourceLink("line <- place", "/w/x#L1"),))
CHARTS = {
    "roofline": roofline.build(roof_points(), BANDWIDTHS, COMPUTES, case="a<b"),
    "progress": progress.build(progress_points(), TARGET),
    "deltas": deltas.build([delta(2, 1.27), delta(3, 0.03)]),
}


def drawing(name: str) -> ElementTree.Element:
    found = re.search(r"<svg class=\"plot\".*?</svg>", figure(CHARTS[name]), re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found[0].replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))


@pytest.mark.parametrize("name", CHARTS)
def test_it_draws_a_link_with_a_name_for_every_mark(name):
    marks = [a for a in drawing(name).iter(f"{SVG}a") if "data-round" in a.attrib]
    assert marks
    for mark in marks:
        assert mark.attrib["href"].startswith("/campaigns/1/rounds/")
        assert mark.attrib["aria-label"].startswith("Round ")


@pytest.mark.parametrize("name", CHARTS)
def test_it_needs_no_style_attribute_and_no_script(name):
    html = figure(CHARTS[name])
    assert " style=" not in html
    assert "<script" not in html
    assert not re.search(r"(?:fill|stroke)=\"#", html)


@pytest.mark.parametrize("name", CHARTS)
def test_it_has_caption_and_table_twin(name):
    html = figure(CHARTS[name])
    assert "<figcaption" in html
    assert "Show as table" in html
    assert html.count("<tr data-round=") == len(CHARTS[name].rows)
    assert "<b" not in html.replace("<body", "")


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [("roofline", "log", "log"), ("progress", "linear", "log"), ("deltas", "linear", "linear")],
)
def test_it_names_its_scales(name, x, y):
    svg = drawing(name)
    assert (svg.attrib["data-xscale"], svg.attrib["data-yscale"]) == (x, y)


def test_it_links_ceilings_and_target_to_their_sources():
    assert figure(CHARTS["roofline"]).count('href="/w/docs/h100.md#L23"') >= len(
        BANDWIDTHS + COMPUTES
    )
    assert 'href="/w/x#L1"' in figure(CHARTS["progress"])


def test_it_prints_unknown_instead_of_a_drawing():
    chart = roofline.build(roof_points(), [], COMPUTES)
    html = figure(chart)
    assert "UNKNOWN (gpu-wiki not found)" in html
    assert "<svg" not in html
    assert "<table" not in html
