"""One evaluator service for each file of tricks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from campaigns.devices.launch import EvaluatorService


@pytest.fixture(scope="module")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running
