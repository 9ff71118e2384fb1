"""An installation of its own for tests of real workers: database, queue and processes."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.architecture.source_tree import ROOT

# Only a bound: a crowded host needs minutes for what takes a quiet one seconds.
LIMIT_S = 300.0
CEILINGS = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "kopt.settings"
import django
django.setup()
from campaigns.devices.discover import ensure_platform, this_device
from tests.campaigns.lab import give_ceilings
give_ceilings(ensure_platform(this_device()).slug)
"""


class Installation:
    """A database and a queue of their own, and the processes started on them."""

    def __init__(self, folder: Path, database_url: str, migrated: Path) -> None:
        self._migrated = migrated
        self.url = database_url or f"sqlite:///{folder / 'kopt.sqlite3'}"
        own = {"KOPT_DATA": str(folder), "DATABASE_URL": self.url, "KOPT_DEVICE": "cpu"}
        # What is tested is no number, and a crowded host need not be quiet within the limit.
        own |= {"KOPT_HEARTBEAT_S": "0.5", "KOPT_GATE": "OFF"}
        self.env = {**os.environ, **own}
        self.workers: list[subprocess.Popen[bytes]] = []

    def prepare(self) -> None:
        """The schema, and ceilings of this CPU."""
        if self.url.startswith("sqlite") and self._migrated.exists():
            shutil.copyfile(self._migrated, self.url.removeprefix("sqlite:///"))
        else:
            self.manage("migrate", "--verbosity", "0")
        ceilings = [sys.executable, "-c", CEILINGS]
        subprocess.run(ceilings, cwd=ROOT, env=self.env, check=True)

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start_worker(self, queues: str, host: str = "") -> subprocess.Popen[bytes]:
        """host: a name of its own, and a data folder: its CPU counts as another device."""
        name = f"both@{host or 'test'}"
        options = ["-Q", queues, "-n", name, "-P", "threads", "-c", "1", "-l", "WARNING"]
        command = [sys.executable, "-m", "celery", "-A", "kopt", "worker", *options]
        env = self.env
        if host:
            called = f'hostname {host}; exec "$@"'
            command = ["unshare", "--uts", "sh", "-c", called, "sh", *command]
            env = {**env, "KOPT_DATA": str(Path(env["KOPT_DATA"], host))}
            Path(env["KOPT_DATA"]).mkdir(exist_ok=True)
        worker = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.workers.append(worker)
        return worker

    def select(self, sql: str) -> list[Any]:
        if self.url.startswith("sqlite"):
            with sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=20) as database:
                return database.execute(sql).fetchall()
        import psycopg

        with psycopg.connect(self.url) as database:
            return database.execute(sql).fetchall()

    def wait(self, until: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not until():
            assert time.monotonic() < deadline, f"not within {LIMIT_S:.0f} s: {what}"
            time.sleep(0.05)


@pytest.fixture
def installation(tmp_path: Path, migrated: Path) -> Iterator[Installation]:
    url = os.environ.get("DATABASE_URL", "")
    name = f"kopt_{uuid.uuid4().hex[:8]}"
    if url.startswith("postgres"):
        _on_server(url, f"CREATE DATABASE {name}")
        url_here = urlsplit(url)._replace(path=f"/{name}").geturl()
    made = Installation(tmp_path, url_here if url.startswith("postgres") else "", migrated)
    try:
        yield made
    finally:
        for worker in made.workers:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
        if url.startswith("postgres"):
            _on_server(url, f"DROP DATABASE {name} WITH (FORCE)")


def _on_server(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as database:
        database.execute(statement)
