"""A landscape in a CSV file: nothing is lost, and what is wrong is found by line and column."""

import gzip

import pandas as pd
import pytest

from campaigns.benchmarks.landscapes.landscape import Landscape, LandscapeError, read_landscape
from tests.campaigns.benchmarks.landscapes.samples import HEADER, KNOBS, sample_landscape, timed


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_it_comes_back_as_it_was(tmp_path, name):
    landscape, path = sample_landscape(), tmp_path / name
    landscape.save(path)
    again = read_landscape(path)
    assert again.header == landscape.header
    pd.testing.assert_frame_equal(again.frame, landscape.frame)
    assert again.rows() == landscape.rows()
    assert [type(value) for value in again.rows()[0].values] == [int, float, str, bool]


def test_the_same_landscape_is_the_same_bytes(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        sample_landscape().save(tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_the_best_time_leaves_failures_out():
    assert sample_landscape().best_us == 7.5
    assert Landscape.of(HEADER, []).best_us == float("inf")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# {", "{", "line 1: '# ' and a header in JSON are accepted"),
        ('"kernel":"softmax"', '"kernel":1', "line 1: Expected `str`"),
        ('"op":"softmax"', '"operation":"softmax"', "line 1: .*unknown field `operation`"),
        ("TILE,SCALE", "TILES,SCALE", "line 2: no column TILE"),
        ("fact:spills", "spills", "line 2, column spills: .* fact:NAME"),
        ("16,0.5", "17,0.5", "line 3, column TILE: '17'; accepted: 16, 32, 64"),
        ("10.25", "quick", "line 3, column time_us: 'quick'; accepted: a positive number of µs"),
        ("10.25", "-1", "line 3, column time_us: '-1'; accepted: a positive number of µs"),
        ("10.25", "inf", "line 3, column time_us: 'inf'; accepted: a positive number of µs"),
        ("8.0\n", "\n", "line 4, column time_us: ''; accepted: a positive number of µs"),
        ("wrong,\n", "wrong,3\n", "line 7, column time_us: '3'; accepted: nothing beside wrong"),
        ("crashed", "exploded", "line 8, column outcome: 'exploded'; accepted: measured, build_"),
        ("64.0,", "many,", "line 4, column fact:registers: 'many'; accepted: a number"),
        ("8.0\n", "8.0,9,9\n", "in line 4"),
        ("32,0.5,", "\n32,0.5,", "line 4, column TILE: ''"),
        ("32,0.5,-O2,True", "16,0.5,-O2,False", "line 4: the point of line 3 again"),
    ],
)
def test_a_broken_file_is_told_where_and_what_is_accepted(tmp_path, old, new, message):
    text = sample_landscape().to_csv()
    assert old in text
    path = tmp_path / "broken.csv"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(LandscapeError, match=message) as refused:
        read_landscape(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "data", [b"\x1f\x8bnot packed", b"", gzip.compress(b"# {}\n", mtime=0)[:-9]]
)
def test_a_file_that_is_not_packed_is_refused(tmp_path, data):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(data)
    with pytest.raises(LandscapeError, match=r"x\.csv\.gz"):
        read_landscape(path)


def test_a_row_has_a_value_for_every_knob():
    with pytest.raises(ValueError, match="zip"):
        Landscape.of(HEADER, [timed(1.0, *(knob.values[0] for knob in KNOBS[1:]))])
