"""The generated pages of docs/ are what their sources say."""

from __future__ import annotations

import argparse

import pytest

from tools import reference
from tools.reference import HeadFails, _arguments, benchmarks_page, main, settings_page, variables

MODULE = """\
# How often it beats,
# in seconds.
BEAT = env.number("KOPT_BEAT_S", 5.0, least=0.2)
HOSTS = env.words("KOPT_NAMES", ("a", "b"))
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "settings.py").write_text(MODULE)
    return tmp_path


def test_the_pages_are_as_the_code_says():
    assert main(["--check"]) == 0


def test_every_setting_says_what_it_means():
    found = variables(reference.ROOT / "kopt")
    assert [one.name for one in found if not one.meaning] == []
    assert len(found) >= 18


def test_it_takes_meaning_default_and_what_is_accepted_from_the_code(package):
    beat, names = variables(package)
    assert beat.meaning == "How often it beats, in seconds."
    assert (beat.default, beat.accepted) == ("5", "a number of at least 0.2")
    assert (names.default, names.meaning) == ("a, b", "")
    assert "| `KOPT_BEAT_S` | 5 | a number of at least 0.2 | How often" in settings_page(package)


def test_it_shows_each_argument_of_a_verb():
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=int, help="the round's number")
    parser.add_argument("--why", required=True)
    parser.add_argument("--flag", action="store_true", help="50%% of it")
    assert list(_arguments("round show", "one round", parser)) == [
        "`round show NUMBER --why WHY [--flag]`: one round\n",
        "- `number`: the round's number",
        "- `--flag`: 50% of it",
        "",
    ]


def test_a_page_that_is_out_of_date_fails_the_check(tmp_path, monkeypatch, capsys):
    page = tmp_path / "docs" / "settings.md"
    page.parent.mkdir()
    monkeypatch.setattr(reference, "pages", lambda: {page: "new\n"})
    assert main(["--check"]) == 1
    assert "docs/settings.md: not as the code says" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0


HEAD = {"question": "How quick?", "found": "2 s", "measured": "2026-11-27, in 9 s",
        "device": "a card", "command": "`python manage.py bench speed`"}  # fmt: skip


def measurement(folder, **head):
    listed = "".join(f"- {key}: {value}\n" for key, value in head.items())
    (folder / "speed.md").write_text(f"# Speed\n\n{listed}\n## Times\n\n- device: no head\n")
    return folder


def test_a_measurement_has_a_row_from_its_own_head(tmp_path):
    page = benchmarks_page(measurement(tmp_path, **HEAD))
    assert "| How quick? | [speed.md](speed.md) | 2 s | a card | 2026-11-27 |" in page
    assert "| `speed.md` | `bench speed` |" in page


@pytest.mark.parametrize("missing", HEAD)
def test_a_measurement_without_a_column_is_refused(tmp_path, missing):
    head = {key: value for key, value in HEAD.items() if key != missing}
    with pytest.raises(HeadFails, match=f"speed.md: no `- {missing}: "):
        benchmarks_page(measurement(tmp_path, **head))
