"""Folders: what is taken, and the one line that names what is not."""

import os

import pytest

from knowledge.exchange.readers import files as limits
from knowledge.exchange.readers.files import ImportRefused, read_folder, require_distinct


@pytest.fixture
def root(tmp_path):
    (tmp_path / "wiki" / "docs").mkdir(parents=True)
    (tmp_path / "wiki" / "docs" / "a.md").write_text("# A\n")
    (tmp_path / "secret.md").write_text("# Secret\n")
    return tmp_path / "wiki"


def refused(root):
    with pytest.raises(ImportRefused) as caught:
        read_folder(root)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_it_reads_documents_and_on_request_records(root):
    (root / "specs.json").write_text("{}")
    assert list(read_folder(root)) == ["docs/a.md"]
    assert list(read_folder(root, (".md", ".json"))) == ["docs/a.md", "specs.json"]


def test_it_passes_over_hidden_files_and_folders(root):
    (root / ".git").mkdir()
    (root / ".git" / "x.md").write_text("# X\n")
    (root / ".x.md").write_text("# X\n")
    assert list(read_folder(root)) == ["docs/a.md"]


def test_it_refuses_a_file_that_lies_outside(root):
    (root / "docs" / "b.md").symlink_to(root.parent / "secret.md")
    assert refused(root) == f"docs/b.md: points outside {root}"


def test_it_refuses_a_folder_that_lies_outside(root):
    (root / "more").symlink_to(root.parent)
    assert refused(root) == f"more: points outside {root}"


@pytest.mark.parametrize("name", ["docs/loop", "docs/b.md"])
def test_it_refuses_links_that_lead_nowhere_new(root, name):
    target = root / "docs" if name == "docs/loop" else root / "gone.md"
    (root / name).symlink_to(target)
    assert refused(root) == f"{name}: accepted are plain files in plain folders"


def test_it_does_not_wait_for_a_pipe(root):
    os.mkfifo(root / "b.md")
    assert refused(root) == "b.md: accepted are plain files in plain folders"


def test_it_refuses_a_document_of_50_mb_without_reading_it(root):
    with (root / "b.md").open("wb") as file:
        file.truncate(50_000_000)
    assert refused(root) == "b.md: larger than 2000000 bytes"


def test_it_refuses_one_file_too_many(root, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 1)
    (root / "docs" / "b.md").write_text("# B\n")
    assert refused(root).startswith("docs/b.md: more than 1 files")


def test_it_refuses_too_much_at_once(root, monkeypatch):
    monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 5)
    (root / "docs" / "b.md").write_text("# B\n")
    assert refused(root).startswith("docs/b.md: the files together are larger than 5 bytes")


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"# B \xff", "b.md: not UTF-8 at byte 4"), (b"# \0", "b.md: NUL at byte 2")],
)
def test_it_refuses_what_is_no_text(root, data, message):
    (root / "b.md").write_bytes(data)
    assert refused(root).startswith(message)


def test_it_refuses_paths_that_differ_in_case_only():
    with pytest.raises(ImportRefused, match=r"docs/A.md and docs/a.md differ only in case"):
        require_distinct(["docs/a.md", "b.md", "docs/A.md"])
