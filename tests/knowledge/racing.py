"""Two people at the same moment: real threads, each with its own connection."""

import sqlite3
import threading
import time
from contextlib import contextmanager

import pytest
from django.db import connection, connections

PAUSE_S = 0.15  # long enough for the other thread to come between


@pytest.fixture
def several_connections(transactional_db, tmp_path):
    """SQLite's database in memory is for one thread: a copy of it in a file is for several."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    memory, name = connection.connection, connection.settings_dict["NAME"]
    file = str(tmp_path / "several.sqlite3")
    copy = sqlite3.connect(file)
    memory.backup(copy)
    copy.close()
    connection.connection, connection.settings_dict["NAME"] = None, file
    yield
    connection.close()
    connection.connection, connection.settings_dict["NAME"] = memory, name


def at_once(*steps):
    """Run the steps in threads that start together; what each returned or raised, in order."""
    found = [None] * len(steps)
    start = threading.Barrier(len(steps))

    def run(number):
        try:
            start.wait(10)
            found[number] = steps[number]()
        except Exception as error:  # noqa: BLE001 (the test looks at whatever it is)
            found[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


@contextmanager
def slow(monkeypatch, name):
    """Each call of this function is followed by a pause, so that whoever can come between does."""
    module, _, function = name.rpartition(".")
    original = getattr(__import__(module, fromlist=[function]), function)

    def paused(*args, **kwargs):
        done = original(*args, **kwargs)
        time.sleep(PAUSE_S)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(name, paused)
        yield
