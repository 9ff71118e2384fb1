"""What is forked for an evaluation ends when it is told to."""

from __future__ import annotations

import os
import signal
import sys
import time

from campaigns.evaluator.sandbox.processes import fork, wait_status


def test_it_ends_a_process_that_has_only_just_been_forked():
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for _ in range(40):
            child = fork(sleep, 2)
            os.kill(child, signal.SIGTERM)
            status = wait_status(child, 10.0)
            assert status is not None
            assert os.WTERMSIG(status) == signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def sleep() -> int:
    time.sleep(60)
    return 0
