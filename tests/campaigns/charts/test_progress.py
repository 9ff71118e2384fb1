import re

import pytest

from campaigns.charts.progress import FRAME, ProgressChart, ProgressPoint, TargetLine, build
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.scale import ScaleKind
from tests.campaigns.charts.builders import caption, figure, progress_points

TARGET = TargetLine(31.1, "134 MB ÷ 4.8 TB/s = 28.0 µs; ÷ 90 % = 31.1 µs")


def chart(points=None, target=TARGET) -> ProgressChart:
    found = build(progress_points() if points is None else points, target)
    assert isinstance(found, ProgressChart)
    return found


def points(*times_us: float) -> list[ProgressPoint]:
    return [ProgressPoint(n, VerdictWord.ACCEPTED, f"/{n}", us) for n, us in enumerate(times_us, 1)]


def test_it_shows_every_attempt_and_keeps_the_untimed_above_the_plot():
    found = chart()
    assert [mark.number for mark in found.marks] == list(range(1, 12))
    untimed = [mark for mark in found.marks if not mark.data_y]
    assert [mark.number for mark in untimed] == [6, 11]
    assert all(mark.y == found.untimed_y < FRAME.top for mark in untimed)


def test_each_round_stands_beside_the_incumbent_of_its_own_session():
    """Also where that time is above the one with which the incumbent was accepted."""
    word = VerdictWord.ACCEPTED
    found = chart([ProgressPoint(1, word, "/1", 80.0), ProgressPoint(2, word, "/2", 60.0, 99.0)])
    assert [row.values for row in found.rows] == [(80.0, None), (60.0, 99.0)]
    ends = [float(y) for y in re.findall(r" ([\d.]+)V([\d.]+)", found.beside)[0]]
    assert ends == pytest.approx([found.y.position(99.0), found.y.position(60.0)], abs=1e-2)
    assert found.marks[1].title.endswith("60.0 µs, its incumbent 99.0 µs beside it")
    assert "Sessions differ" in caption(figure(found))


def test_it_turns_logarithmic_above_a_tenfold_range():
    assert chart().y.kind is ScaleKind.LOG
    assert "log (lower is better)" in figure(chart())
    plain = chart(points(100, 50), TargetLine(40, ""))
    assert plain.y.kind is ScaleKind.LINEAR
    assert plain.y.low == 0
    assert "log (lower" not in figure(plain)


def test_it_draws_target_and_baseline_where_they_are():
    found = chart()
    assert found.goal is not None
    assert found.baseline is not None
    assert found.goal.y == found.y.position(31.1)
    assert found.goal.label.text == "target 31.1 µs"
    assert found.baseline.y == found.y.position(410)


@pytest.mark.parametrize(
    ("times", "target", "words"),
    [
        ((100.0, 50.0), TargetLine(40, ""), "the target of 40.0 µs is not met"),
        ((100.0, 40.0), TargetLine(40, ""), "the target of 40.0 µs is met"),
        ((100.0, 40.0), None, "no target, because a cited ceiling is missing"),
    ],
)
def test_it_captions_the_finding(times, target, words):
    assert words in caption(figure(chart(points(*times), target)))


def test_it_says_so_when_nothing_was_timed():
    found = build([ProgressPoint(1, VerdictWord.REJECTED, "/1", None)], TARGET)
    assert found.kind == "progress"
    assert not isinstance(found, ProgressChart)
    assert found.sentence == "No round has been timed yet."


def test_it_writes_the_baseline_where_no_mark_is_in_its_way():
    free = chart(points(410, 180, 96, 90, 80, 70)).baseline
    assert free.label.y < free.y
    level = chart(points(*[410] * 6)).baseline
    assert level.label.y > level.y
    # Marks on the line and just below it at both ends: the caption alone says it.
    crowd = [410, 365] * 50
    assert chart(points(*crowd)).baseline.label is None
