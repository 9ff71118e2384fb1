"""`bench`: what measures kopt itself, one verb a benchmark."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from campaigns.benchmarks.clients import CLIENTS
from campaigns.benchmarks.experience import EXPERIENCE
from campaigns.benchmarks.faults.run import FAULT_BENCHMARK
from campaigns.benchmarks.harness import Benchmark, BenchmarkError
from campaigns.benchmarks.pages import PAGES
from campaigns.benchmarks.precision import PRECISION
from campaigns.benchmarks.search.screened import SEARCH
from campaigns.benchmarks.soak import SOAK
from campaigns.benchmarks.trial import TRIAL
from campaigns.benchmarks.trust import TRUST
from campaigns.benchmarks.wiki import WIKI
from campaigns.benchmarks.work import WORK
from campaigns.management.base_command import BaseCommand, ExitCode, Exits, Verb, argument

BENCHMARKS = (
    TRUST,
    PRECISION,
    TRIAL,
    SOAK,
    WIKI,
    EXPERIENCE,
    SEARCH,
    CLIENTS,
    PAGES,
    FAULT_BENCHMARK,
    WORK,
)
OUT = argument("--out", type=Path, help="write a report here; .json or .md")


class Command(BaseCommand):
    help = "Measure kopt itself: whom it believes, how precise it is, what it costs."
    exits: ClassVar[Exits] = {BenchmarkError: ExitCode.USAGE}

    def verbs(self) -> tuple[Verb, ...]:
        return tuple(
            Verb(
                benchmark.name,
                benchmark.help,
                partial(self._measure, benchmark),
                (*(argument(flag, **words) for flag, words in benchmark.options), OUT),
            )
            for benchmark in BENCHMARKS
        )

    def _measure(self, benchmark: Benchmark, *, out: Path | None, **options: Any) -> None:
        if out is not None and out.suffix not in (".json", ".md"):
            self.fail(ExitCode.USAGE, f"--out {out}: a name ending in .json or .md is accepted")
        report = benchmark.finish(_command(), Namespace(**options), self.progress)
        data, text = report.as_data(), report.as_markdown()
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n" if out.suffix == ".json" else text)
        self.emit(data, text.rstrip())
        if not report.held:
            self.fail(ExitCode.USAGE, report.verdict)


def _command() -> str:
    """This command as another machine would be given it: folders by their names alone."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return " ".join(["python", "manage.py", *words])
