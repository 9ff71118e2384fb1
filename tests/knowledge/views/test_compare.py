"""Platforms side by side."""

import csv
import io
from html import unescape

import pytest

PAIR = {"p": ["h200-sxm", "h100-sxm5-80gb"]}


def _shown(context):
    """The rows of the page, those that are folded away too."""
    return [*context["rows"], *context["sweep"]]


def test_without_platforms_it_is_a_form(viewer, shipped):
    answer = viewer.get("/w/compare/")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert page.count('name="p"') == 6
    assert "<table" not in page


def test_it_hides_the_equal_rows_and_says_how_many(viewer, shipped):
    answer = viewer.get("/w/compare/", PAIR)
    comparison = answer.context["comparison"]
    page = answer.content.decode()
    assert f"only differences ({comparison.equal} equal rows hidden)" in page
    assert comparison.equal > 5
    assert 'data-relation="equal"' not in page
    every = viewer.get("/w/compare/", PAIR | {"only": "all"}).content.decode()
    assert every.count('data-relation="equal"') == comparison.equal
    assert every.count("data-relation=") == len(comparison.rows)


def test_it_says_what_differs_in_a_word(viewer, shipped):
    page = viewer.get("/w/compare/", PAIR).content.decode()
    row = page[page.index(">memory_bandwidth</th>") :].split("</tr>")[0]
    assert "<strong>differs</strong>" in row
    assert "4.8 TB/s" in row
    assert "documented" in row


def test_the_form_keeps_what_was_chosen(viewer, shipped):
    page = viewer.get("/w/compare/", PAIR).content.decode()
    assert page.count('<option value="h200-sxm" selected>') == 1
    assert 'href="?p=h200-sxm&amp;p=h100-sxm5-80gb&amp;only=all"' in page


@pytest.mark.parametrize("chosen", [["h200-sxm"], ["h200-sxm", "h200-sxm", ""]])
def test_one_platform_asks_for_another(viewer, shipped, chosen):
    answer = viewer.get("/w/compare/", {"p": chosen})
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "choose a second, different one" in page
    assert page.count('<option value="h200-sxm" selected>') == 1


SIX = ["h200-sxm", "h20", "l4", "t4", "b200", "b300"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["h200-sxm", "h300"], "unknown platform 'h300'; nearest: "),
        ([*SIX, "a10"], "7 platforms were chosen; accepted: 2 to 6"),
    ],
)
def test_it_says_what_it_accepts(viewer, shipped, asked, words):
    answer = viewer.get("/w/compare/", {"p": asked})
    page = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert words in page
    assert 'aria-describedby="e-p"' in page


@pytest.mark.parametrize("only", ["diff", "all"])
def test_json_and_csv_have_the_rows_of_the_page(viewer, shipped, only):
    asked = PAIR | {"only": only}
    shown = [
        (row.metric, row.relation, [cell.spec and cell.spec.value for cell in row.cells])
        for row in _shown(viewer.get("/w/compare/", asked).context)
    ]
    data = viewer.get("/w/compare.json", asked).json()["rows"]
    assert [
        (r["metric"], r["relation"], [cell and cell["value"] for cell in r["values"].values()])
        for r in data
    ] == shown
    text = viewer.get("/w/compare.csv", asked).content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    read = [
        (r["metric"], r["relation"], [r[f"{slug} value"] for slug in asked["p"]]) for r in lines
    ]
    assert read == [
        (metric, relation, ["" if v is None else str(v) for v in values])
        for metric, relation, values in shown
    ]


@pytest.mark.parametrize("path", ["/w/compare.json", "/w/compare.csv"])
def test_files_need_two_known_platforms(viewer, shipped, path):
    for asked, words in {"h200-sxm": "1 chosen; accepted: 2 to 6", "h300": "unknown"}.items():
        answer = viewer.get(path, {"p": asked})
        assert answer.status_code == 400
        assert words in answer.content.decode()


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/compare/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_pair(viewer, shipped, django_assert_num_queries):
    # session, user, platforms, specs, citations, drift, newest texts
    with django_assert_num_queries(7):
        viewer.get("/w/compare/", {"p": ["h200-sxm", "mi300x", "b200", "a10"]})


def test_it_folds_the_steps_of_a_sweep_away(viewer, shipped):
    answer = viewer.get("/w/compare/", PAIR)
    swept = [row for row in answer.context["sweep"] if "array_bytes" in row.qualifiers]
    assert len(swept) == len(answer.context["sweep"]) > 0
    page = answer.content.decode()
    first, folded = page.split("Measured over a sweep of sizes", 1)
    assert "array_bytes=" not in first
    assert folded.count("array_bytes=") == len(swept)
