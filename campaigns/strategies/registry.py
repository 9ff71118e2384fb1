"""The strategies by name, and the one that is taken where none is named."""

from __future__ import annotations

from campaigns.strategies.annealing import Annealing
from campaigns.strategies.base import SearchStrategy
from campaigns.strategies.genetic import Genetic
from campaigns.strategies.model import Forest, Gaussian, Portfolio
from campaigns.strategies.random_sampling import RandomSampling

STRATEGIES: dict[str, type[SearchStrategy]] = {
    "random": RandomSampling,
    "annealing": Annealing,
    "genetic": Genetic,
    "forest": Forest,
    "gaussian": Gaussian,
    "portfolio": Portfolio,
}
# Of all here and of Kernel Tuner the one that needed the fewest evaluations, over all recorded
# landscapes (docs/benchmarks/search-replay.md).
DEFAULT = "annealing"


def strategy_named(name: str) -> type[SearchStrategy]:
    """Raises ValueError, which says what is accepted."""
    if name not in STRATEGIES:
        raise ValueError(f"{name}: {', '.join(STRATEGIES)} are accepted")
    return STRATEGIES[name]
