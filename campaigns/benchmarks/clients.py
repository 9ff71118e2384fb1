"""Do many clients at once get their answers, and is nothing lost or doubled?

A real server process on a database of its own, with made-up repositories; people who read pages,
and agents who read lists and hand changes in, some of them twice with the same key. Nothing is
measured meanwhile, so that every submission has to be found again as one round that waits.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client, override_settings

from campaigns.benchmarks.harness import (
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    option,
    own_database,
    p95,
    require,
    times_row,
)
from campaigns.devices.discover import ensure_platform, this_device
from campaigns.repositories.hand_in import add_repository
from campaigns.repositories.models import RepositoryRound
from knowledge.curation.tokens import new_token
from knowledge.models.token import Scope

REPOSITORIES = 10
# A person looks at what came before asking for the next.
THINK_S = (2.0, 5.0)
WRITES, REPEATED = 0.1, 0.3
GOAL_S = 0.3
START_S = 60.0
ANSWER_S = 60.0
SEED = 11
HARNESS_TABLE = """[table]
csv = "-"
metric = "us"
correct = "err"
accept = "== 0"
classes = ["n"]
[files]
change = ["kernels/*"]
"""
HARNESS = f'name = "made-up"\nbenchmark = "true"\n{HARNESS_TABLE}'
PAGES = ("/", "/c/", "/repositories/", "/repositories/{n}/", "/workers/", "/w/", "/x/")
LISTS = (
    "/api/v1/repositories/",
    "/api/v1/repository-rounds/?repository={n}",
    "/api/v1/repository-rounds/?repository={n}&format=csv",
    "/api/v1/campaigns/",
    "/api/v1/workers/",
)


@dataclass(frozen=True, slots=True)
class _Site:
    """Where the server answers, and what lets a client in."""

    port: int
    token: str
    session: str

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={self.session}"}

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(slots=True)
class _Seen:
    """What the clients were answered. taken: key → the ids of rounds that were told for it."""

    statuses: Counter[int] = field(default_factory=Counter)
    reads_s: list[float] = field(default_factory=list)
    writes_s: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    sent: set[str] = field(default_factory=set)
    accepted: dict[str, set[int]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


def measure_clients(options: Namespace, progress: Progress) -> BenchReport:
    """Fill a database, start the server, ask for a while, and look what is stored."""
    require(options, clients=(1, 2000), seconds=(1, 3600))
    with own_database() as folder, override_settings(DATA_DIR=folder / "data"):
        session, token = _fill(folder)
        with _server(folder) as port:
            progress(f"{options.clients} clients ask for {options.seconds} s …")
            seen = _Seen()
            site = _Site(port, token, session)
            _ask_all(site, seen, options.clients, options.seconds)
        stored = Counter(
            RepositoryRound.objects.exclude(change="").values_list("change", flat=True)
        )
        return _report(options, seen, stored)


CLIENTS = Benchmark(
    "clients",
    "many clients at once against a server of its own: errors, times, lost or doubled rows",
    (
        option("--clients", type=int, default=200),
        option("--seconds", type=int, default=120),
    ),
    measure_clients,
)


def _fill(folder: Path) -> tuple[str, str]:
    """Repositories to hand changes in; a session and a token of an engineer."""
    source = folder / "made-up"
    make_repository(source, {"bench.py": "print(1)\n"})
    person = User.objects.create_user("bench")
    person.groups.add(Group.objects.get(name="engineer"))
    platform = ensure_platform(this_device("cpu"))
    for _ in range(REPOSITORIES):
        add_repository(source, HARNESS, platform)
    client = Client()
    client.force_login(person)
    token = new_token(person, "bench", [Scope.READ, Scope.SUBMIT])[1]
    return client.cookies[settings.SESSION_COOKIE_NAME].value, token


def make_repository(folder: Path, files: Mapping[str, str]) -> None:
    """A git repository with these files and one kernel that may be changed."""
    (folder / "kernels").mkdir(parents=True)
    for name, text in {"kernels/one.py": "one = 1\n", **files}.items():
        (folder / name).write_text(text)
    who = ("-c", "user.name=kopt", "-c", "user.email=kopt@invalid")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """The web server as `up` starts it, on the database of this process; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    own = {
        "DATABASE_URL": _database_url(),
        "KOPT_DATA": str(folder / "data"),
        "KOPT_API_PER_MINUTE": "0",
        "KOPT_SECRET_KEY": settings.SECRET_KEY,
    }
    command = [sys.executable, "-m", "uvicorn", "kopt.asgi:application", "--port", str(port)]
    options = ["--lifespan", "off", "--no-access-log", "--log-level", "warning"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options], env={**os.environ, **own}, stdout=log, stderr=log
        )
        try:
            _await(process, port)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _database_url() -> str:
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    user = quote(found["USER"]) + (f":{quote(found['PASSWORD'])}" if found["PASSWORD"] else "")
    at = f"{user}@" if user else ""
    port = f":{found['PORT']}" if found["PORT"] else ""
    return f"postgres://{at}{found['HOST']}{port}/{found['NAME']}"


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise BenchmarkError("the server did not start")


def _ask_all(site: _Site, seen: _Seen, clients: int, seconds: float) -> None:
    # Once each, so that what a server loads at first is nobody's time.
    for path in PAGES:
        _read(site, _Seen(), path.format(n=1), site.cookie)
    for path in LISTS:
        _read(site, _Seen(), path.format(n=1), site.bearer)
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as people:
        list(people.map(partial(_client, site, seen, end), range(clients)))


def _client(site: _Site, seen: _Seen, end: float, number: int) -> None:
    """One person or agent: asks, thinks, asks again."""
    draw = random.Random(SEED * 100_000 + number)
    time.sleep(draw.uniform(0, THINK_S[1]))
    while time.monotonic() < end:
        n = draw.randint(1, REPOSITORIES)
        if draw.random() < WRITES:
            _hand_in(site, seen, n, draw)
        elif draw.random() < 0.5:
            _read(site, seen, draw.choice(PAGES).format(n=n), site.cookie)
        else:
            _read(site, seen, draw.choice(LISTS).format(n=n), site.bearer)
        time.sleep(draw.uniform(*THINK_S))


def _read(site: _Site, seen: _Seen, path: str, headers: dict[str, str]) -> None:
    begun = time.monotonic()
    if _ask(site, seen, ("GET", path), headers) is not None:
        seen.reads_s.append(time.monotonic() - begun)


def _hand_in(site: _Site, seen: _Seen, n: int, draw: random.Random) -> None:
    """A change of its own, sometimes sent twice under one key."""
    key = f"{draw.getrandbits(64):016x}"
    path = f"kernels/{key}.py"
    patch = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    fields = {"title": key, "change": key, "rationale": "made up"}
    body = json.dumps({**fields, "patch": f"{patch}@@ -0,0 +1 @@\n+one = 2\n"}).encode()
    headers = {"Idempotency-Key": key, "Content-Type": "application/json", **site.bearer}
    seen.sent.add(key)
    for _ in range(2 if draw.random() < REPEATED else 1):
        begun = time.monotonic()
        answer = _ask(site, seen, ("POST", f"/api/v1/repositories/{n}/changes/"), headers, body)
        seen.writes_s.append(time.monotonic() - begun)
        if answer is not None and answer[0] == 201:
            seen.accepted.setdefault(key, set()).add(json.loads(answer[1])["id"])


def _ask(
    site: _Site,
    seen: _Seen,
    what: tuple[str, str],
    headers: dict[str, str],
    body: bytes = b"",
) -> tuple[int, bytes] | None:
    """Status and body; None where there was no answer, which is counted with its cause."""
    connection = HTTPConnection("127.0.0.1", site.port, timeout=ANSWER_S)
    try:
        connection.request(*what, body, {"Host": "localhost", "Connection": "close", **headers})
        answer = connection.getresponse()
        found = answer.status, answer.read()
    except (OSError, HTTPException) as error:
        with seen.lock:
            seen.failures[type(error).__name__] += 1
        return None
    finally:
        connection.close()
    with seen.lock:
        seen.statuses[found[0]] += 1
    return found


def _report(options: Namespace, seen: _Seen, stored: Counter[str]) -> BenchReport:
    doubled = sum(n > 1 for n in stored.values()) + sum(
        len(ids) > 1 for ids in seen.accepted.values()
    )
    lost = len(seen.accepted.keys() - stored.keys())
    broken = sum(n for status, n in seen.statuses.items() if status >= 500)
    unanswered = sum(seen.failures.values())
    p95_s = p95(seen.reads_s) if len(seen.reads_s) > 1 else float("inf")
    held = not (doubled or lost or broken or unanswered) and p95_s < GOAL_S
    words = (
        f"{broken} answers of 500 or more, {unanswered} requests without an answer, {lost} "
        f"submissions lost and {doubled} doubled; 95 % of reads within {1000 * p95_s:.0f} ms"
    )
    answers: Row = {
        "database": connection.vendor,
        "clients": options.clients,
        "seconds": options.seconds,
        "requests": sum(seen.statuses.values()) + unanswered,
        "answers": ", ".join(f"{status}: {n}" for status, n in sorted(seen.statuses.items())),
    }
    limit = f"p95 under {1000 * GOAL_S:.0f} ms"
    times = [
        times_row("read", [1000 * s for s in seen.reads_s], limit),
        times_row("hand in", [1000 * s for s in seen.writes_s]),
    ]
    rows: Row = {
        "keys sent": len(seen.sent),
        "answered 201": len(seen.accepted),
        "stored": len(stored),
        "lost": lost,
        "doubled": doubled,
    }
    how = f"Each client thinks {THINK_S[0]:g} to {THINK_S[1]:g} s between two requests"
    return BenchReport(
        title=f"Clients: {options.clients} at once on {connection.vendor}",
        question="Do many clients at once get their answers, and is nothing lost?",
        device=this_device("cpu"),
        verdict=words,
        tables=[
            ReportTable("Requests", [answers], [f"{how}; the clients share the host's cores."]),
            ReportTable("Times in ms", times),
            ReportTable("Submissions", [rows], ["A third of the keys is sent twice."]),
        ],
        held=held,
        packages=("django", "uvicorn", "psycopg"),
    )
