"""Triton's cache, built in one place and found in another."""

import io
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from campaigns.evaluator.builds import memory_files
from campaigns.evaluator.builds.triton_cache import packed, unpack

KEY = "ab" * 32


def test_what_was_built_elsewhere_is_found(tmp_path, monkeypatch):
    from triton.runtime.cache import get_cache_manager

    built, taken = tmp_path / "built", tmp_path / "taken"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(built))
    made = get_cache_manager(KEY)
    group = {"rows.cubin": made.put(b"code", "rows.cubin")}
    made.put_group("rows.json", group)
    assert get_cache_manager(KEY).get_group("rows.json") == group

    (tmp_path / "cache.tar").write_bytes(packed(built))
    fd = memory_files.sealed(tmp_path / "cache.tar")
    shutil.rmtree(built)
    unpack(fd, taken)
    os.close(fd)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(taken))
    found = get_cache_manager(KEY).get_group("rows.json")
    assert {name: Path(path).read_bytes() for name, path in found.items()} == {
        "rows.cubin": b"code"
    }
    assert Path(found["rows.cubin"]).is_relative_to(taken)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside"])
def test_a_file_that_leaves_the_folder_is_refused(tmp_path, name):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    (tmp_path / "cache.tar").write_bytes(data.getvalue())
    fd = memory_files.sealed(tmp_path / "cache.tar")
    with pytest.raises(tarfile.TarError, match="files of the folder"):
        unpack(fd, tmp_path / "in" / "taken")
    os.close(fd)
    assert not (tmp_path / "in" / "outside").exists()
