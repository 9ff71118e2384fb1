"""Every figure of a campaign has a page and files; a name that is none is told what there is."""

import io
from xml.etree import ElementTree

import pandas
import pytest
from django.urls import reverse

from campaigns.charts.marks import NoChart
from campaigns.reports.figures.registry import FIGURES, FigureKind

SVG = "{http://www.w3.org/2000/svg}"


def at(campaign, name="", ending=""):
    base = reverse("figures", args=[campaign.pk])
    return f"{base}{name}.{ending}" if ending else f"{base}{name}/" if name else base


def test_the_gallery_has_every_figure_with_its_files(page, sample):
    body = page.get(at(sample)).content.decode()
    for name in FIGURES:
        assert f'id="figure-{name}"' in body
        for ending in ("svg", "csv"):
            assert f'href="{at(sample, name, ending)}"' in body


@pytest.mark.parametrize("name", FIGURES)
def test_each_has_a_page_of_its_own_with_a_finding_and_a_table(page, sample, name):
    body = page.get(at(sample, name)).content.decode()
    assert body.count('<svg class="plot') == 1
    assert "<figcaption" in body
    assert "Show as table" in body
    assert "owned" not in body.replace("&#x27;owned&#x27;", "")


def stands_alone(answer):
    """It needs no style, script or page of ours; what it links to is told in full."""
    assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    text = answer.content.decode()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {"var(", "light-dark", "<script"} & {
        word for word in ("var(", "light-dark", "<script") if word in text
    } == set()
    assert root.find(f"{SVG}desc").text
    links = [a.get("href") for a in root.iter(f"{SVG}a")]
    return all(link.startswith("http://testserver/") for link in links)


@pytest.mark.parametrize("name", FIGURES)
def test_its_drawing_stands_alone(page, sample, name):
    assert stands_alone(page.get(at(sample, name, "svg"), {"theme": "dark"}))


@pytest.mark.parametrize("name", FIGURES)
def test_its_table_opens_in_pandas_with_numbers(page, sample, name):
    answer = page.get(at(sample, name, "csv"))
    assert answer.headers["Content-Disposition"].startswith("attachment")
    table = pandas.read_csv(io.StringIO(answer.content.decode()))
    assert len(table)
    assert table.select_dtypes("number").shape[1] >= 1


@pytest.mark.parametrize(
    ("path", "query", "status", "words"),
    [
        ("nonsense/", {}, 404, "roofline, deltas"),
        ("roofline.gif", {}, 404, "svg, csv"),
        ("roofline.svg", {"theme": "pink"}, 400, "light, dark"),
        ("roofline/", {"case": "\0" * 9}, 400, "1024x1024, 4096x4096"),
        ("roof.svg", {"x": "week"}, 400, "round, time"),
    ],
)
def test_it_names_what_exists(page, sample, path, query, status, words):
    answer = page.get(at(sample) + path, query)
    assert answer.status_code == status
    assert words in answer.content.decode()


def test_the_trend_of_a_problem_has_its_finished_campaigns(page, sample):
    base = f"{sample.problem.get_absolute_url()}figures/trend"
    body = page.get(f"{base}/").content.decode()
    assert f"Campaign {sample.pk} has the best time on NVIDIA H200 SXM" in body
    assert stands_alone(page.get(f"{base}.svg"))
    table = pandas.read_csv(io.StringIO(page.get(f"{base}.csv").content.decode()))
    assert [*table["Campaign"]] == [f"campaign {sample.pk}"]
    assert page.get(f"{sample.problem.get_absolute_url()}figures/roofline/").status_code == 404


def test_a_figure_that_cannot_be_drawn_says_why_and_has_no_file(page, sample, monkeypatch):
    nothing = NoChart("parts", "Kernel time by part", "No device time is recorded.")
    monkeypatch.setitem(FIGURES, "parts", FigureKind("parts", lambda asked: nothing))
    assert "No device time is recorded." in page.get(at(sample, "parts")).content.decode()
    for ending in ("svg", "csv"):
        answer = page.get(at(sample, "parts", ending))
        assert (answer.status_code, b"No device time is recorded." in answer.content) == (404, True)


def test_the_gallery_costs_few_queries(page, sample, django_assert_max_num_queries):
    with django_assert_max_num_queries(25):
        page.get(at(sample))
