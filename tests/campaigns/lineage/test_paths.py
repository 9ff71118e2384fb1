"""Names in a repository: branches that git takes, and files that stay inside."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.lineage.git import LineageError, branch_name, quoted

DAY = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)


def test_r9_it_names_the_branch_by_op_backend_gpu_and_date() -> None:
    name = branch_name("vector_add", "triton", "h200-sxm", DAY)
    assert name == "optimize/vector_add_triton_h200-sxm_2026-11-22"


@settings(max_examples=30)
@given(st.text(), st.text())
def test_it_names_branches_that_git_accepts(op: str, gpu: str) -> None:
    name = branch_name(op, "--upload-pack=x", gpu, DAY)
    assert name.startswith("optimize/")
    done = subprocess.run(["git", "check-ref-format", "--branch", name], check=False)
    assert done.returncode == 0
    assert len(name) <= 200


@pytest.mark.parametrize("path", ["v0.cpp", "src/v0.cu", "-rf", "a b.py", "größe.cpp", ".gix"])
def test_it_takes_plain_paths(path: str) -> None:
    assert quoted(path) == f'"{path}"'


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "..", "../v0.cpp", "a/../../v0.cpp", "/etc/passwd", "a//b", "a/", "./a"),
        *(".git/hooks/post-checkout", ".GIT", "a/.git", "git~1", ".gitmodules", ".git "),
        *("v0\n.cpp", 'v0".cpp', "a\\b", "v0\x00", "v0\u2028.cpp"),
    ],
)
def test_it_refuses_other_paths(path: str) -> None:
    with pytest.raises(LineageError, match="accepted: a plain path"):
        quoted(path)
