"""Time by knob, and the best so far."""

import re

import pytest
from django.template.loader import render_to_string

from campaigns.charts import sweep_course, sweep_strips
from campaigns.charts.marks import GLYPHS
from campaigns.charts.swept import MOST_DOTS, SweptPoint, drawn_of, time_scale
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.scale import ScaleKind
from tests.campaigns.charts.builders import caption

KNOBS = {"B": ["0", "1"], "<b>A": ["16", "32", "64"], "single": ["1"]}


def swept(number, a, b, time_us, *, early=False):
    return SweptPoint(number, {"<b>A": a, "B": b, "single": "1"}, time_us, early)


POINTS = [
    swept(1, "16", "0", 60.0),
    swept(2, "32", "0", 40.0),
    swept(3, "32", "1", None),
    swept(4, "64", "1", 110.0),
    swept(5, "64", "0", 4000.0, early=True),
    swept(6, "32", "1", 38.0),
]


def link(*parts):
    return f"/rows/{'/'.join(map(str, parts))}"


def strips(points=POINTS, knobs=KNOBS, **more):
    found = sweep_strips.build(points, knobs, link, **more)
    assert found is not None
    return found


def course(points=POINTS, finalists=()):
    found = sweep_course.build(points, finalists, link)
    assert found is not None
    return found


def html_of(chart):
    context = {"chart": chart, "chart_id": "c"}
    return render_to_string(f"campaigns/charts/sweep_{chart.kind}.html", context)


def test_it_draws_a_strip_for_each_knob_that_moves_the_dearest_first():
    assert [strip.knob for strip in strips().strips] == ["<b>A", "B"]
    assert [strip.knob for strip in strips(by_cost=False).strips] == ["B", "<b>A"]


def test_it_marks_the_best_and_the_source_at_their_values():
    found = strips().strips[0]
    places = {value.text: value.x for value in found.values}
    assert abs(found.best[0] - places["32"]) < 30
    assert abs(found.source[0] - places["16"]) < 30
    assert found.best[1] > found.source[1]  # lower times lie lower
    assert (found.best_value, found.source_value) == ("32", "16")


def test_it_counts_what_failed_and_ranks_no_early_end():
    values = {value.text: value for value in strips().strips[0].values}
    assert [values[v].failed for v in ("16", "32", "64")] == [0, 1, 0]
    scale = strips().y
    assert values["64"].best.y1 == scale.position(110.0)
    assert "Beyond the axis, on its upper edge: 1." in caption(html_of(strips()))


def test_it_turns_logarithmic_where_the_times_spread():
    assert strips().y.kind is ScaleKind.LOG
    near = time_scale([swept(1, "16", "0", 60.0), swept(2, "16", "0", 50.0)], 100, 0)
    assert near.kind is ScaleKind.LINEAR
    assert time_scale([swept(1, "16", "0", 60.0)], 100, 0).holds(60.0)
    assert time_scale([swept(1, "16", "0", None)], 100, 0) is None


def test_it_draws_few_of_many_with_the_fastest_among_them():
    many = [swept(n, "16", "0", 50.0 + n * 37 % 1000) for n in range(1, 3001)]
    shown = drawn_of(many, time_scale(many, 100, 0)).points
    assert len(shown) == MOST_DOTS
    fastest = sorted(many, key=lambda p: p.time_us)[: MOST_DOTS // 2]
    assert {p.number for p in fastest} <= {p.number for p in shown}
    assert shown[0].number == 1
    assert strips(many).strips[0].dots.count("M") <= MOST_DOTS
    assert f"Drawn: {MOST_DOTS} of 3,000" in caption(html_of(strips(many)))


def test_its_table_has_every_value_with_counts():
    table = strips().table
    rows = {row.name: [cell.text for cell in row.cells] for row in table.rows}
    assert rows["<b>A 32"] == ["3", "1", "38.0", "39.0"]
    assert rows["B 1"] == ["3", "1", "38.0", "74.0"]
    assert table.rows[0].href == "/rows/<b>A/16"


def test_it_thins_the_texts_of_many_values():
    values = [str(10**5 + n) for n in range(20)]
    points = [SweptPoint(1, {"A": values[0]}, 5.0), SweptPoint(2, {"A": values[1]}, 6.0)]
    shown = [value for value in strips(points, {"A": values}).strips[0].values if value.is_shown]
    assert 1 < len(shown) < 8


def test_it_cuts_long_values_where_they_are_alike():
    values = ["-O3", "-O3 -march=native", "-O3 -march=native -funroll-loops", "", "-Os"]
    points = [SweptPoint(n, {"A": value}, 5.0) for n, value in enumerate(values, 1)]
    shown = [value.text for value in strips(points, {"A": values}).strips[0].values]
    assert shown == ["-O3", "…ative", "…loops", "", "-Os"]
    assert all(value.is_shown for value in strips(points, {"A": values}).strips[0].values)


def test_the_best_so_far_steps_down_and_never_up():
    heights = [float(y) for y in re.findall(r"[V ]([\d.]+)", course().best)]
    assert heights == sorted(heights)
    assert course().best.endswith(f"H{sweep_course.FRAME.right:g}")
    assert [row.name for row in course().table.rows] == ["6", "2", "1"]
    assert [row.cells[1].text for row in course().table.rows] == [
        "1.58× faster",
        "1.50× faster",
        "–",
    ]
    assert course().failed.count("M") == 1


def test_it_says_both_times_or_that_nothing_is_faster():
    assert caption(html_of(course())).startswith(
        "Variant 6 is the fastest, 38.0 µs; the source as it is takes 60.0 µs, both in the screen."
    )
    assert "No variant is faster" in caption(html_of(course(POINTS[:1])))
    assert "No variant was timed to the end." in caption(html_of(course([POINTS[4]])))
    assert sweep_course.build([POINTS[2]], (), link) is None


@pytest.mark.parametrize("word", [VerdictWord.ACCEPTED, VerdictWord.RUNNING])
def test_it_gives_a_finalist_the_shape_of_its_verdict(word):
    finalist = sweep_course.Finalist(6, "#candidates", GLYPHS[word], "candidate 2, for the trial")
    mark = course(finalists=[finalist]).marks[0]
    assert (mark.number, mark.glyph.verdict, mark.href) == (6, word, "#candidates")
    assert mark.title == "Variant 6, 38.0 µs in the screen: candidate 2, for the trial"


def test_templates_escape_names_and_need_no_style():
    for chart in (strips(), course()):
        html = html_of(chart)
        assert "<b>A" not in html
        assert " style=" not in html
        assert "Show as table" in html
        assert "<figcaption" in html
    assert "&lt;b&gt;A" in html_of(strips())
