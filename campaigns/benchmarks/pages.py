"""Are the main pages quick, short and cheap where much is recorded?

Made-up campaigns in a database of their own. A real server process answers over HTTP; the queries
are counted with the test client of this process, which runs the same views.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping
from http.client import HTTPConnection
from statistics import median
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from campaigns.benchmarks.clients import serving
from campaigns.benchmarks.drawn import SLOWER, DrawnPage, can_draw, draw
from campaigns.benchmarks.harness import (
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    database_name,
    option,
    own_database,
    p95,
    require,
)
from campaigns.benchmarks.made_up_campaigns import PLATFORM, UNFINISHED, fill_campaigns
from campaigns.devices.discover import this_device
from campaigns.models import Campaign
from knowledge.exchange.importer import import_wiki

LIMIT_MS, MOST_QUERIES = 300, 25
PAINT_MS, BLOCKED_MS = 1500, 150
REQUESTS, REPEATS = 20, 7
# Not a page: each page asks for it, and the browser says which answer it has.
COUNT = "/review/count"
MAIN = {
    "home": "/",
    "review": "/review/",
    "campaigns": "/c/",
    "campaign": "/c/{c}/",
    "rounds": "/c/{c}/rounds/",
    "round": "/c/{c}/r/{r}/",
    "compare": "/c/{c}/compare/2..6",
    "report": "/c/{c}/report/",
    "search": "/search/?q=bandwidth+h200",
    "platform": f"/w/p/{PLATFORM}/",
    "review count": COUNT,
}
THROTTLED = ("campaign", "round")


class Counted(NamedTuple):
    """Counts of one page. processor_ms: of this process, which other ones hardly lengthen."""

    queries: int
    size: int
    processor_ms: float


def measure_pages(options: Namespace, progress: Progress) -> BenchReport:
    """Fill the database, ask for each page, and drop it again."""
    require(options, campaigns=(UNFINISHED + 1, 1500), rounds=(6, 1500), cases=(1, 200))
    with own_database() as folder, override_settings(DATA_DIR=folder / "data"):
        progress("filling …")
        import_wiki()
        person = get_user_model().objects.create_superuser("bench")
        campaign = fill_campaigns(folder, options.campaigns, options.rounds, options.cases, person)
        progress("asking …")
        paths = paths_of(campaign)
        client = Client(headers={"host": "localhost"})
        client.force_login(person)
        counted = {name: _counted(client, path) for name, path in paths.items()}
        name = settings.SESSION_COOKIE_NAME
        cookie = name, client.cookies[name].value
        with serving(folder) as port:
            asked = {name: _times_ms(port, cookie, path) for name, path in paths.items()}
            shown = {name: path for name, path in paths.items() if path != COUNT}
            drawn = draw(f"http://localhost:{port}", cookie, shown) if can_draw() else {}
        return report_of(options, counted, asked, drawn)


PAGES = Benchmark(
    "pages",
    "queries, times, words and heights of the main pages",
    (
        option("--campaigns", type=int, default=200),
        option("--rounds", type=int, default=500, help="of one of them; the others have 6"),
        option("--cases", type=int, default=20),
    ),
    measure_pages,
)


def paths_of(campaign: Campaign) -> dict[str, str]:
    """Name → the address of its page, with the incumbent's round of this campaign."""
    assert campaign.incumbent is not None
    best = campaign.incumbent.round.number
    return {name: path.format(c=campaign.pk, r=best) for name, path in MAIN.items()}


def _counted(client: Client, path: str) -> Counted:
    """What the test client is answered to a page that was asked for before."""
    before = client.get(path, headers=_headers(path, None))
    headers = _headers(path, before.headers.get("ETag"))
    with CaptureQueriesContext(connection) as seen:
        answer = client.get(path, headers=headers)
    queries, took = len(seen), []
    _require(path, answer.status_code)
    for _ in range(REPEATS):
        begun = time.process_time()
        client.get(path, headers=headers)
        took.append((time.process_time() - begun) * 1e3)
    return Counted(queries, len(answer.content), median(took))


def _times_ms(port: int, cookie: tuple[str, str], path: str) -> list[float]:
    """Milliseconds until the first byte of each answer, after one that is not counted."""
    found, known = [], None
    for _ in range(REQUESTS + 1):
        server = HTTPConnection("127.0.0.1", port, timeout=60)
        headers = _headers(path, known) | {"Host": "localhost", "Cookie": "=".join(cookie)}
        begun = time.perf_counter()
        server.request("GET", path, headers=headers)
        answer = server.getresponse()
        answer.read(1)
        found.append((time.perf_counter() - begun) * 1e3)
        known = answer.headers.get("ETag")
        answer.read()
        server.close()
        _require(path, answer.status)
    return found[1:]


def _headers(path: str, known: str | None) -> dict[str, str]:
    """What htmx and the browser add for the count. known: the mark of the last answer."""
    if path != COUNT:
        return {}
    return {"HX-Request": "true"} | ({"If-None-Match": known} if known else {})


def _require(path: str, status: int) -> None:
    if status not in (200, 304):
        raise BenchmarkError(f"{path} answered {status}")


def report_of(
    options: Namespace,
    counted: Mapping[str, Counted],
    asked: Mapping[str, list[float]],
    drawn: Mapping[str, DrawnPage],
) -> BenchReport:
    """What was found: a row a page. drawn: empty without a browser."""
    rows: list[dict[str, Any]] = []
    for name, one in counted.items():
        row = {"page": name, "queries": one.queries, "processor ms": one.processor_ms}
        row |= {"first byte p50 ms": median(asked[name]), "p95 ms": p95(asked[name])}
        row |= {"bytes": one.size}
        if drawn:
            page = drawn.get(name)
            row |= {"words": page.words if page else None, "px": page.px if page else None}
        rows.append(row)
    slowest = max(rows, key=lambda row: row["p95 ms"])
    most = max(rows, key=lambda row: row["queries"])
    paints: list[Row] = [
        {
            "page": name,
            "largest contentful paint ms": drawn[name].paint_ms,
            "total blocking ms": drawn[name].blocked_ms,
        }
        for name in THROTTLED
        if drawn
    ]
    held = slowest["p95 ms"] < LIMIT_MS and most["queries"] <= MOST_QUERIES
    held &= all(
        drawn[name].paint_ms <= PAINT_MS and drawn[name].blocked_ms <= BLOCKED_MS
        for name in THROTTLED
        if drawn
    )
    return BenchReport(
        title=f"Pages with {options.campaigns} campaigns and {options.rounds} rounds on "
        f"{database_name()}",
        question="Are the main pages quick where much is recorded?",
        device=this_device("cpu"),
        verdict=f"the slowest first byte {slowest['p95 ms']:.0f} ms ({slowest['page']}, p95 of "
        f"{REQUESTS}; limit {LIMIT_MS}), at most {most['queries']} queries ({most['page']}; limit "
        f"{MOST_QUERIES})",
        held=held,
        notes=[
            f"One campaign has {options.rounds} rounds of {options.cases} cases, the others 6. The "
            "first byte is that of a server process of its own; queries were counted in this one."
        ],
        tables=[
            ReportTable("Pages", rows),
            ReportTable(
                f"In Chromium, {SLOWER}× slower",
                paints,
                [f"Held to {PAINT_MS} ms and {BLOCKED_MS} ms."],
            ),
        ],
        packages=("django", "uvicorn"),
    )
