"""Every figure of a campaign has a page and files; a name that is none is told what there is."""

import io
from xml.etree import ElementTree

import pandas
import pytest
from django.urls import reverse

from campaigns.reports.figures.registry import FIGURES

SVG = "{http://www.w3.org/2000/svg}"


def at(campaign, name="", ending=""):
    base = reverse("figures", args=[campaign.pk])
    return f"{base}{name}.{ending}" if ending else f"{base}{name}/" if name else base


def test_the_gallery_has_every_figure_with_its_files(page, sample):
    body = page.get(at(sample)).content.decode()
    for name in FIGURES:
        assert f'id="figure-{name}"' in body
        for ending in ("svg", "png", "csv"):
            assert f'href="{at(sample, name, ending)}"' in body


@pytest.mark.parametrize("name", FIGURES)
def test_each_has_a_page_of_its_own_with_a_finding_and_a_table(page, sample, name):
    body = page.get(at(sample, name)).content.decode()
    assert body.count('<svg class="plot') == 1
    assert "<figcaption" in body
    assert "Show as table" in body
    assert "owned" not in body.replace("&#x27;owned&#x27;", "")


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_drawing_stands_alone(page, sample, name, theme):
    answer = page.get(at(sample, name, "svg"), {"theme": theme})
    assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    text = answer.content.decode()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {"var(", "light-dark", "<script"} & {
        word for word in ("var(", "light-dark", "<script") if word in text
    } == set()
    assert root.find(f"{SVG}desc").text
    links = [a.get("href") for a in root.iter(f"{SVG}a")]
    assert all(link.startswith("http://testserver/") for link in links)


@pytest.mark.parametrize("name", FIGURES)
def test_its_table_opens_in_pandas_with_numbers(page, sample, name):
    answer = page.get(at(sample, name, "csv"))
    assert answer.headers["Content-Disposition"].startswith("attachment")
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert len(table)
    assert table.select_dtypes("number").shape[1] >= 1


@pytest.mark.parametrize("name", ["roofline", "heatmap"])
def test_its_picture_has_letters_without_any_font_of_the_host(page, sample, name):
    answer = page.get(at(sample, name, "png"))
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    dark = page.get(at(sample, name, "png"), {"theme": "dark"})
    assert dark.content != answer.content


@pytest.mark.parametrize(
    ("path", "query", "status", "words"),
    [
        ("nonsense/", {}, 404, "roofline, deltas"),
        ("roofline.gif", {}, 404, "svg, png, csv"),
        ("roofline.svg", {"theme": "pink"}, 400, "light, dark"),
        ("roofline/", {"case": "\0" * 9}, 400, "1024x1024, 4096x4096"),
        ("heatmap/", {"against": "v" * 5000}, 400, "baseline, incumbent"),
        ("roof.png", {"x": "week"}, 400, "round, time"),
    ],
)
def test_it_names_what_exists(page, sample, path, query, status, words):
    answer = page.get(at(sample) + path, query)
    assert answer.status_code == status
    assert words in answer.content.decode()
