"""Lines of the values of a JSON text."""

import json

import pytest

from knowledge.specs.json_text import line_of, records_of, value_lines

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


@pytest.mark.parametrize(
    ("text", "elements", "around"),
    [
        ("[]", [], "[]"),
        ('[{"a": [1, 2]}, 3 , "x,]"]', ['{"a": [1, 2]}', "3", '"x,]"'], "[0, 0 , 0]"),
        ('{"records": [{}, [\n]], "b": [4]}', ["{}", "[\n]"], '{"records": [0, 0\n], "b": [4]}'),
        ('{"b": {"records": [1]}, "records": [2]}', ["2"], None),
        ('[{"a": nonsense "b"}, {}]', ['{"a": nonsense "b"}', "{}"], "[0, 0]"),
        ("[{} {}]", ["{} {}"], "[0]"),
    ],
)
def test_it_finds_the_elements_of_a_list_without_reading_them(text, elements, around):
    found = records_of(text)
    assert [text[start:end] for _, start, end in found.elements] == elements
    base = "$.records" if "records" in text else "$"
    assert [place for place, _, _ in found.elements] == [
        f"{base}[{n}]" for n in range(len(elements))
    ]
    assert around in (None, found.around)


@pytest.mark.parametrize("text", ["", "{}", "3", '{"a": [1]}', "[", "[}", "[{]}", '["x'])
def test_it_finds_no_list_where_there_is_none(text):
    assert records_of(text) is None
