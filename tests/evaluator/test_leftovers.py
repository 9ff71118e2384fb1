"""Files that CUDA leaves in /dev/shm go with the processes that they belong to."""

from __future__ import annotations

from campaigns.evaluator import leftovers


def test_it_removes_the_files_of_these_processes_alone(tmp_path, monkeypatch):
    shared = tmp_path / "shm"
    shared.mkdir()
    monkeypatch.setattr(leftovers, "SHARED", shared)
    kept = ("cuda.shm.0.102.1", "cuda.shm.0.1023f.1", "psm_1023", "cuda.shm.0.4131.1")
    for name in ("cuda.shm.0.1023.1", "cuda.shm.1000.1023.2", "cuda.shm.0.a.1", *kept):
        (shared / name).touch()
    leftovers.remove_cuda_files([0x1023, 10])
    assert {path.name for path in shared.iterdir()} == {*kept}


def test_it_bears_a_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "SHARED", tmp_path / "none")
    leftovers.remove_cuda_files([1])
