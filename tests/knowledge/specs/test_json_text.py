"""Lines of the values of a JSON text."""

import json

import pytest

from knowledge.specs.json_text import RecordError, parse_json, records_of, value_lines

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
    root = parse_json(TEXT)
    found = root["b"].items()[3]["z"]
    assert (found.place, found.value, found.line, found.key) == ("$.b[3].z", None, 5, "z")
    assert (root["x"].line, root.error("no").line) == (1, 1)
    error = root["b"].items()[3]["c"].error("accepted: more")
    assert (str(error), error.key, error.line) == ("$.b[3].c: accepted: more", "c", 6)
    with pytest.raises(RecordError, match=r"^\$: no JSON at line 3") as refused:
        parse_json("{\n\n")
    assert refused.value.line == 3


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
