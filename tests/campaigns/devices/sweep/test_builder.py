"""A host without the device builds real variants; another one loads what it has packed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.devices.sweep import build_cache
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.devices.sweep.loop import SweepLoop
from campaigns.devices.sweep.shared_work import BuilderWork
from campaigns.evaluator.contract import Case, Job, Source
from campaigns.evaluator.contract import backends as base
from campaigns.evaluator.contract.files import dump_line
from campaigns.evaluator.contract.stream import BuildResult
from campaigns.problems.shipped import problem_folder
from tests.campaigns.devices.sweep.test_loop import Listed, other
from tests.evaluator import small
from tests.evaluator.small import LOOP, source


@dataclass
class Orders:
    """A fake of `SweepOrders` with these variants; keeps what is finished."""

    variants: list[Source]
    built: dict[int, BuildResult] = field(default_factory=dict)
    artefacts: dict[int, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._left = iter(enumerate(map(dump_line, self.variants)))

    def claim(self, most: int, share: object) -> list[Any]:
        taken = itertools.islice(self._left, most)
        return [SimpleNamespace(pk=key, source=line) for key, line in taken]

    def finish(
        self, key: int, holder: str, built: BuildResult, screened: None, artefact: bytes | None
    ) -> bool:
        assert (holder, screened) == ("mine", None)
        self.built[key], self.artefacts[key] = built, artefact
        return True


def build_all(service: EvaluatorService, job: Job, cache: BuildCache, *variants: Source) -> Orders:
    orders = Orders([*variants])

    def goes_on() -> bool:
        return len(orders.built) < len(variants)

    share: Any = SimpleNamespace(holder="mine")
    board: Any = orders
    work = BuilderWork(board, share, cache, goes_on, lambda: None)
    SweepLoop(service, job, cache, job.scratch.parent, builders=1).run(work)
    assert work.done == len(variants)
    return orders


def test_what_another_host_built_is_screened_and_not_built_again(
    service: EvaluatorService, problem: Path, tmp_path: Path
) -> None:
    job = small.job(problem, tmp_path, source(LOOP))
    there, here = BuildCache(tmp_path / "there", job), BuildCache(tmp_path / "here", job)
    right, broken = other(1), other(2, "int k = ; " + LOOP)
    orders = build_all(service, job, there, right, broken)
    assert [str(result.outcome) for result in orders.built.values()] == ["passed", "build_failed"]
    packed = orders.artefacts[0]
    assert packed
    assert orders.artefacts[1] is None
    for _ in range(2):  # one that is there already does no harm
        here.unpack(right, packed)
    listed = Listed([right])
    SweepLoop(service, job, here, tmp_path, builders=1).run(listed)
    assert listed.outcomes == ["passed"]
    assert listed.builds[0].wall_s == 0.0


def test_what_is_too_large_is_not_packed(
    service: EvaluatorService, problem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_cache, "MOST_PACKED_BYTES", 100)
    job = small.job(problem, tmp_path, source(LOOP))
    orders = build_all(service, job, BuildCache(tmp_path / "there", job), other(1))
    assert orders.artefacts == {0: b""}


def test_a_host_without_a_gpu_builds_for_one(service: EvaluatorService, tmp_path: Path) -> None:
    if not base.get("triton").compiler():
        pytest.skip("no triton here")
    folder = problem_folder("softmax")
    text = Source("v0.py", (folder / "v0.py").read_text())
    cases = (Case("small", {"N": 64, "D": 256}),)
    job = small.job(folder, tmp_path, text)
    job = replace(job, backend="triton", device="cuda:0", target="sm_90a", cases=cases)
    cache = BuildCache(tmp_path / "there", job)
    orders = build_all(service, job, cache, text)
    assert orders.built[0].outcome == "passed", orders.built[0].reason
    packed = orders.artefacts[0]
    assert packed
    assert len(packed) < 1 << 20
    other_target = BuildCache(tmp_path / "there", replace(job, target="sm_100a"))
    assert other_target.place_of(text) != cache.place_of(text)
