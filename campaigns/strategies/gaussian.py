"""Bayesian optimisation: a Gaussian process of log time, asked for its expected improvement.

Jones, Schonlau and Welch 1998 (EGO). A failure counts as slow as the slowest that was measured.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from campaigns.strategies.encoding import Matrix, Vector
from campaigns.strategies.model import ModelSearch

if TYPE_CHECKING:
    from sklearn.gaussian_process import GaussianProcessRegressor

# Bounds of the process, for values from 0 to 1 and a spread of log times of 1: its own spread,
# how far along a knob times resemble each other, and how much of a time is noise.
SPREAD, LENGTH, NOISE = (0.05, 20.0), (0.05, 20.0), (1e-6, 0.1)


class GaussianProcess(ModelSearch):
    """Its expected gain is that of the best point it knew of when it was last asked."""

    _model: GaussianProcessRegressor | None = None
    _gain = math.inf

    def expected_gain(self) -> float:
        return self._gain

    def _scores(self, rows: Matrix) -> Vector:
        from scipy.stats import norm

        log_us = self.log_times()
        self._model = self._fitted(self._encode([point for point, _ in self.told]), log_us)
        mean, sigma = self._model.predict(rows, return_std=True)
        noise = self._model.kernel_.k2.noise_level * log_us.var()
        sigma = np.sqrt(np.maximum(sigma**2 - noise, 1e-12))
        ahead = log_us.min() - mean
        scores = np.asarray(ahead * norm.cdf(ahead / sigma) + sigma * norm.pdf(ahead / sigma))
        self._gain = float(scores.max())
        return scores

    def _likeness(self, rows: Matrix, row: Vector) -> Vector:
        if self._model is None:
            return np.zeros(len(rows))
        return np.asarray(self._model.kernel_.k1.k2(rows, row.reshape(1, -1))[:, 0])

    def _fitted(self, known: Matrix, log_us: Vector) -> GaussianProcessRegressor:
        """Begun where the last one ended."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        shape = Matern(np.ones(self._encode.width), LENGTH, nu=2.5)
        kernel = ConstantKernel(1.0, SPREAD) * shape + WhiteKernel(1e-3, NOISE)
        if self._model is not None:
            kernel = self._model.kernel_
        model = GaussianProcessRegressor(kernel, normalize_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(known, log_us)
