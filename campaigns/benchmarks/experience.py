"""Fill a database of its own, ask, and report times, sizes and memory."""

from __future__ import annotations

import gc
import os
import platform
import resource
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from django.db import connection, models

from campaigns.benchmarks.experience.asking import (
    RECOMMEND_LIMIT_MS,
    SEARCH_LIMIT_MS,
    TimedAsk,
    p95,
    rows_of,
    time_recommend,
    time_searches,
)
from campaigns.benchmarks.experience.load import FTS, TABLES, fill
from campaigns.benchmarks.experience.made_up import Imagination, MadeUpPlatform
from campaigns.benchmarks.harness import (
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    option,
    versions,
)
from campaigns.benchmarks.own_database import own_database
from knowledge.exchange.importer import import_wiki
from knowledge.models import Platform, Strategy, StrategyKind, TrackRecord

SEED = 26
MIB = 1 << 20


def measure_experience(options: Namespace, progress: Progress) -> BenchReport:
    """Create the database, fill it, ask, and drop it again."""
    for flag in ("entries", "queries"):
        if (given := getattr(options, flag)) < 100:
            raise BenchmarkError(f"--{flag} {given}: 100 or more is accepted")
    with own_database():
        progress("reading the shipped wiki …")
        import_wiki()
        imagined = Imagination(SEED, _platforms(), _strategies())
        progress(f"writing {options.entries:,} attempts …")
        begun = time.monotonic()
        fill(imagined.attempts(options.entries), options.entries)
        took = time.monotonic() - begun
        progress(f"asking, after {took:.0f} s …")
        gc.collect()
        gc.freeze()  # as kopt.asgi does: what filling left behind is not of these questions
        searched = time_searches(imagined, options.queries)
        recommended = time_recommend(imagined, options.queries)
        return report_of(options.entries, took, searched, recommended)


EXPERIENCE = Benchmark(
    "experience",
    "search and recommend over made-up experience",
    (
        option("--entries", type=int, default=1_000_000, help="default: 1000000"),
        option("--queries", type=int, default=1_000, help="of each; default: 1000"),
    ),
    measure_experience,
)


def report_of(
    entries: int, filled_s: float, searched: Sequence[TimedAsk], recommended: Sequence[TimedAsk]
) -> BenchReport:
    """What the times come to, with what the connected database holds."""
    search_ms, recommend_ms = p95(searched), p95(recommended)
    numbers = ".".join(map(str, connection.get_database_version()))
    return BenchReport(
        title=f"Experience of {entries:,} attempts on {connection.vendor} {numbers}",
        device="",
        verdict=f"19 of 20 searches took less than {search_ms:.0f} ms (limit {SEARCH_LIMIT_MS}), "
        f"19 of 20 recommendations less than {recommend_ms:.0f} ms (limit {RECOMMEND_LIMIT_MS}).",
        held=search_ms < SEARCH_LIMIT_MS and recommend_ms < RECOMMEND_LIMIT_MS,
        notes=[
            f"{TrackRecord.objects.count():,} contexts, made up for this run with the strategies "
            f"and platforms of the shipped wiki. Writing them took {filled_s:.0f} s."
        ],
        tables=[
            ReportTable(
                "Questions",
                [
                    *rows_of("search", searched, SEARCH_LIMIT_MS),
                    *rows_of("recommend", recommended, RECOMMEND_LIMIT_MS),
                ],
            ),
            ReportTable("Tables", [_sizes(model) for model in TABLES]),
            ReportTable("Memory", _memory()),
        ],
        versions=versions(None, "django", "psycopg") | {"processor": _processor()},
    )


def _platforms() -> list[MadeUpPlatform]:
    rows = Platform.objects.filter(vendor__in=("NVIDIA", "AMD"), kind="gpu").order_by("slug")
    return [MadeUpPlatform(row.slug, row.target, row.vendor) for row in rows]


def _strategies() -> list[tuple[str, str]]:
    rows = Strategy.objects.filter(kind=StrategyKind.TECHNIQUE, withdrawn=False)
    return list(rows.order_by("slug").values_list("slug", "backend"))


def _sizes(model: type[models.Model]) -> Row:
    """Rows, and MiB of the table with its long values and of its indexes."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_table_size(%s), pg_indexes_size(%s)", [table, table])
        else:
            cursor.execute(
                "SELECT sum(pgsize) FILTER (WHERE name = %s), sum(pgsize) FILTER (WHERE name IN "
                "(SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = %s) OR "
                "name LIKE %s) FROM dbstat",
                [table, table, f"{table}_fts%" if FTS.startswith(f"{table}_fts") else ""],
            )
        held, indexes = cursor.fetchone()
    return {
        "table": table,
        "rows": model._default_manager.count(),
        "table MiB": (held or 0) / MIB,
        "indexes MiB": (indexes or 0) / MIB,
    }


def _memory() -> list[Row]:
    """Of this process; the server of PostgreSQL has its own."""
    now = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    rows: list[Row] = [
        {"memory": "resident while asking", "MiB": now / MIB},
        {"memory": "most resident, with writing", "MiB": most / MIB},
    ]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers'"
            )
            rows.append(
                {"memory": "shared_buffers of the server", "MiB": cursor.fetchone()[0] / MIB}
            )
    return rows


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
