"""The table that a benchmark writes."""

import pytest

from campaigns.repositories.measure import TableError, paired, read_table
from campaigns.rules.harness.description import Better, read_harness
from tests.campaigns.repositories.projects import ROWS_HARNESS

HARNESS = read_harness(ROWS_HARNESS)
TEXT = b"""dtype,width,other,err,steps
int32,64,a,0,80
int32,64,b,0,90
int32,1024,a,0,1280
"""


def test_r19_rows_are_named_by_their_class_and_their_place_in_it():
    table = read_table(TEXT, HARNESS)
    assert table.values == {
        "dtype=int32, width=64 #1": 80.0,
        "dtype=int32, width=64 #2": 90.0,
        "dtype=int32, width=1024": 1280.0,
    }
    assert set(table.classes.values()) == {"dtype=int32, width=64", "dtype=int32, width=1024"}
    assert table.wrong == ()


def test_it_says_which_rows_are_wrong():
    table = read_table(TEXT.replace(b"b,0", b"b,0.5"), HARNESS)
    assert table.wrong == ("dtype=int32, width=64 #2: err is 0.5",)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"steps", b"us", "no column 'steps'; there are: dtype, width, other, err, us"),
        (b",80", b",nan", "row 1 (dtype=int32, width=64 #1): steps: 'nan'; accepted: a number"),
        (b",1280", b",0", "row 3 (dtype=int32, width=1024): steps: '0'"),
        (b",90", b",fast", "steps: 'fast'"),
        (TEXT, b"", "accepted: CSV with a header"),
        (TEXT, b"dtype,width,err,steps\n", "0 rows; accepted: 1 to 10000"),
        (TEXT, b"a,b\n1,2,3,4\n1\n", "no column 'steps'"),
    ],
)
def test_a_table_that_says_nothing_is_refused(before, after, words):
    with pytest.raises(TableError) as error:
        read_table(TEXT.replace(before, after), HARNESS)
    assert words in str(error.value)


def test_tables_are_paired_by_row():
    before, after = (read_table(text, HARNESS) for text in (TEXT, TEXT.replace(b"80", b"40")))
    pairs, amiss = paired(before, after, Better.LOWER)
    assert (pairs["dtype=int32, width=64 #1"], amiss) == ((80.0, 40.0), "")
    rates, _ = paired(before, after, Better.HIGHER)
    assert rates["dtype=int32, width=64 #1"] == (1 / 80, 1 / 40)
    short = read_table(TEXT.replace(b"int32,64,b,0,90\n", b""), HARNESS)
    less = read_table(TEXT.replace(b"int32,1024,a,0,1280\n", b""), HARNESS)
    lacks = "the candidate's table lacks dtype=int32, width=1024"
    assert paired(before, less, Better.LOWER) == ({}, lacks)
    assert paired(less, before, Better.LOWER)[1].startswith("the candidate's table has besides")
    assert paired(before, short, Better.LOWER)[1] != ""
