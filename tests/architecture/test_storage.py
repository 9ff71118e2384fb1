"""The database and the broker under test are those that were asked for."""

import os

import pytest
from django.db import connection

from kopt import celery_app

VENDORS = {"": "sqlite", "sqlite": "sqlite", "postgres": "postgresql", "postgresql": "postgresql"}


@pytest.mark.storage
@pytest.mark.django_db
def test_it_runs_on_the_database_that_was_asked_for():
    scheme = os.environ.get("DATABASE_URL", "").partition(":")[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM django_migrations")
        assert cursor.fetchone()[0] > 0
    assert connection.vendor == VENDORS[scheme]


@pytest.mark.storage
def test_it_rings_through_the_broker_that_was_asked_for():
    with celery_app.connection_for_write() as broker:
        queue = broker.SimpleQueue("storage-test")
        queue.clear()
        queue.put({"row": 7})
        message = queue.get(timeout=5)
        message.ack()
        queue.close()
    assert message.payload == {"row": 7}
    asked = os.environ.get("KOPT_BROKER_URL", "filesystem").partition(":")[0]
    assert broker.transport.driver_type == asked
