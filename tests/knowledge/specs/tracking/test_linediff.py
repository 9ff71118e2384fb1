"""Line diffs of documents."""

from knowledge.specs.tracking.linediff import diff_lines
from tests.knowledge.effort import grows_evenly


def shown(rows):
    return [(str(row.mark), row.old, row.new, row.html or row.hidden) for row in rows]


def test_equal_texts_have_no_rows():
    assert diff_lines("a\nb\n", "a\nb") == ()


def test_it_numbers_both_sides_and_folds_what_is_far():
    old = "".join(f"{n}\n" for n in range(1, 21))
    assert shown(diff_lines(old, old.replace("10\n", "ten\n"))) == [
        ("gap", None, None, 6),
        ("same", 7, 7, "7"),
        ("same", 8, 8, "8"),
        ("same", 9, 9, "9"),
        ("del", 10, None, "10"),
        ("add", None, 10, "ten"),
        ("same", 11, 11, "11"),
        ("same", 12, 12, "12"),
        ("same", 13, 13, "13"),
        ("gap", None, None, 7),
    ]


def test_it_starts_and_ends_anywhere():
    assert shown(diff_lines("", "a\n")) == [("add", None, 1, "a")]
    assert shown(diff_lines("a\n", "")) == [("del", 1, None, "a")]


def test_a_text_of_blank_lines_takes_no_minutes():
    def work(size):
        old = "\n".join("" if n % 2 else f"line {n}" for n in range(size))
        rows = diff_lines(old, old.replace("line 2", "row 2"))
        assert any(row.html == "row 2" for row in rows)

    assert grows_evenly(work, 1_000)
