"""What made inputs have in common with drawn ones: order, symmetry, sign, shares of a whole.

A kernel may rely on what its problem promises: sorted keys, a symmetric matrix, a row of
probabilities. No declaration is needed: what `setup` draws shows it, where it cannot be chance. An
input that the judge makes from a drawn one keeps the structure, or stays as drawn.
"""

from __future__ import annotations

from math import lgamma, log

import torch

# By chance would be: this rarely. Rows of n numbers are in order once in n! times.
CHANCE = 1e-9
SMALLEST_MATRIX = 3
# How far a row of probabilities may be from 1 in all, beside what its dtype rounds.
WHOLE = 1e-4


def keeps(drawn: torch.Tensor, made: torch.Tensor) -> bool:
    """Whether `made` has the structure of `drawn`, an input of the same name."""
    promises = (_rises, _falls, _is_symmetric, _is_shares, _is_not_negative, _is_not_positive)
    return all(not has(drawn) or has(made) for has in promises)


def _rises(tensor: torch.Tensor) -> bool:
    if tensor.dim() == 0 or tensor.numel() // tensor.shape[-1] * _surprise(tensor) < -log(CHANCE):
        return False
    return bool((tensor.diff(dim=-1) >= 0).all())


def _falls(tensor: torch.Tensor) -> bool:
    return _rises(-tensor)


def _surprise(tensor: torch.Tensor) -> float:
    """How unlikely one row in order is, as a logarithm."""
    return lgamma(tensor.shape[-1] + 1)


def _is_symmetric(tensor: torch.Tensor) -> bool:
    if tensor.dim() < 2 or tensor.shape[-1] < SMALLEST_MATRIX:
        return False
    return tensor.shape[-1] == tensor.shape[-2] and bool(torch.equal(tensor, tensor.mT))


def _is_not_negative(tensor: torch.Tensor) -> bool:
    """Whether no value is below zero, nor could be by chance of its sign."""
    return tensor.numel() * log(2) > -log(CHANCE) and not bool((tensor < 0).any())


def _is_not_positive(tensor: torch.Tensor) -> bool:
    """The same above zero: decays and logarithms of shares."""
    return bool((tensor < 0).any()) and _is_not_negative(-tensor)


def _is_shares(tensor: torch.Tensor) -> bool:
    """Whether every row is one of probabilities."""
    if tensor.dim() == 0 or tensor.shape[-1] < 2 or bool((tensor < 0).any()):
        return False
    off = (tensor.sum(dim=-1, dtype=torch.float64) - 1).abs().max()
    return bool(off <= WHOLE + 2 * torch.finfo(tensor.dtype).eps)
