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


@dataclass(slots=True)
class Crowd:
    """The clients of one server, and what they were answered.

    cookie, bearer: headers that let a person and an agent in. accepted: key → the ids of rounds
    that were told for it.
    """

    port: int
    cookie: dict[str, str]
    bearer: dict[str, str]
    statuses: Counter[int] = field(default_factory=Counter)
    reads_s: list[float] = field(default_factory=list)
    writes_s: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    sent: set[str] = field(default_factory=set)
    accepted: dict[str, set[int]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def client(self, end: float, number: int) -> None:
        """One person or agent: asks, thinks, asks again until `end` on the monotonic clock."""
        draw = random.Random(SEED * 100_000 + number)
        time.sleep(draw.uniform(0, THINK_S[1]))
        while time.monotonic() < end:
            n = draw.randint(1, REPOSITORIES)
            if draw.random() < WRITES:
                self.hand_in(n, draw)
            elif draw.random() < 0.5:
                self.read(draw.choice(PAGES).format(n=n), self.cookie)
            else:
                self.read(draw.choice(LISTS).format(n=n), self.bearer)
            time.sleep(draw.uniform(*THINK_S))

    def read(self, path: str, headers: dict[str, str]) -> None:
        begun = time.monotonic()
        if self._ask("GET", path, headers) is not None:
            self.reads_s.append(time.monotonic() - begun)

    def hand_in(self, n: int, draw: random.Random) -> None:
        """A change of its own, sometimes sent twice under one key."""
        key = f"{draw.getrandbits(64):016x}"
        path = f"kernels/{key}.py"
        patch = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        fields = {"title": key, "change": key, "rationale": "made up"}
        body = json.dumps({**fields, "patch": f"{patch}@@ -0,0 +1 @@\n+one = 2\n"}).encode()
        headers = {"Idempotency-Key": key, "Content-Type": "application/json", **self.bearer}
        self.sent.add(key)
        for _ in range(2 if draw.random() < REPEATED else 1):
            begun = time.monotonic()
            answer = self._ask("POST", f"/api/v1/repositories/{n}/changes/", headers, body)
            self.writes_s.append(time.monotonic() - begun)
            if answer is not None and answer[0] == 201:
                self.accepted.setdefault(key, set()).add(json.loads(answer[1])["id"])

    def _ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes = b""
    ) -> tuple[int, bytes] | None:
        """Status and body; None where there was no answer, which is counted with its cause."""
        server = HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        own = {"Host": "localhost", "Connection": "close", **headers}
        try:
            server.request(method, path, body, own)
            answer = server.getresponse()
            found = answer.status, answer.read()
        except (OSError, HTTPException) as error:
            with self.lock:
                self.failures[type(error).__name__] += 1
            return None
        finally:
            server.close()
        with self.lock:
            self.statuses[found[0]] += 1
        return found


def measure_clients(options: Namespace, progress: Progress) -> BenchReport:
    """Fill a database, start the server, ask for a while, and look what is stored."""
    require(options, clients=(1, 2000), seconds=(1, 3600))
    with own_database() as folder, override_settings(DATA_DIR=folder / "data"):
        source = folder / "made-up"
        make_repository(source, {"bench.py": "print(1)\n"})
        person = User.objects.create_user("bench")
        person.groups.add(Group.objects.get(name="engineer"))
        platform = ensure_platform(this_device("cpu"))
        for _ in range(REPOSITORIES):
            add_repository(source, HARNESS, platform)
        client = Client()
        client.force_login(person)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
        token = new_token(person, "bench", [Scope.READ, Scope.SUBMIT])[1]
        bearer = {"Authorization": f"Bearer {token}"}
        with serving(folder) as port:
            progress(f"{options.clients} clients ask for {options.seconds} s …")
            crowd, first = Crowd(port, cookie, bearer), Crowd(port, cookie, bearer)
            # Once each, so that what a server loads at first is nobody's time.
            for path in PAGES:
                first.read(path.format(n=1), cookie)
            for path in LISTS:
                first.read(path.format(n=1), bearer)
            end = time.monotonic() + options.seconds
            with ThreadPoolExecutor(options.clients) as people:
                list(people.map(partial(crowd.client, end), range(options.clients)))
        changes = RepositoryRound.objects.exclude(change="").values_list("change", flat=True)
        return report_of(options, crowd, Counter(changes))


CLIENTS = Benchmark(
    "clients",
    "many clients at once against a server of its own: errors, times, lost or doubled rows",
    (option("--clients", type=int, default=200), option("--seconds", type=int, default=120)),
    measure_clients,
)


def make_repository(folder: Path, files: Mapping[str, str]) -> None:
    """A git repository with these files and one kernel that may be changed."""
    (folder / "kernels").mkdir(parents=True)
    for name, text in {"kernels/one.py": "one = 1\n", **files}.items():
        (folder / name).write_text(text)
    who = ("-c", "user.name=kopt", "-c", "user.email=kopt@invalid")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """The web server as `up` starts it, on the database of this process; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    found = connection.settings_dict
    url = f"sqlite:///{found['NAME']}"
    if connection.vendor != "sqlite":
        password = f":{quote(found['PASSWORD'])}" if found["PASSWORD"] else ""
        user = f"{quote(found['USER'])}{password}@" if found["USER"] else ""
        place = f"{found['HOST']}:{found['PORT']}" if found["PORT"] else found["HOST"]
        url = f"postgres://{user}{place}/{found['NAME']}"
    own = {
        "DATABASE_URL": url,
        "KOPT_DATA": str(folder / "data"),
        "KOPT_API_PER_MINUTE": "0",
        "KOPT_SECRET_KEY": settings.SECRET_KEY,
    }
    command = [sys.executable, "-m", "uvicorn", "kopt.asgi:application", "--port", str(port)]
    command += ["--lifespan", "off", "--no-access-log", "--log-level", "warning"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + START_S
            while not _answers(port):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise BenchmarkError("the server did not start")
                time.sleep(0.2)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def report_of(options: Namespace, seen: Crowd, stored: Counter[str]) -> BenchReport:
    """What was answered, and stored as rounds by the key in their change."""
    doubled = sum(n > 1 for n in stored.values())
    doubled += sum(len(ids) > 1 for ids in seen.accepted.values())
    lost = len(seen.accepted.keys() - stored.keys())
    broken = sum(n for status, n in seen.statuses.items() if status >= 500)
    unanswered = sum(seen.failures.values())
    p95_s = p95(seen.reads_s) if len(seen.reads_s) > 1 else float("inf")
    held = not (doubled or lost or broken or unanswered) and p95_s < GOAL_S
    words = (
        f"{broken} answers of 500 or more, {unanswered} requests without an answer, {lost} "
        f"submissions lost and {doubled} doubled; 95 % of reads within {1000 * p95_s:.0f} ms"
    )
    requests: Row = {
        "database": connection.vendor,
        "clients": options.clients,
        "seconds": options.seconds,
        "requests": sum(seen.statuses.values()) + unanswered,
        "answers": ", ".join(f"{status}: {n}" for status, n in sorted(seen.statuses.items())),
    }
    reads_ms, writes_ms = ([1000 * s for s in each] for each in (seen.reads_s, seen.writes_s))
    times = [
        times_row("read", reads_ms, f"p95 under {1000 * GOAL_S:.0f} ms"),
        times_row("hand in", writes_ms),
    ]
    submissions: Row = {
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
            ReportTable("Requests", [requests], [f"{how}; the clients share the host's cores."]),
            ReportTable("Times in ms", times),
            ReportTable("Submissions", [submissions], ["A third of the keys is sent twice."]),
        ],
        held=held,
        packages=("django", "uvicorn", "psycopg"),
    )
