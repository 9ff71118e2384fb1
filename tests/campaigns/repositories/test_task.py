"""A worker tries what waits in a repository, and is told of the next round."""

from types import SimpleNamespace

import pytest

from campaigns import tasks
from campaigns.models import EvaluationState
from campaigns.models.transitions import move
from campaigns.repositories import rounds
from campaigns.repositories.hand_in import HandedChange, hand_in_change
from campaigns.repositories.models import RepositoryRound
from tests.campaigns.repositories import test_pages
from tests.campaigns.repositories.projects import patch_of
from tests.campaigns.steps import cast

rows, folder = test_pages.rows, test_pages.folder


@pytest.fixture
def sent(monkeypatch):
    """What is sent to the queue: task, key, queue."""
    found = []
    monkeypatch.setattr(rounds, "send_after_commit", lambda *sent: found.append(sent[:3]))
    return found


def handed(rows, folder, block):
    patch = patch_of(folder, "kernels/rows.cpp", "= 8;", f"= {block};")
    return hand_in_change(rows, HandedChange("Blocks", block, "fewer", patch), "agent", "bot")


def test_a_notified_worker_tries_the_round_and_notifies_of_the_next(
    rows, folder, sent, monkeypatch
):
    first, second = handed(rows, folder, "16"), handed(rows, folder, "32")

    def tried(key, context):
        row = RepositoryRound.objects.get(pk=key)
        move(row, EvaluationState.RUNNING)
        move(row, EvaluationState.DONE, reason="slower")
        return row.repository

    monkeypatch.setattr(tasks, "try_change", tried)
    monkeypatch.setattr(tasks, "_context", lambda name: None)
    rounds.notify_next_round(rows)
    request = SimpleNamespace(request=SimpleNamespace(hostname="measure@box"))
    tasks.repository_round.run.__func__(request, first.pk)
    queue = f"platform.{rows.platform.slug}"
    task = "campaigns.tasks.repository_round"
    assert sent == [(task, first.pk, queue), (task, second.pk, queue)]


def test_the_heartbeat_notifies_again_of_a_round_that_waits(rows, folder, sent, settings, tmp_path):
    waiting = handed(rows, folder, "16")
    settings.DATA_DIR = tmp_path
    cast.make_platform()
    tasks.Heartbeat("advance@box", None).beat()
    assert [key for task, key, _ in sent if "repository" in task] == [waiting.pk]
