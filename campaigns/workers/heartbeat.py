"""The heartbeat of a worker process: a thread that shows life and finds lost work.

It is a thread because a task would wait in the queue whose losses it has to find.
"""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.db import close_old_connections, connection

from campaigns.devices.discover import Device
from campaigns.records.passports import passport_wanted
from campaigns.steps.baselines.remind_of_baselines import remind_of_baselines
from campaigns.steps.measuring.note_host import note_host
from campaigns.steps.measuring.reproduce import reproduce
from campaigns.steps.measuring.worker_beat import worker_beat
from campaigns.steps.recovery.reconcile import reconcile
from campaigns.steps.recovery.store_kept import store_kept
from campaigns.steps.repositories.release_rounds import release_rounds
from campaigns.workers.notify import notify, notify_round, notify_worker
from campaigns.workers.tempdirs import sweep
from knowledge.exchange.in_parts import ring_for_imports
from knowledge.lookup.migrations import require_migrations

log = logging.getLogger(__name__)

# A lease may end right after a check; three checks a minute find it within a minute.
RECONCILE_EVERY_S = 20.0


class Heartbeat(threading.Thread):
    """Beats until `stop`. device: what this worker measures on; None for one that only advances.

    A worker that moves to another device sets it here.
    """

    def __init__(self, name: str, device: Device | None) -> None:
        super().__init__(name=f"heartbeat of {name}", daemon=True)
        self._worker = name
        self.device = device
        self._ended = threading.Event()
        self._look_at = 0.0
        self._swept = False

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self.beat()
            except Exception:
                # Without a heartbeat the other workers would take this one for dead.
                log.exception("%s: a turn failed; the next follows", self.name)
            close_old_connections()
            self._ended.wait(settings.KOPT_HEARTBEAT_S)
        connection.close()

    def beat(self) -> None:
        """Show life, store what was kept, and when due find lost work and a due passport."""
        require_migrations()
        worker = worker_beat(self._worker, self.device) if self.device else None
        if not self._swept:
            self._swept = True
            for folder in sweep():
                log.info("removed %s, which an ended process left", folder)
        for campaign, following in store_kept():
            notify(campaign, following)
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + RECONCILE_EVERY_S
        for look in (reconcile, reproduce, remind_of_baselines):
            for campaign, following in look():
                notify(campaign, following)
        for row in release_rounds():
            notify_round(row)
        ring_for_imports()
        if worker and self.device:
            note_host(worker, self.device)
            if passport_wanted(worker, self.device):
                notify_worker(worker)

    def stop(self) -> None:
        """End the thread and wait for its last turn."""
        self._ended.set()
        self.join(timeout=5)
