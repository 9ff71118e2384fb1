from campaigns.charts.marks import GLYPHS, arrows
from campaigns.rules.verdict.decision import VerdictWord
from tests.campaigns.charts.builders import mark


def test_it_has_one_glyph_and_one_class_per_verdict():
    assert set(GLYPHS) == set(VerdictWord)
    assert len({glyph.css for glyph in GLYPHS.values()}) == len(VerdictWord)
    assert all(GLYPHS[verdict].verdict is verdict for verdict in VerdictWord)


def test_it_joins_marks_in_order_and_clear_of_their_glyphs():
    found = arrows([mark(1, 0, 0), mark(2, 0, 100), mark(3, 0, 110)])
    assert [(a.x1, a.y1, a.x2, a.y2) for a in found] == [(0, 9, 0, 91)]
