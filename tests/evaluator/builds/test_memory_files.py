"""Files handed over as memory: what was sealed stays, and no two are one to the loader."""

import ctypes
import os
import shutil
import subprocess

import pytest

from campaigns.evaluator.builds import memory_files


def test_a_sealed_file_cannot_be_changed(tmp_path):
    path = tmp_path / "artefact"
    path.write_bytes(b"built")
    fd = memory_files.sealed(path)
    with pytest.raises(PermissionError):
        os.pwrite(fd, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(fd, 0)
    assert memory_files.held(fd, 100) == b"built"
    os.close(fd)


def test_no_more_is_read_than_is_asked_for():
    fd = memory_files.empty()
    memory_files.fill(fd, b"a" * 5000)
    memory_files.fill(fd, b"b" * 3000)
    assert memory_files.held(fd, 1000) == b"b" * 1000
    assert memory_files.held(fd, 1 << 20) == b"b" * 3000
    os.close(fd)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_loader_takes_none_for_another(tmp_path):
    found = []
    for number in range(3):
        text = f'extern "C" int answer() {{ return {number}; }}'
        (tmp_path / "a.cpp").write_text(text)
        subprocess.run(["g++", "-shared", "-fPIC", "a.cpp", "-o", "a.so"], cwd=tmp_path, check=True)
        fd = memory_files.sealed(tmp_path / "a.so")
        found.append(ctypes.CDLL(memory_files.loadable(fd)).answer())
        os.close(fd)  # so that the next one has its number
    assert found == [0, 1, 2]
