"""The Celery app: a `default` queue for the flow, and one queue per platform for measuring."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")

app = Celery("kopt")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
