"""A worker's heartbeat goes on, whatever one turn of it meets."""

import logging
import threading
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User

from campaigns import tasks
from campaigns.tasks import Heartbeat
from knowledge.exchange import in_parts
from knowledge.models import Batch


def test_it_goes_on_after_a_turn_that_failed_and_says_so(monkeypatch, settings, caplog):
    settings.KOPT_HEARTBEAT_S = 0.01
    beaten = threading.Event()
    turns = []

    def beat(self):
        turns.append(1)
        if len(turns) == 1:
            raise KeyError("a row of another version")
        beaten.set()

    monkeypatch.setattr(Heartbeat, "beat", beat)
    heartbeat = Heartbeat("tester", None)
    with caplog.at_level(logging.ERROR, "campaigns.tasks"):
        heartbeat.start()
        assert beaten.wait(20)
        heartbeat.stop()
    assert "heartbeat of tester: a turn failed" in caplog.text
    assert "a row of another version" in caplog.text


@pytest.mark.django_db
def test_it_has_a_task_go_on_with_an_import_that_nobody_works_on(
    monkeypatch, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.DATA_DIR = tmp_path
    sent = []
    queue = SimpleNamespace(send_task=lambda name, args, **_: sent.append((name, args)))
    monkeypatch.setattr(in_parts, "current_app", queue)
    plan = {"whole": True, "left_out": []}
    left = Batch.objects.create(
        origin="team",
        state="planning",
        plan=plan,
        files={"docs/n.md": "# N\n"},
        author=User.objects.create_user("eve"),
    )
    with django_capture_on_commit_callbacks(execute=True):
        Heartbeat("advance@box", None).beat()
    assert sent == [(tasks.wiki_import.name, [left.pk])]
    tasks.wiki_import(left.pk)
    left.refresh_from_db()
    assert left.state == "planned"
