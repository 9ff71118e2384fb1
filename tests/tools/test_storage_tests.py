"""Which files are tested again on PostgreSQL."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tools import storage_tests
from tools.storage_tests import parts


def test_it_finds_each_file_with_such_a_test_once(tmp_path):
    for place in ("knowledge/api", "kopt", "campaigns/tasks"):
        folder = tmp_path / "tests" / place
        folder.mkdir(parents=True)
        (folder / "test_marked.py").write_text("@pytest.mark.storage\ndef test_it(): ...")
        (folder / "test_plain.py").write_text("def test_it(): ...")
    assert parts(tmp_path) == {
        "campaigns": ["tests/kopt/test_marked.py"],
        "wiki": ["tests/knowledge/api/test_marked.py"],
        "workers": ["tests/campaigns/tasks/test_marked.py"],
    }


@pytest.mark.parametrize(
    ("words", "marks"), [([], "storage and not long"), (["storage"], "storage")]
)
def test_the_long_ones_run_where_they_are_asked_for(monkeypatch, capsys, words, marks):
    asked = []

    def start(place, expression, files, servers, log):
        log.touch()
        asked.append(expression)
        return SimpleNamespace(wait=lambda: 0)

    monkeypatch.setattr(sys, "argv", ["storage_tests", *words])
    monkeypatch.setattr(storage_tests, "_silence", lambda url: "")
    monkeypatch.setattr(storage_tests, "_start", start)
    assert storage_tests.main() == 0
    assert asked == [marks, marks, marks]
