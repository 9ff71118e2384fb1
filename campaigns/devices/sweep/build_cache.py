"""Builds kept by content: the same source, flags, compiler and target are built once.

A folder a build, under a name that is a digest of all that it depends on. What was not used for the
longest is removed when the whole takes more than it may.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Job, Source
from campaigns.evaluator.contract import backends as base
from campaigns.evaluator.contract.stream import FACTS_FILE, BuildFacts

LIMIT_BYTES = 4 << 30
DIGEST = 40


class BuildCache:
    """Artefacts of one job's variants under `folder`."""

    def __init__(self, folder: Path, job: Job) -> None:
        self._folder = folder
        backend = base.get(job.backend)
        # Triton compiles for what the cases' arguments are divisible by.
        cases = [dict(case.params) for case in job.cases]
        reference = (job.problem / "ref.py").read_text()
        self._fixed = [job.backend, job.target, backend.compiler(), cases, reference]

    def made(self) -> Path:
        """The folder of all builds, which is there from now on where it can be."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder.resolve()

    def place_of(self, source: Source) -> Path:
        """The folder of what is built, or will be, of a source."""
        parts: list[Any] = [*self._fixed, source.text, list(source.flags)]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:DIGEST]
        return self._folder / digest[:2] / digest

    def find(self, source: Source) -> BuildFacts | None:
        """The facts of a build that is there, which counts as used; None where there is none."""
        place = self.place_of(source)
        try:
            found: Mapping[str, Any] = json.loads((place / FACTS_FILE).read_text())
            os.utime(place)
        except (OSError, ValueError):
            return None
        return BuildFacts(**found)

    def trim(self) -> int:
        """Remove the builds that were not used for the longest; bytes that are left."""
        rows = []
        for place in self._folder.glob("??/*"):
            try:
                size = sum(file.stat().st_size for file in place.iterdir())
                rows.append((place.stat().st_mtime, size, place))
            except OSError:
                continue  # another process removes it
        total = sum(size for _, size, _ in rows)
        for _, size, place in sorted(rows):
            if total <= LIMIT_BYTES:
                break
            shutil.rmtree(place, ignore_errors=True)
            total -= size
        return total
