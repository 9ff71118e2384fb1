"""Files that CUDA and torch leave in /dev/shm go with the processes that they belong to."""

from __future__ import annotations

from campaigns.evaluator.sandbox import folder as leftovers


def test_it_removes_the_files_of_these_processes_alone(tmp_path, monkeypatch):
    shared = tmp_path / "shm"
    shared.mkdir()
    monkeypatch.setattr(leftovers, "SHARED", shared)
    kept = ("cuda.shm.0.102.1", "cuda.shm.0.1023f.1", "psm_1023", "cuda.shm.0.4131.1")
    kept += ("torch_41310_7_0", "torch_4131", "torch_1023_7_0", "my_torch_10_7_0")
    gone = ("cuda.shm.0.1023.1", "cuda.shm.1000.1023.2", "cuda.shm.0.a.1")
    gone += ("torch_4131_2393805166_0", "torch_4131_2393805166_1", "torch_10_7_0")
    for name in (*gone, *kept):
        (shared / name).touch()
    leftovers.remove_shared_files([0x1023, 10])
    assert {path.name for path in shared.iterdir()} == {*kept}


def test_it_bears_a_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "SHARED", tmp_path / "none")
    leftovers.remove_shared_files([1])
