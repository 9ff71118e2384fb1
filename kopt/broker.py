"""Which broker Celery uses: files in the data folder by default, or the server of KOPT_BROKER_URL.

The queue only notifies: rows hold state, holder and heartbeat, and `reconcile` repeats what was
lost. So a broker may drop or double a message without harm.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
        "CELERY_BROKER_TRANSPORT": "kopt.file_transport:Transport",
        "CELERY_BROKER_TRANSPORT_OPTIONS": options,
    }
