"""The result of a round and the noise of a repository, as their rows keep them."""

from __future__ import annotations

from typing import Any

import msgspec

from campaigns.models import Repository, RepositoryRound
from campaigns.rules.harness.decide import HarnessResult, Noise, Proven


def result_of(row: RepositoryRound) -> HarnessResult | None:
    """What the tables showed; None where nothing was compared."""
    return msgspec.convert(row.result, HarnessResult) if row.result else None


def proven_of(row: RepositoryRound) -> Proven | None:
    """What kopt's judge found; None where it was not asked."""
    return msgspec.convert(row.proven, Proven) if row.proven else None


def noise_at(repository: Repository) -> Noise:
    """Raises msgspec.ValidationError before the baseline."""
    return msgspec.convert(repository.noise, Noise)


def stored(value: HarnessResult | Noise | Proven) -> dict[str, Any]:
    """As the rows keep it."""
    found: dict[str, Any] = msgspec.to_builtins(value)
    return found
