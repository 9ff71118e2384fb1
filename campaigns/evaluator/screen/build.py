"""Builds variants: one locked-down runner compiles one after the other, and runs none."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds import memory_files
from campaigns.evaluator.contract import Outcome, Phase, backends
from campaigns.evaluator.contract.errors import CandidateError, EvaluationError, HostError, one_line
from campaigns.evaluator.contract.files import keep_whole
from campaigns.evaluator.contract.stream import FACTS_FILE, BuildFacts, BuildResult, VariantOrder
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask

MOST_BYTES = 64 << 20  # of one artefact
SAID_BYTES = 1 << 16


class BuildBench:
    """One runner that has nothing to run."""

    def __init__(self, task: JudgeTask) -> None:
        job = self._job = task.job
        self._runner = StreamRunner(task)
        self._names = backends.get(job.backend).artefacts
        self._runner.channel.phase = Phase.BUILD

    def take(self, order: VariantOrder) -> tuple[BuildResult, EvaluationError | None]:
        """Build one variant into its folder, all of it or nothing."""
        files = [memory_files.empty() for _ in self._names]
        said = memory_files.empty()
        try:
            limits, layouts = self._job.protocol.limits, tuple(self._runner.layouts.values())
            channel = self._runner.channel
            body = (order.source, layouts)
            channel.ask(Ask.BUILD_VARIANT, body, limits.build_s + limits.call_s, [*files, said])
            facts = _facts(memory_files.held(said, SAID_BYTES))
            _keep(order.artefact, dict(zip(self._names, files, strict=True)), facts)
            return BuildResult(order.number, Outcome.PASSED, facts=facts), None
        except CandidateError as error:
            words = (
                one_line(memory_files.held(said, SAID_BYTES).decode("utf-8", "replace"))
                or error.reason
            )
            broken = error if error.outcome is not Outcome.BUILD_FAILED else None
            return BuildResult(order.number, error.outcome, words[:500]), broken
        except OSError as error:
            raise HostError(f"{error.strerror}: {error.filename or order.artefact}") from None
        finally:
            for fd in (*files, said):
                os.close(fd)

    def stop(self) -> None:
        self._runner.stop()


def _keep(artefact: Path, files: dict[str, int], facts: BuildFacts) -> None:
    """Write the files into the folder, which appears with all of them. Raises OSError."""
    built = {name: memory_files.held(fd, MOST_BYTES) for name, fd in files.items()}
    keep_whole(artefact, built | {FACTS_FILE: json.dumps(asdict(facts)).encode()})


def _facts(said: bytes) -> BuildFacts:
    """The numbers that the runner wrote; the compiler ran on hostile text, so they inform."""
    try:
        found: Any = json.loads(said or b"{}")
    except ValueError:
        return BuildFacts()
    known = BuildFacts.__dataclass_fields__
    right = {k: v for k, v in found.items() if k in known and isinstance(v, int)}
    return BuildFacts(**right)
