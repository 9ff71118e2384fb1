from campaigns.charts.marks import GLYPHS, Label, Mark, apart, arrows, merge_labels, thinned
from campaigns.rules.verdict.decision import VerdictWord


def mark(number: int, x: float, y: float) -> Mark:
    return Mark(number, f"/r/{number}", GLYPHS[VerdictWord.ACCEPTED], x, y, "", "", "")


def test_it_has_one_glyph_and_one_class_per_verdict():
    assert set(GLYPHS) == set(VerdictWord)
    assert len({glyph.css for glyph in GLYPHS.values()}) == len(VerdictWord)
    assert all(GLYPHS[verdict].verdict is verdict for verdict in VerdictWord)


def test_it_merges_labels_closer_than_twelve_units():
    labels = merge_labels([mark(7, 100, 100), mark(8, 100, 111.9), mark(9, 100, 112)])
    assert [label.text for label in labels] == ["7, 8", "9"]


def test_it_names_a_few_of_many_rounds_at_one_place():
    (label,) = merge_labels([mark(number, 100, 100) for number in (1, 3, 5, 7, 8, 9, 12)])
    assert label.text == "1, 3, 5 … 12 (7 rounds)"


def test_it_leaves_out_numbers_that_run_into_a_newer_one():
    row = [Label(100 + 12 * n, 50, str(38 + n)) for n in range(3)]
    other = Label(112, 80, "39")
    assert [label.text for label in apart([*row, other])] == ["38", "40", "39"]


def test_it_keeps_for_a_narrow_drawing_what_does_not_touch_there():
    row = [Label(100 + 20 * n, 50, str(10 + n)) for n in range(3)]
    assert [(label.text, label.minor) for label in thinned(row)] == [
        ("10", False),
        ("11", True),
        ("12", False),
    ]


def test_it_joins_marks_in_order_and_clear_of_their_glyphs():
    found = arrows([mark(1, 0, 0), mark(2, 0, 100), mark(3, 0, 110)])
    assert [(a.x1, a.y1, a.x2, a.y2) for a in found] == [(0, 9, 0, 91)]
