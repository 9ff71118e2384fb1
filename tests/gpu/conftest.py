"""One service for the tests of a file: a card is started once."""

from collections.abc import Iterator

import pytest

from campaigns.devices.launch import EvaluatorService


@pytest.fixture(scope="module")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running
