"""A random forest that says which points are like the good ones; failures teach it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from campaigns.strategies.encoding import Matrix, Vector

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

# The share of trials that counts as good.
GOOD = 0.2
TREES = 60
# What is left of a promise for each column in which a point differs from a tried one.
APART = 0.3


class ForestModel:
    """A surrogate model (`campaigns.strategies.model`)."""

    _trees: RandomForestClassifier

    def fit(self, rows: Matrix, slowness: Vector, seed: int) -> None:
        from sklearn.ensemble import RandomForestClassifier

        good = slowness <= np.quantile(slowness, GOOD)
        self._trees = RandomForestClassifier(TREES, min_samples_leaf=2, random_state=seed)
        self._trees.fit(rows, good)

    def promise(self, rows: Matrix) -> Vector:
        chances = self._trees.predict_proba(rows)
        return np.asarray(chances[:, -1])

    def likeness(self, rows: Matrix, row: Vector) -> Vector:
        return np.asarray(APART ** (rows != row).sum(axis=1))
