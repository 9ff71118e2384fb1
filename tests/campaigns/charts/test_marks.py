from campaigns.charts.glyphs import GLYPHS
from campaigns.charts.marks import Mark, arrows, merge_labels
from campaigns.rules.decision import Verdict


def mark(number: int, x: float, y: float) -> Mark:
    return Mark(number, f"/r/{number}", GLYPHS[Verdict.ACCEPTED], x, y, "", "", "")


def test_it_has_one_glyph_and_one_class_per_verdict():
    assert set(GLYPHS) == set(Verdict)
    assert len({glyph.css for glyph in GLYPHS.values()}) == len(Verdict)
    assert GLYPHS[Verdict.NO_CHANGE].words == "no change shown"


def test_it_merges_labels_closer_than_twelve_units():
    labels = merge_labels([mark(7, 100, 100), mark(8, 100, 111.9), mark(9, 100, 112)])
    assert [label.text for label in labels] == ["7, 8", "9"]


def test_it_joins_marks_in_order_and_clear_of_their_glyphs():
    found = arrows([mark(1, 0, 0), mark(2, 0, 100), mark(3, 0, 110)])
    assert [(a.x1, a.y1, a.x2, a.y2) for a in found] == [(0, 9, 0, 91)]
