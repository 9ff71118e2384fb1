"""The shape of the house is counted from its files, and what is not allowed is named."""

from __future__ import annotations

import pytest

from tools import shape as module
from tools.shape import main, printed, shape


@pytest.fixture
def house(tmp_path):
    """A small tree with one of everything that is not allowed."""
    crowd = {f"campaigns/steps/verb_{n}.py": "x = 1\n" for n in range(21)}
    long = "def work():\n" + "    pass\n" * 60
    texts = {
        **crowd,
        "campaigns/__init__.py": "",
        "campaigns/tasks.py": "class Place: ...\nclass Command: ...\n",
        "campaigns/bell.py": "class Place: ...\nclass Command: ...\n",
        "knowledge/long.py": "x = 1\n" * 401,
        "kopt/bell.py": long,
        "campaigns/migrations/0001.py": "x = 1\n" * 900,
        "campaigns/problems/softmax/ref.py": "x = 1\n" * 900,
        "campaigns/problems/import_/draft.py": "x = 1\n" * 3,
        "campaigns/benchmarks/tricks/cheats/triton/late.py": "class Place: ...\n" * 900,
        "campaigns/models/problem.py": "class Case: ...\n",
        "campaigns/evaluator/contract/job.py": "class Case: ...\n",
        "tests/test_a.py": "x = 1\n" * 7,
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_it_names_what_is_not_allowed(house):
    """Of two classes called Case one is a row and one a value of the evaluator."""
    assert list(shape(house).forbidden) == [
        "campaigns/bell.py: loose at the root of campaigns",
        "campaigns/steps: 21 files, at most 20",
        "knowledge/long.py: 401 lines, at most 400",
        "kopt/bell.py:1 work: 61 lines, at most 60",
        "class Place: 2 times: campaigns/bell.py, campaigns/tasks.py",
    ]


def test_it_counts_tests_apart_and_leaves_migrations_and_data_out(house):
    found = shape(house)
    assert (found.sizes["modules"], found.sizes["lines"], found.test_lines) == (29, 492, 7)
    assert found.files == {"bell.py": ["kopt/bell.py", "campaigns/bell.py"]}
    text = "\n".join(printed(found))
    assert "lines 492 (tests and migrations apart; tests 7)" in text
    assert "file names that occur more than once: 1\n  bell.py 2" in text


def test_it_counts_small_modules_but_no_plug_ins_and_folders_that_import_each_other(tmp_path):
    texts = {
        "campaigns/steps/verb.py": "from campaigns.rules import size\n",
        "campaigns/rules/__init__.py": "",
        "campaigns/rules/size.py": "def work():\n    import campaigns.steps.verb\n",
        "campaigns/strategies/halving.py": "x = 1\n",
        "knowledge/long.py": "x = 1\n" * 60,
        "campaigns/evaluator/judge/main.py": "from campaigns.evaluator import wire\n",
        "campaigns/evaluator/wire.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import knowledge.long\n"
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = shape(tmp_path)
    assert found.ties == ["campaigns/rules <-> campaigns/steps"]
    assert found.small == [
        "campaigns/evaluator/wire.py",
        "campaigns/evaluator/judge/main.py",
        "campaigns/rules/size.py",
        "campaigns/steps/verb.py",
    ]
    assert found.sizes["judge_lines"] == 4
    assert "campaigns/rules <-> campaigns/steps: folders that import each other" in found.forbidden


def test_it_fails_the_check_only_on_what_is_not_allowed(house, monkeypatch, capsys):
    found = shape(house)
    monkeypatch.setattr(module, "shape", lambda: found)
    assert main(["--check"]) == 1
    assert capsys.readouterr().out.count("\n") == 5
    assert main([]) == 0
    (house / "tests").rename(house / "campaigns_tests")
    monkeypatch.setattr(module, "shape", lambda: shape(house / "campaigns_tests"))
    assert main(["--check"]) == 0
