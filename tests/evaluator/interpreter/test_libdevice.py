"""What stands in for libdevice in Triton's interpreter exists on both sides."""

from __future__ import annotations

import importlib

import pytest
import torch

from campaigns.evaluator.interpreter.libdevice import FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_in_libdevice_and_in_torch(name):
    triton = pytest.importorskip("triton.language.extra")
    own = importlib.import_module(f"{triton.__name__}.cuda.libdevice")
    assert callable(getattr(own, name))
    assert callable(getattr(torch, FUNCTIONS[name]))
