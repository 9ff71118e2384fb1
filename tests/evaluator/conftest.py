"""One evaluator service for the whole folder: a fresh process per candidate comes from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Report, Source
from tests.evaluator import small


@pytest.fixture(scope="session")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    return small.write_problem(tmp_path)


@pytest.fixture
def judge(service: EvaluatorService, problem: Path, tmp_path: Path) -> Callable[..., Report]:
    """Evaluate a candidate of the tiny problem; leaves no scratch behind."""

    def run(candidate: Source, **more: object) -> Report:
        report = service.evaluate(small.job(problem, tmp_path, candidate, **more))
        assert not (tmp_path / "scratch").exists()
        return report

    return run
