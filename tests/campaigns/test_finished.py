"""A finished campaign that is put back is the one that was made."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from campaigns.lineage.repository import repository_of
from campaigns.models import Commit, Verdict
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="made anew on PostgreSQL")
def test_its_rows_and_commits_are_put_back_without_a_judge(tmp_path: Path) -> None:
    asked: list[cast.Judge] = []

    def judge() -> cast.Judge:
        asked.append(cast.Judge())
        return asked[-1]

    found: list[tuple[Any, ...]] = []
    for turn in ("made", "put back"):
        with transaction.atomic():
            done = finished(tmp_path / turn, [["time 50"]], judge=judge)
            words = list(Verdict.objects.order_by("pk").values_list("word", "gain"))
            commits = list(Commit.objects.order_by("pk").values_list("sha", flat=True))
            found.append((done.pk, done.state, done.result, words, commits))
            assert repository_of(done.pk).is_dir()
            transaction.set_rollback(True)
        shutil.rmtree(Path(settings.DATA_DIR) / "lineage")
    assert found[0] == found[1]
    assert len(found[0][-1]) == 2
    assert len(asked) == 1
