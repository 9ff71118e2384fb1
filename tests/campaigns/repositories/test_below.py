"""Files in a folder in which hostile code has run."""

import os

import pytest

from campaigns.repositories.harness import read_below, remove_below, write_below


def test_it_reads_and_writes_below_the_folder(tmp_path):
    write_below(tmp_path, "deep/er/file.txt", b"one")
    write_below(tmp_path, "deep/er/file.txt", b"two", executable=True)
    assert read_below(tmp_path, "deep/er/file.txt", 10) == b"two"
    assert os.access(tmp_path / "deep/er/file.txt", os.X_OK)
    remove_below(tmp_path, "deep/er/file.txt")
    remove_below(tmp_path, "deep/er/file.txt")
    assert read_below(tmp_path, "deep/er/file.txt", 10) is None


@pytest.mark.parametrize("do", ["read", "write", "remove"])
def test_it_follows_no_link_out_of_it(tmp_path, do):
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    tree.mkdir()
    (outside / "secret").write_text("ours")
    (tree / "folder").symlink_to(outside)
    with pytest.raises(OSError, match=r"folder|directory"):
        {
            "read": lambda: read_below(tree, "folder/secret", 10),
            "write": lambda: write_below(tree, "folder/secret", b"theirs"),
            "remove": lambda: remove_below(tree, "folder/secret"),
        }[do]()
    assert (outside / "secret").read_text() == "ours"


def test_a_link_in_the_place_of_a_file_is_replaced_and_never_read(tmp_path):
    (tmp_path / "aim").write_text("ours")
    (tmp_path / "file").symlink_to(tmp_path / "aim")
    with pytest.raises(OSError, match="symbolic"):
        read_below(tmp_path, "file", 10)
    write_below(tmp_path, "file", b"new")
    assert (tmp_path / "aim").read_text() == "ours"
    assert read_below(tmp_path, "file", 10) == b"new"


def test_neither_a_pipe_nor_a_large_file_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no plain file"):
        read_below(tmp_path, "pipe", 10)
    (tmp_path / "large").write_bytes(b"0123456789a")
    with pytest.raises(OSError, match="more than"):
        read_below(tmp_path, "large", 10)
