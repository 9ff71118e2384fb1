"""The result of a round and the noise of a repository, as their rows keep them."""

from __future__ import annotations

from typing import Any

import msgspec

from campaigns.models import Repository, RepositoryRound
from campaigns.rules.harness.decide import HarnessResult, Noise


def result_of(row: RepositoryRound) -> HarnessResult | None:
    """What the tables showed; None where nothing was compared."""
    return msgspec.convert(row.result, HarnessResult) if row.result else None


def noise_at(repository: Repository) -> Noise:
    """Raises msgspec.ValidationError before the baseline."""
    return msgspec.convert(repository.noise, Noise)


def stored(value: HarnessResult | Noise) -> dict[str, Any]:
    """As the rows keep it."""
    found: dict[str, Any] = msgspec.to_builtins(value)
    return found
