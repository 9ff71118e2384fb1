"""A random forest that says which points look like the good ones; failures teach it as well."""

from __future__ import annotations

import numpy as np

from campaigns.strategies.encoding import Matrix, Vector
from campaigns.strategies.model import ModelSearch

GOOD = 0.2
TREES = 60


class Forest(ModelSearch):
    def _scores(self, rows: Matrix) -> Vector:
        from sklearn.ensemble import RandomForestClassifier

        log_us = self.log_times()
        good = log_us <= np.quantile(log_us, GOOD)
        known = self._encode([point for point, _ in self.told])
        forest = RandomForestClassifier(
            TREES, min_samples_leaf=2, random_state=self.random.randrange(2**31)
        )
        forest.fit(known, good)
        if len(forest.classes_) < 2:
            return np.ones(len(rows))
        return np.asarray(forest.predict_proba(rows)[:, 1])

    def _likeness(self, rows: Matrix, row: Vector) -> Vector:
        return np.asarray(0.3 ** (np.abs(rows - row) > 0).sum(axis=1))
