"""An installation of its own: data folder, database, queue, servers; and a look at it from outside.

`up` starts the web server, the flow worker and a measuring worker, and starts anew what ends. With
a broker that reaches further than the data folder there is a second measuring worker, which takes
itself for another host's. What the servers say to their database and broker goes through proxies;
what is asked here does not.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from campaigns.benchmarks.census import descendants
from campaigns.benchmarks.faults.traffic import LOCAL, PASSWORD, USER, Proxy, Visitor
from campaigns.benchmarks.harness import BenchmarkError, Progress

START_S, COMMAND_S = 300.0, 120.0
DISK_BYTES = 3 << 30
SECOND = "second"
SERVED = (
    "SELECT slug FROM knowledge_platform p JOIN campaigns_worker w ON w.platform_id = p.id LIMIT 1"
)


class Servers:
    """database, broker: the proxies; None on the embedded default. own_disk: the data folder is a
    file system of its own, whose size can be changed. logs: of all processes."""

    def __init__(self, folder: Path, database_url: str, broker_url: str, stack: ExitStack) -> None:
        self.folder = folder
        self.url = database_url or f"sqlite:///{folder / 'kopt.sqlite3'}"
        self.own_disk = os.path.ismount(folder)
        self.database = _before(database_url, stack)
        self.broker = _before(broker_url, stack)
        with socket.create_server((LOCAL, 0)) as free:
            self._port: int = free.getsockname()[1]
        self.address = f"http://{LOCAL}:{self._port}"
        own = {
            "KOPT_DATA": str(folder),
            "DATABASE_URL": _through(database_url, self.database),
            "KOPT_BROKER_URL": _through(broker_url, self.broker),
            "KOPT_DEVICE": "cpu",
            "KOPT_PASSPORT_DAYS": "0",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        }
        self.env = {**os.environ, **own}
        self.platform = ""
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def setup(self) -> str:
        return "PostgreSQL and Redis" if self.database else "SQLite and files (the default)"

    @property
    def logs(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def start(self) -> None:
        """Prepare the installation and start everything. Raises BenchmarkError."""
        self.manage("migrate", "--verbosity", "0")
        who = ("--username", USER, "--email", "faults@kopt.invalid")
        self.manage("createsuperuser", "--noinput", *who)
        self._begin("up")
        visitor = Visitor(self.address)
        deadline = time.monotonic() + START_S
        while not (served := self.select(SERVED)) or visitor.get("/login/", 10.0).status != 200:
            if time.monotonic() > deadline or self._processes["up"].poll() is not None:
                raise BenchmarkError(
                    f"the servers did not start: {self.logs[0].read_text()[-500:]}"
                )
            time.sleep(0.5)
        self.platform = served[0][0]
        if self.database:
            (self.folder / SECOND).mkdir()
            # The bare repositories, which a worker needs that runs a harness.
            (self.folder / SECOND / "lineage").symlink_to(self.folder / "lineage")
            self._begin(SECOND)

    def _begin(self, name: str) -> None:
        command, env = [sys.executable, "manage.py", "up", "--port", str(self._port)], self.env
        if name == SECOND:
            options = ("-Q", f"platform.{self.platform}", "-n", f"{SECOND}@%h", "-P", "threads")
            quiet = ("-c", "1", "--loglevel", "WARNING", "--without-gossip", "--without-mingle")
            celery = (sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "-A", "kopt")
            command = [*celery, "worker", *options, *quiet]
            if os.geteuid() == 0 and shutil.which("unshare"):
                named = f'hostname {SECOND}; exec "$@"'
                command = ["unshare", "--uts", "sh", "-c", named, "sh", *command]
            env = {**env, "KOPT_DATA": str(self.folder / SECOND)}
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command, cwd=settings.BASE_DIR, env=env, stdout=log, stderr=log
            )

    def revive(self) -> None:
        """Start `up` or the second worker again where it has ended; its log says so."""
        for name, process in list(self._processes.items()):
            if process.poll() is not None:
                with suppress(OSError), (self.folder / f"{name}.log").open("a") as log:
                    log.write(f"{name} ended with status {process.returncode}; started again\n")
                self._begin(name)

    def end(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def manage(self, *arguments: str) -> str:
        """What a command prints. Raises BenchmarkError with what it says."""
        said = " ".join(arguments)
        try:
            done = subprocess.run(
                [sys.executable, "manage.py", *arguments],
                cwd=settings.BASE_DIR,
                env=self.env,
                capture_output=True,
                text=True,
                check=True,
                timeout=COMMAND_S,
            )
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{said}: no end in {COMMAND_S:.0f} s") from None
        except subprocess.CalledProcessError as error:
            raise BenchmarkError(f"{said}: {error.stderr.strip()[-300:]}") from None
        return done.stdout

    def select(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows, past the proxy. Raises OSError where the database does not answer."""
        if self.database is None:
            try:
                path = self.url.removeprefix("sqlite:///")
                with closing(sqlite3.connect(path, timeout=5)) as file:
                    return file.execute(sql).fetchall()
            except sqlite3.Error as error:
                raise OSError(str(error)) from error
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as server:
            return list(server.execute(sql).fetchall())

    def processes(self, *words: str, below: int | None = None) -> list[int]:
        """Our processes, or those below one, whose command has all these words; below 0 none."""
        roots = [process.pid for process in self._processes.values()]
        if below is not None:
            roots = [below] if below else []
        found = []
        for pid in (pid for root in roots for pid in (root, *descendants(root))):
            with suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                if all(word.encode() in command for word in words):
                    found.append(pid)
        return found

    def used_bytes(self) -> int:
        """Bytes used on the disk of the data folder."""
        found = os.statvfs(self.folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def resize_disk(self, size_bytes: int) -> None:
        again = ("mount", "-o", f"remount,size={size_bytes}", str(self.folder))
        subprocess.run(again, check=True)


@contextmanager
def servers(database_url: str, broker_url: str, progress: Progress) -> Iterator[Servers]:
    """Everything started, and gone afterwards. Raises BenchmarkError."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="kopt-faults-")))
        own_disk = ("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "faults", str(folder))
        if os.geteuid() == 0 and not subprocess.run(own_disk, check=False).returncode:
            stack.callback(subprocess.run, ("umount", "-l", str(folder)), check=False)
        if database_url:
            database_url = stack.enter_context(_own_database(database_url))
            stack.enter_context(_own_number(broker_url))
        found = Servers(folder, database_url, broker_url, stack)
        progress(f"{found.setup}: starting the servers …")
        stack.callback(found.end)
        found.start()
        yield found


@contextmanager
def _own_database(url: str) -> Iterator[str]:
    import psycopg
    from psycopg.sql import SQL, Identifier

    name = f"kopt_faults_{os.getpid()}"

    def run(statement: str) -> None:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(SQL(statement).format(Identifier(name)))

    try:
        run("CREATE DATABASE {}")
    except psycopg.Error as error:
        raise BenchmarkError(f"--database: {str(error).splitlines()[0]}") from error
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        run("DROP DATABASE {} WITH (FORCE)")


@contextmanager
def _own_number(url: str) -> Iterator[None]:
    """A number of the Redis server that holds nothing, and holds nothing afterwards."""
    import redis

    try:
        with closing(redis.Redis.from_url(url)) as client:
            if client.dbsize():
                raise BenchmarkError(f"--broker {url}: not empty; an empty number is accepted")
            yield
            client.flushdb()
    except redis.RedisError as error:
        raise BenchmarkError(f"--broker {url}: {error}") from error


def _before(url: str, stack: ExitStack) -> Proxy | None:
    parts = urlsplit(url)
    usual = 6379 if parts.scheme == "redis" else 5432
    place = (parts.hostname or LOCAL, parts.port or usual)
    return stack.enter_context(Proxy(*place)) if url else None


def _through(url: str, proxy: Proxy | None) -> str:
    """The same address by way of the proxy."""
    if proxy is None:
        return ""
    parts = urlsplit(url)
    who, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{who}{at}{LOCAL}:{proxy.port}").geturl()


def kill(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, how)
