"""The table of rules: made of the code, and complete but for what it says is open."""

from __future__ import annotations

import pytest

from tools import rules
from tools.rules import enforced, listed, main, missing, proven, table

MODULE = '"""What a case may lose (R13)."""\n\n\ndef guard():\n    """Rule by rule: R12."""\n'
PAGE = "| R12 | noise |  |  | {} |\n| R13 | guard |  |  |  |\n"
PROOF = "def test_r13_it_guards():\n    assert True\n"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A repository of one module and one test, with two rules."""
    for name, text in (("campaigns/guard.py", MODULE), ("tests/deep/test_guard.py", PROOF)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(rules, "TABLE", tmp_path / "rules.md")
    rules.TABLE.write_text(PAGE.format(""))
    return tmp_path


def test_it_finds_who_names_a_rule_and_what_proves_it(made):
    assert enforced(made) == {12: ["campaigns/guard.py"], 13: ["campaigns/guard.py"]}
    assert proven(made) == {13: ["tests/deep/test_guard.py::test_r13_it_guards"]}


def test_it_tells_what_a_rule_lacks(made):
    assert list(missing(made)) == ["R12: no test proves it"]
    (made / "campaigns" / "guard.py").write_text("")
    assert list(missing(made)) == [
        "R12: no module names it and no test proves it",
        "R13: no module names it",
    ]


def test_an_open_rule_may_lack_both_and_says_so_in_the_table(made):
    rules.TABLE.write_text(PAGE.format("the floor"))
    assert list(missing(made)) == []
    assert "1 of 2 rules have both" in table(made)
    assert table(made).splitlines()[-2].endswith("| `campaigns/guard.py` |  | the floor |")


def test_it_knows_no_rule_beyond_the_list(made):
    (made / "campaigns" / "other.py").write_text('"""As R99 says."""\n')
    assert next(missing(made)) == "R99: no such rule; accepted: R1 to R13"


def test_a_table_that_is_out_of_date_fails_the_check(made, monkeypatch, capsys):
    monkeypatch.setattr(rules, "missing", lambda: iter(()))
    monkeypatch.setattr(rules, "table", lambda: table(made))
    assert main(["--check"]) == 1
    assert "run `.venv/bin/python -m tools.rules`" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
    monkeypatch.setattr(rules, "missing", lambda: iter(["R12: no test proves it"]))
    assert main(["--check"]) == 1
    assert capsys.readouterr().err == "R12: no test proves it\n"


def test_each_rule_is_listed_once_with_what_it_says():
    page = rules.TABLE.read_text()
    assert list(listed()) == list(range(1, 61))
    assert page.count("\n| R") == 60
