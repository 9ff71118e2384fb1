"""Variants of one candidate in one runner: many are built, or loaded one after the other."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict

from campaigns.evaluator.builds.kernel import CandidateKernel
from campaigns.evaluator.builds.memory_files import fill
from campaigns.evaluator.builds.python_error import place_of
from campaigns.evaluator.contract import Job, Source, backends
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.programs import headline
from campaigns.evaluator.sandbox import folder
from campaigns.evaluator.sandbox.workplace import Workplace


class Variants:
    """What a runner does for a stream of variants of the job's candidate."""

    def __init__(self, job: Job, place: Workplace) -> None:
        self._job = job
        self._place = place
        self._source = job.candidate
        self._said = -1

    @property
    def starts_programs(self) -> bool:
        """Whether loading one may need a compiler."""
        return self._kernel(self._source).starts_programs

    def build(self, source: Source, examples: Sequence[Layout], files: list[int]) -> None:
        """Compile into memory files, the last of which takes what the compiler said.

        Raises BuildFailed, whose headline the last file then holds.
        """
        self._listen(source, files)
        folder.clear(self._place.folder)
        kernel = self._kernel(source)
        facts = kernel.build_into(examples, files[:-1])
        fill(files[-1], json.dumps(asdict(facts)).encode())

    def take(self, source: Source, example: Layout, files: list[int]) -> CandidateKernel:
        """Load one that was built; the last file takes the words of any error from now on."""
        self._listen(source, files)
        kernel = self._kernel(source)
        kernel.take(example, files[:-1])
        kernel.load()
        for fd in files[:-1]:
            os.close(fd)
        return kernel

    def _kernel(self, source: Source) -> CandidateKernel:
        made: CandidateKernel = backends.get(self._job.backend).make(self._job, source, self._place)
        return made

    def _listen(self, source: Source, files: Sequence[int]) -> None:
        if self._said >= 0:
            os.close(self._said)
        self._source, self._said = source, files[-1]

    def explain(self, error: BaseException) -> None:
        """Leave an error's words where the judge finds them; hostile code may raise any."""
        if self._said >= 0:
            words = place_of(error, self._source) or headline(f"{error}")
            fill(self._said, words.encode("utf-8", "replace"))
