"""Entry points only. The Celery app is imported here so that every process that loads Django has
it: without it `delay()` would look for a broker on localhost."""

from kopt.celery import app as celery_app

__all__ = ["celery_app"]
