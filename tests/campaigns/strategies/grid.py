"""Spaces to search: every combination of some values, less those that a rule forbids."""

from itertools import islice, product
from math import prod

from campaigns.benchmarks.landscapes.landscape import RecordedKnob
from campaigns.strategies.base import SearchTrial, TrialFailure


class GridSpace:
    """given: how many points it has handed out."""

    def __init__(self, *values, legal=lambda point: True):
        self.knobs = tuple(RecordedKnob(f"k{at}", tuple(each)) for at, each in enumerate(values))
        self._legal = legal
        self.given = 0

    @property
    def size(self):
        return prod(len(knob.values) for knob in self.knobs)

    def is_legal(self, point):
        known = all(point.get(knob.name) in knob.values for knob in self.knobs)
        return "" if known and self._legal(point) else "forbidden"

    def sample(self, rng):
        self.given += 1
        draws = ({k.name: rng.choice(k.values) for k in self.knobs} for _ in range(200))
        return next((point for point in draws if not self.is_legal(point)), None)

    def neighbours(self, point):
        for knob in self.knobs:
            for value in knob.values:
                near = {**point, knob.name: value}
                if value != point[knob.name] and not self.is_legal(near):
                    self.given += 1
                    yield near

    def points_at_most(self, n):
        names = [knob.name for knob in self.knobs]
        points = (
            dict(zip(names, each, strict=True)) for each in product(*(k.values for k in self.knobs))
        )
        listed = list(islice((p for p in points if not self.is_legal(p)), n))
        self.given += len(listed)
        return listed


class Bowl(GridSpace):
    """Faster the nearer each knob is to its middle; 100 µs at best. Sums above `fails` crash."""

    def __init__(self, *values, fails=float("inf"), **rest):
        super().__init__(*values, **rest)
        self._fails = fails

    def trial(self, point):
        places = [k.values.index(point[k.name]) / (len(k.values) - 1) for k in self.knobs]
        if sum(places) > self._fails:
            return SearchTrial(failure=TrialFailure.CRASHED)
        return SearchTrial(time_us=100.0 * (1 + sum((x - 0.5) ** 2 for x in places)))


def search(strategy, trial, n, batch=8):
    """Ask and tell until n points are tried or none is left; the points in their order."""
    tried = []
    while len(tried) < n and (points := strategy.ask(min(batch, n - len(tried)))):
        tried += points
        for point in points:
            strategy.tell(point, trial(point))
    return tried
