"""A worker's heartbeat goes on, whatever one turn of it meets."""

import logging
import threading

from campaigns.workers.heartbeat import Heartbeat


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
    with caplog.at_level(logging.ERROR, "campaigns.workers.heartbeat"):
        heartbeat.start()
        assert beaten.wait(20)
        heartbeat.stop()
    assert "heartbeat of tester: a turn failed" in caplog.text
    assert "a row of another version" in caplog.text
