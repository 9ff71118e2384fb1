"""Is a big wiki still quick? A made-up wiki in a database of its own, and times over it.

The figures are invented and go nowhere: the database is created for the measurement and dropped
after it. Times stand beside one fetch by primary key in the same run, the least any page can cost.
"""

from __future__ import annotations

import gc
import random
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median

from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

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
    times_row,
)
from campaigns.devices.discover import this_device
from knowledge.curation.store import NewSpec, store_specs
from knowledge.exchange.batches import confirm, undo
from knowledge.exchange.check import check_wiki
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.lookup.value import find
from knowledge.models import Document, Platform, Revision, Spec, SpecState
from knowledge.models.document import text_hash
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank, SourceKind, SpecFacts
from knowledge.specs.metrics import METRICS, MetricDefinition

LOOKUPS = 500
SHEETS = 40
IMPORTS = (1_000, 10_000)  # new values of one platform; ten times as many take ten times as long
PER_IMPORTED = 500  # values of one imported document
FILES = (200, 2_000, 6_000)  # small documents of one import, each with a value
SEED = 3


def measure_wiki(options: Namespace, progress: Progress) -> BenchReport:
    """Create the database, fill it, ask, and drop it again."""
    specs, documents = options.specs, options.documents
    if not 1 <= documents <= specs:
        accepted = f"1 to --specs ({specs}) is accepted"
        raise BenchmarkError(f"--documents {documents}: {accepted}")
    with own_database() as folder:
        progress(f"filling {documents:,} documents with {specs:,} values …")
        fill(specs, documents)
        progress("asking …")
        return report_of(specs, documents, folder)


WIKI = Benchmark(
    "wiki",
    "lookup, sheet, check and import of a made-up big wiki",
    (option("--specs", type=int, default=100_000), option("--documents", type=int, default=5_000)),
    measure_wiki,
)


def fill(specs: int, documents: int, specs_per_platform: int = 200) -> None:
    """Platforms, documents with their spec lines, specs, citations and history."""
    platforms = Platform.objects.bulk_create(
        Platform(
            slug=f"made-up-{n}",
            name=f"Made-up {n}",
            vendor=f"Maker {n % 7}",
            arch=f"Arch {n % 23}",
            kind="gpu",
            target="sm_1",
            aliases=[f"Made-up {n}"],
        )
        for n in range(-(-specs // specs_per_platform))
    )
    asked = list(islice(_questions(), specs_per_platform))
    lines = ((platforms[n // len(asked)], _facts(n, asked)) for n in range(specs))
    for number in range(documents):
        group = list(islice(lines, -(-specs // documents)))
        title, path = f"Made-up {number}", f"docs/made-up/{number}.md"
        head = _head(title, group[0][0].slug)
        text = head + "".join(f"{facts}\n" for _, facts in group)
        document = Document.objects.create(path=path, title=title, origin="made up")
        revision = Revision.objects.create(
            document=document, number=1, sha256=text_hash(text), text=text
        )
        store_specs(
            (
                NewSpec(facts, platform, revision, line, line, str(facts), SpecState.APPROVED, "")
                for line, (platform, facts) in enumerate(group, head.count("\n") + 1)
            ),
            None,
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


Question = tuple[MetricDefinition, dict[str, str]]  # with its qualifiers


def _questions() -> Iterator[Question]:
    """Every number of a platform; then the peaks again, at one clock after another."""
    numeric = [metric for metric in METRICS.values() if metric.numeric]
    yield from ((metric, {}) for metric in numeric)
    clocked = [metric for metric in numeric if "clock" in metric.qualifiers]
    for clock in count(1000):
        yield from ((metric, {"clock": f"{clock}MHz"}) for metric in clocked)


def _facts(n: int, asked: Sequence[Question]) -> SpecFacts:
    """The n-th made-up value; every question has one preferred answer."""
    metric, qualifiers = asked[n % len(asked)]
    shown = f"{1 + n % 997} {metric.unit}"
    return SpecFacts(
        metric.name,
        shown,
        EvidenceClass.DOCUMENTED,
        SourceKind.VENDOR,
        "made up",
        rank=Rank.PREFERRED,
        qualifiers=qualifiers,
    )


def _head(name: str, slug: str) -> str:
    block = PlatformFacts(slug, name, "Maker", "Arch", PlatformKind.GPU, "sm_1")
    return f"# {name}\n\n## Platform\n\n{block}\n\n## Specs\n\n"


def made_up_folder(values: int, per_document: int = PER_IMPORTED) -> dict[str, str]:
    """Path → text of documents with so many values of one platform that is not there yet."""
    head = _head("Brought", "brought")
    asked = list(islice(_questions(), values))
    lines = [f"{_facts(n, asked)}\n" for n in range(values)]
    return {
        f"docs/brought/{first}.md": head + "".join(lines[first : first + per_document])
        for first in range(0, values, per_document)
    }


def report_of(specs: int, documents: int, folder: Path) -> BenchReport:
    """Ask the filled wiki. folder: to work in. Raises RuntimeError for an answer that is wrong."""
    draw = random.Random(SEED)
    keys = list(Spec.objects.values_list("pk", flat=True))
    asked = Spec.objects.select_related("platform").in_bulk(draw.sample(keys, LOOKUPS))
    slugs = list(Platform.objects.values_list("slug", flat=True))
    fetches = [_ms(partial(Spec.objects.get, pk=key)) for key in asked]
    lookups = [_ms(partial(_look_up, spec)) for spec in asked.values()]
    gc.collect()
    gc.freeze()  # as kopt.asgi does: what filling left behind is not of these pages
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.create_superuser("bench"))
    _sheet(client, slugs[0])
    sheets = [_ms(partial(_sheet, client, slug)) for slug in draw.choices(slugs, k=SHEETS)]
    (folder / "empty").mkdir()
    begun = time.perf_counter()
    if problems := check_wiki(folder / "empty"):
        raise RuntimeError(f"the made-up wiki does not hold: {problems[0]}")
    check_s = time.perf_counter() - begun
    plans = [(values, _ms(partial(_plan, values)) / 1e3) for values in IMPORTS]
    imports = [_small_files(files) for files in FILES]
    ratio = median(lookups) / median(fetches)
    return BenchReport(
        title=f"A wiki of {specs:,} values on {database_name()}",
        question="Is a big wiki still quick?",
        device=this_device("cpu"),
        verdict=f"A lookup costs {ratio:.1f}× a fetch by primary key (medians of the same run, "
        f"{LOOKUPS} each). Checking every citation took {check_s:.1f} s.",
        notes=[f"{documents:,} documents and {len(slugs):,} platforms, made up for this run."],
        tables=[
            ReportTable(
                "Questions",
                [
                    times_row("lookup of one question", lookups, "p95 under 20 ms"),
                    times_row("spec sheet, whole page", sheets, "under 200 ms"),
                    times_row("fetch by primary key", fetches),
                ],
            ),
            ReportTable(
                "Imports",
                [{"values": n, "plan s": s, "values per s": round(n / s)} for n, s in plans],
            ),
            ReportTable("Imports of small files, one value each", imports),
        ],
        packages=("django",),
    )


def _look_up(spec: Spec) -> None:
    found = find(spec.platform, spec.metric, **spec.qualifiers)
    if found is None or found.pk != spec.pk or found.citation is None:
        raise RuntimeError(f"{spec} was not found by its own question")


def _sheet(client: Client, slug: str) -> None:
    answer = client.get(f"/w/p/{slug}/")
    if answer.status_code != 200:
        raise RuntimeError(f"/w/p/{slug}/ answered {answer.status_code}")


def _plan(values: int) -> None:
    """Plan an import of so many values, which is to run it and to take it back."""
    plan = plan_import(WikiFiles("brought", made_up_folder(values)), None).plan
    if plan["refused"] or plan["counts"]["specs_added"] != values:
        raise RuntimeError(f"the made-up import is not taken: {plan['documents'][0]['note']}")


def _small_files(files: int) -> Row:
    """Plan such an import, confirm it and undo it: seconds of each."""
    texts = made_up_folder(files, 1)
    begun = time.perf_counter()
    batch = plan_import(WikiFiles("brought", texts), None)
    plan_s = time.perf_counter() - begun
    if batch.plan["refused"] or len(batch.plan["documents"]) != files:
        raise RuntimeError(f"the made-up files are not taken: {batch.plan['documents'][0]['note']}")
    confirm_s = _ms(partial(confirm, batch, None)) / 1e3
    undo_s = _ms(partial(undo, batch, None, "made up")) / 1e3
    spent = {"plan s": plan_s, "confirm s": confirm_s, "undo s": undo_s}
    return {"files": files, **spent, "ms per file": 1e3 * (plan_s + confirm_s) / files}


def _ms(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1e3
