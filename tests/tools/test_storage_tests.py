"""Which files are tested again on PostgreSQL."""

from __future__ import annotations

from tools.storage_tests import parts


def test_it_finds_each_file_with_such_a_test_once(tmp_path):
    wiki, rest = tmp_path / "tests" / "knowledge" / "api", tmp_path / "tests" / "kopt"
    wiki.mkdir(parents=True)
    rest.mkdir()
    for folder in (wiki, rest):
        (folder / "test_marked.py").write_text("@pytest.mark.storage\ndef test_it(): ...")
        (folder / "test_plain.py").write_text("def test_it(): ...")
    assert parts(tmp_path) == {
        "campaigns": ["tests/kopt/test_marked.py"],
        "wiki": ["tests/knowledge/api/test_marked.py"],
    }
