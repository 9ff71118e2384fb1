"""Lines of the values of a JSON text."""

import json

from knowledge.specs.json_lines import line_of, value_lines

TEXT = """{"a": 1,
 "b": [
  {"c": "x, {y}", "d": {}},
  [], "a\\"b",
  {
   "c": -2.5e3
  }
 ], "e": null}
"""


def test_it_finds_every_value():
    assert json.loads(TEXT)["b"][2] == 'a"b'
    assert value_lines(TEXT) == {
        "$": (1, 8),
        "$.a": (1, 1),
        "$.b": (2, 8),
        "$.b[0]": (3, 3),
        "$.b[0].c": (3, 3),
        "$.b[0].d": (3, 3),
        "$.b[1]": (4, 4),
        "$.b[2]": (4, 4),
        "$.b[3]": (5, 7),
        "$.b[3].c": (6, 6),
        "$.e": (8, 8),
    }


def test_it_finds_what_is_around_a_place_that_is_not_there():
    assert line_of(TEXT, "$.b[3].z") == 5
    assert line_of(TEXT, "$.b[9]") == 2
    assert line_of(TEXT, "nowhere") == 1
    assert line_of("{", "$.a") == 1
