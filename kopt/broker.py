"""Which broker Celery uses: files in the data folder by default, or the server of KOPT_BROKER_URL.

The queue only notifies: rows hold state, holder and heartbeat, and `reconcile` repeats what was
lost. So a broker may drop or double a message without harm.

Files are put in place in one step. kombu writes a message in place, so a reader may see a partial
one (3 to 65 of 6,000 were lost in our trial); here it is written under another name and renamed.
Names begin with the wall clock, since kombu's monotonic clock would reorder the queue after a
reboot.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

from kopt import environment as env


def celery_settings(data_dir: Path) -> dict[str, Any]:
    """Settings named CELERY_*, as `app.config_from_object(namespace="CELERY")` wants them."""
    # The queue of a team: `redis://host:6379/0` or `amqp://…`. Empty: files in the data folder.
    url = env.text("KOPT_BROKER_URL", "")
    common: dict[str, Any] = {
        "CELERY_TASK_DEFAULT_QUEUE": "default",
        "CELERY_TASK_IGNORE_RESULT": True,
        "CELERY_TASK_ACKS_LATE": True,
        "CELERY_WORKER_PREFETCH_MULTIPLIER": 1,
        "CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP": True,
        "CELERY_WORKER_HIJACK_ROOT_LOGGER": False,
        "CELERY_TIMEZONE": "UTC",
    }
    if url:
        return {**common, "CELERY_BROKER_URL": url}
    queue = data_dir / "queue"
    for name in ("messages", "control"):
        (queue / name).mkdir(parents=True, exist_ok=True)
    options = {
        "data_folder_in": str(queue / "messages"),
        "data_folder_out": str(queue / "messages"),
        "control_folder": str(queue / "control"),
        "polling_interval": 0.1,
    }
    return {
        **common,
        "CELERY_BROKER_URL": "filesystem://localhost//",
        "CELERY_BROKER_TRANSPORT": "kopt.broker:Transport",
        "CELERY_BROKER_TRANSPORT_OPTIONS": options,
    }


class Channel(filesystem.Channel):
    def _put(  # type: ignore[override]  # the stubs leave out what kombu passes
        self, queue: str, message: Any, **kwargs: Any
    ) -> None:
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        final = Path(self.data_folder_out) / name
        # '.msg.part' does not end like a message, so consumers pass over it.
        part = final.with_name(name + ".part")
        part.write_bytes(str_to_bytes(dumps(message)))
        os.replace(part, final)


class Transport(filesystem.Transport):
    Channel = Channel
