"""Is the team's experience found at once? Made-up attempts in a database of their own, and times.

The attempts are invented and go nowhere: the database is created for the measurement and dropped
after it. The strategies and platforms are those of the shipped wiki.
"""

from __future__ import annotations

import gc
import os
import resource
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.db import connection, models

from campaigns.benchmarks.harness import (
    Benchmark,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    database_name,
    option,
    own_database,
    p95,
    require,
    times_row,
)
from campaigns.benchmarks.made_up import FREQUENT, Imagination, fill, skewed
from campaigns.devices.discover import this_device
from knowledge.exchange.importer import import_wiki
from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Question
from knowledge.models import (
    Experience,
    Platform,
    SearchRow,
    SearchWord,
    Strategy,
    StrategyKind,
    TrackRecord,
)
from knowledge.search.find import ask, search

SEED = 26
MIB = 1 << 20
SEARCH_LIMIT_MS, RECOMMEND_LIMIT_MS = 150, 50
WARM_UP = 20  # questions that are not timed
TABLES = (TrackRecord, Experience, SearchRow, SearchWord)


# A question, timed: what is peculiar about it, and milliseconds.
TimedAsk = tuple[str, float]


def measure_experience(options: Namespace, progress: Progress) -> BenchReport:
    """Create the database, fill it, ask, and drop it again."""
    require(options, entries=(100, None), queries=(100, None))
    with own_database():
        progress("reading the shipped wiki …")
        import_wiki()
        cards = Platform.objects.filter(vendor__in=("NVIDIA", "AMD"), kind="gpu").order_by("slug")
        techniques = Strategy.objects.filter(kind=StrategyKind.TECHNIQUE, withdrawn=False)
        imagined = Imagination(
            SEED,
            list(cards.values_list("slug", "target", "vendor")),
            list(techniques.order_by("slug").values_list("slug", "backend")),
        )
        progress(f"writing {options.entries:,} attempts …")
        begun = time.monotonic()
        fill(imagined.attempts(options.entries))
        took = time.monotonic() - begun
        progress(f"asking, after {took:.0f} s …")
        gc.collect()
        gc.freeze()  # as kopt.asgi does: what filling left behind is not of these questions
        searched = _timed(
            (kind, partial(_search, text, facets))
            for kind, text, facets in searches(imagined, options.queries)
        )
        recommended = _timed(
            (kind, partial(recommend, question))
            for kind, question in questions(imagined, options.queries)
        )
        return report_of(options.entries, took, searched, recommended)


EXPERIENCE = Benchmark(
    "experience",
    "search and recommend over made-up experience",
    (
        option("--entries", type=int, default=1_000_000),
        option("--queries", type=int, default=1_000, help="of each"),
    ),
    measure_experience,
)


def report_of(
    entries: int, filled_s: float, searched: Sequence[TimedAsk], recommended: Sequence[TimedAsk]
) -> BenchReport:
    """What the times come to, with what the connected database holds."""
    search_ms, recommend_ms = (p95([ms for _, ms in asked]) for asked in (searched, recommended))
    return BenchReport(
        title=f"Experience of {entries:,} attempts on {database_name()}",
        question="Is the team's experience found at once?",
        device=this_device("cpu"),
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
                    *_rows("search", searched, SEARCH_LIMIT_MS),
                    *_rows("recommend", recommended, RECOMMEND_LIMIT_MS),
                ],
            ),
            ReportTable("Tables", [_sizes(model) for model in TABLES]),
            ReportTable("Memory", _memory()),
        ],
        packages=("django", "psycopg"),
    )


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
                [table, table, f"{table}_fts%"],
            )
        held, indexes = cursor.fetchone()
    return {
        "table": table,
        "rows": model._default_manager.count(),
        "table MiB": (held or 0) / MIB,
        "indexes MiB": (indexes or 0) / MIB,
    }


def _memory() -> list[Row]:
    """Memory of this process; the server of PostgreSQL has its own."""
    now = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    found = {
        "resident while asking": now,
        "most resident, with writing": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers'"
            )
            found["shared_buffers of the server"] = cursor.fetchone()[0]
    return [{"memory": name, "MiB": size / MIB} for name, size in found.items()]


def searches(imagined: Imagination, n: int) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """So many queries: their kind, text and facets."""
    by = imagined.by
    for at, context in enumerate(imagined.contexts(n)):
        some = skewed(by, FREQUENT.split(), by.randrange(1, 5), 0.5)
        scope = {"op": context.op, "backend": context.backend, "platform": context.platform}
        match at % 8:
            case 0 | 1:
                yield "words", " ".join(some), {}
            case 2:
                yield "words and facets", " ".join(some[:2]), scope
            case 3:
                yield "facets alone", "", {"op": context.op, "outcome": "worked"}
            case 4:
                yield "operation, chip, words", f"{context.op} {context.arch} {some[0]}", {}
            case 5:
                yield "a rare word", by.choice(imagined.rare), {}
            case 6:
                # The first word has two letters changed for each other.
                first, swap = some[0], by.randrange(max(1, len(some[0]) - 1))
                swapped = first[:swap] + first[swap : swap + 2][::-1] + first[swap + 2 :]
                yield "a misspelled word", " ".join((swapped, *some[1:])), {}
            case _:
                yield "nonsense", f"{by.getrandbits(60):x} {some[0]}", {}


def questions(imagined: Imagination, n: int) -> Iterator[tuple[str, Question]]:
    """So many questions to recommend: half of them with the facts of a profile."""
    for at, context in enumerate(imagined.contexts(n)):
        known: dict[str, Any] = {}
        if at % 2:
            known = {"bottleneck": context.bottleneck, "size_log2": context.size_log2 + 0.5}
        names = ("op", "backend", "platform", "dtype")
        question = Question(**{name: getattr(context, name) for name in names}, **known)
        yield "with a profile" if at % 2 else "without", question


def _rows(name: str, asked: Sequence[TimedAsk], limit_ms: int) -> list[Row]:
    """One row for all questions, and one for each kind."""
    rows = [times_row(name, [ms for _, ms in asked], f"p95 under {limit_ms} ms")]
    for kind in dict.fromkeys(kind for kind, _ in asked):
        rows.append(times_row(f"{name}: {kind}", [ms for of, ms in asked if of == kind]))
    return rows


def _search(text: str, facets: Mapping[str, str]) -> object:
    """Parsed and searched as a page does."""
    return search(ask(text, facets))


def _timed(asks: Iterable[tuple[str, Callable[[], object]]]) -> list[TimedAsk]:
    listed = list(asks)
    for _, question in listed[:WARM_UP]:
        question()
    timed = []
    for kind, question in listed:
        begun = time.perf_counter()
        question()
        timed.append((kind, (time.perf_counter() - begun) * 1e3))
    return timed
