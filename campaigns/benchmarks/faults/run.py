"""Break each thing in turn while a campaign runs. Is anything lost, doubled or left broken?"""

from __future__ import annotations

import signal
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from campaigns.benchmarks.faults import loads
from campaigns.benchmarks.faults.registry import FAULTS, HostFault
from campaigns.benchmarks.faults.servers import Servers, servers
from campaigns.benchmarks.faults.traffic import Visitor
from campaigns.benchmarks.faults.watch import LOOK_S, Effect, Watch, read_before
from campaigns.benchmarks.harness import (
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    option,
    require,
)
from campaigns.devices.discover import this_device

LIMIT_S = 180
# What ends with a campaign may take a moment to let go.
SETTLE_S = 5.0
HOW = (
    f"Each row is a campaign of its own, a row softmax in C++ on one case with {loads.CANDIDATES} "
    "candidates handed in. The fault comes while one of them is measured or built, or in the "
    "instant in which its result has come. Seconds count from the fault, its own length included.",
    "Noticed: the first row, line of a log or page that says so. Lost: rounds and results without "
    "an end. Doubled: two evaluations of one attempt, two rounds of one number, two verdicts of "
    "one round. Blamed: results that say bad of a candidate; each of them is right. Held: devices "
    "that somebody has hold of after the campaign's end. 500s: answers of 500 and more to a person "
    "who reloads a page.",
)


def measure_faults(options: Namespace, progress: Progress) -> BenchReport:
    """On the embedded default, and on the database and broker where they are given."""
    if bool(options.database) != bool(options.broker):
        raise BenchmarkError("--database and --broker: both or neither are accepted")
    require(options, limit_s=(30, 3600))
    words = options.only or ()
    chosen = [fault for fault in FAULTS if not words or any(word in fault.name for word in words)]
    if not chosen:
        names = ", ".join(fault.name for fault in FAULTS)
        raise BenchmarkError(f"--only {' '.join(words)}: no such fault; accepted: {names}")
    before = read_before(options.against or ())
    # So that what was started and made here also goes when this process is told to end.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    places = [] if options.database and options.no_embedded else [("", "")]
    if options.database:
        places.append((options.database, options.broker))
    tables, effects = [], []
    for place in places:
        with servers(*place, progress) as started:
            title = f"On {started.setup}"
            found = list(_each(started, chosen, options.limit_s, progress))
        effects += found
        earlier = before.get(title, {})
        rows = [one.as_row(earlier.get(one.fault, {}) if before else None) for one in found]
        tables.append(ReportTable(title, rows))
    return report_of(effects, tables, options.limit_s)


FAULT_BENCHMARK = Benchmark(
    "faults",
    "kill, cut and fill what kopt stands on, one thing at a time",
    (
        option(
            "--database", default="", help="a PostgreSQL server: postgresql://user@host/postgres"
        ),
        option("--broker", default="", help="an empty number of a Redis: redis://host:6379/9"),
        option("--no-embedded", action="store_true", help="only with these servers"),
        option("--only", action="append", metavar="WORD", help="faults with this in their name"),
        option("--limit-s", type=int, default=LIMIT_S, help="of each fault"),
        option("--against", action="append", type=Path, help="JSON of an earlier run"),
    ),
    measure_faults,
)


def report_of(
    effects: Sequence[Effect], tables: Sequence[ReportTable], limit_s: float
) -> BenchReport:
    """The verdict over all rows."""
    happened = [one for one in effects if not one.skipped]
    bad = [one for one in happened if not one.is_whole]
    lost, doubled, blamed, held = (
        sum(getattr(one, kind) for one in happened)
        for kind in ("lost", "doubled", "blamed", "held")
    )
    broken = sum(one.broken for one in happened)
    never = sum(one.result_s is None for one in happened)
    return BenchReport(
        title="Faults: what happens to a campaign and its pages",
        question="What is lost when a process is killed, or the database, the queue or the disk "
        "fails?",
        device=this_device("cpu"),
        verdict=f"{len(happened) - len(bad)} of {len(happened)} faults left nothing behind: "
        f"{lost} rounds or results lost, {doubled} doubled, {blamed} blamed on a candidate, "
        f"{held} devices held, {broken} answers of 500 or more, {never} times no result within "
        f"{limit_s} s",
        tables=tables,
        held=not bad,
        notes=HOW,
        packages=("django", "celery", "psycopg", "redis"),
    )


def _each(
    started: Servers, chosen: Sequence[HostFault], limit_s: float, progress: Progress
) -> Iterator[Effect]:
    visitor = Visitor(started.address)
    visitor.log_in(limit_s)
    for fault in chosen:
        if lacking := fault.lacks(started):
            yield Effect(fault.name, skipped=f"needs {lacking}")
            continue
        progress(f"{fault.name} …")
        found = _try(started, fault, visitor, limit_s)
        progress(f"  {found.as_row(None)}")
        yield found


def _try(started: Servers, fault: HostFault, visitor: Visitor, limit_s: float) -> Effect:
    """One campaign with this fault in it. Where not even the beginning works, all is lost."""
    found = Effect(fault.name)
    try:
        campaign = loads.new_campaign(started)
        deadline = time.monotonic() + limit_s
        while not (pid := fault.moment(started, campaign)):
            if time.monotonic() > deadline:
                raise BenchmarkError(f"its moment did not come within {limit_s:.0f} s")
            time.sleep(0.02)
        with Watch(found, started, campaign, visitor):
            deadline = time.monotonic() + limit_s
            try:
                found.note = fault.inject(started, campaign, pid)
            except BenchmarkError as error:
                found.note, found.unmet = str(error), True
            while not found.finished and time.monotonic() < deadline:
                time.sleep(LOOK_S)
            time.sleep(SETTLE_S)
        found.count(started, campaign)
    except (BenchmarkError, OSError) as error:
        return Effect(fault.name, f"{found.note} {error}".strip(), lost=loads.CANDIDATES)
    return found
