"""A Gaussian process, asked for its expected improvement (Jones, Schonlau and Welch 1998)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from campaigns.strategies.encoding import Matrix, Vector

if TYPE_CHECKING:
    from sklearn.gaussian_process import GaussianProcessRegressor

# Bounds of the process, for knobs from 0 to 1 and a spread of 1: its own spread, how far along a
# knob points resemble each other, and how much of what is measured is noise.
SPREAD, LENGTH, NOISE = (0.05, 20.0), (0.05, 20.0), (1e-6, 0.1)


class GaussianModel:
    """A surrogate model (`campaigns.strategies.model`)."""

    _process: GaussianProcessRegressor | None = None
    _least = 0.0

    def fit(self, rows: Matrix, slowness: Vector, seed: int) -> None:
        """Begun where the last fit ended."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        shape = Matern(np.ones(rows.shape[1]), LENGTH, nu=2.5)
        kernel = ConstantKernel(1.0, SPREAD) * shape + WhiteKernel(1e-3, NOISE)
        if self._process is not None:
            kernel = self._process.kernel_
        self._least = float(slowness.min())
        self._process = GaussianProcessRegressor(kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process.fit(rows, slowness)

    def promise(self, rows: Matrix) -> Vector:
        from scipy.stats import norm

        assert self._process is not None
        mean, sigma = self._process.predict(rows, return_std=True)
        noise = self._process.kernel_.k2.noise_level
        sigma = np.sqrt(np.maximum(sigma**2 - noise, 1e-12))
        ahead = self._least - mean
        return np.asarray(ahead * norm.cdf(ahead / sigma) + sigma * norm.pdf(ahead / sigma))

    def likeness(self, rows: Matrix, row: Vector) -> Vector:
        assert self._process is not None
        return np.asarray(self._process.kernel_.k1.k2(rows, row.reshape(1, -1))[:, 0])
