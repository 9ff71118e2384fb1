"""The description of a project's own harness."""

import pytest

from campaigns.rules.harness.description import Accept, Better, HarnessError, Score, read_harness
from tests.campaigns.repositories.projects import PACKAGE_HARNESS, ROWS_HARNESS


def test_it_reads_every_field():
    rows, package = read_harness(ROWS_HARNESS), read_harness(PACKAGE_HARNESS)
    assert (rows.name, rows.build, rows.test) == ("rows", "make -s", "")
    assert (rows.csv, rows.metric, rows.correct) == ("rows.csv", "steps", "err")
    assert (rows.classes, rows.pairs, rows.limit_s) == (("dtype", "width"), 6, 60)
    assert (rows.better, rows.score) == (Better.LOWER, Score.GEOMEAN)
    assert (package.better, package.score, package.csv) == (Better.HIGHER, Score.TOTAL, "-")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('name = "rows"', 'name = "Rows!"', "line 2: name: 'Rows!'; accepted: small letters"),
        ('csv = "rows.csv"', 'csv = "../rows.csv"', "line 9: table.csv: '../rows.csv'; accepted"),
        ('csv = "rows.csv"', 'csv = "/etc/passwd"', "table.csv: '/etc/passwd'"),
        ('accept = "== 0"', 'accept = "small"', "line 12: table.accept: 'small'; accepted: a sign"),
        ('accept = "== 0"', 'accept = "< PASS"', "table.accept: '< PASS'"),
        ("limit_s = 60", "limit_s = 0", "line 6: limit_s: 0; accepted: 1 to 7200"),
        ("limit_s = 60", "limit_s = true", "limit_s: True; accepted: 1 to 7200"),
        ("limit_s = 60", "pairs = 2", "pairs: 2; accepted: 6 to 60"),
        ("limit_s = 60", "limits = 60", "line 6: limits: 60; accepted: no such field"),
        ('metric = "steps"', "", "table.metric: is missing"),
        ('classes = ["dtype", "width"]', "classes = []", "table.classes: []"),
        ('change = ["kernels/*"]', 'change = ["../*"]', "files.change: '../*'"),
        ("[files]", "[file]", "files: is missing; accepted: a table [files]"),
        ('name = "rows"', "name = rows", "accepted: TOML"),
    ],
)
def test_an_error_names_the_line_the_field_and_what_is_accepted(before, after, words):
    with pytest.raises(HarnessError) as error:
        read_harness(ROWS_HARNESS.replace(before, after))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("accept", "cell", "holds"),
    [
        (Accept("==", 0.0), "0", True),
        (Accept("==", 0.0), "0.0", True),
        (Accept("==", 0.0), "1e-9", False),
        (Accept("<=", 1e-3), "nan", False),
        (Accept("<=", 1e-3), "", False),
        (Accept("<", 1e-3), "0.0001", True),
        (Accept("==", "PASS"), " PASS", True),
        (Accept("==", "PASS"), "pass", False),
    ],
)
def test_a_cell_is_right_or_not(accept, cell, holds):
    assert accept.holds(cell) is holds


def test_patterns_name_files_in_folders_below():
    harness = read_harness(PACKAGE_HARNESS)
    assert harness.may_change("softrows/deep/kernel.py")
    assert not harness.may_change("bench.py")
    assert not harness.needs_build(("softrows/kernel.py",))
    rows = read_harness(ROWS_HARNESS)
    assert rows.needs_build(("kernels/rows.cpp",))
    assert not rows.needs_build(("README",))
