"""The shipped problems, when one of their folders is not finished yet."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from campaigns.problems import shipped


@pytest.fixture(autouse=True)
def unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ship softmax whole, and beside it a problem whose file says nothing."""
    shutil.copytree(shipped.SHIPPED / "softmax", tmp_path / "softmax")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "problem.toml").write_text("")
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path)


def test_it_offers_only_the_problems_that_can_be_read() -> None:
    assert [problem.name for problem in shipped.shipped_problems()] == ["softmax"]


def test_it_names_what_is_wrong_when_all_are_listed() -> None:
    with pytest.raises(CommandError, match=r"empty/problem\.toml") as told:
        call_command("problem", "list")
    assert told.value.returncode == 1
    assert "\n" not in str(told.value)
