"""Stand-ins for modules that an evaluator imports at its top and that an evaluation never uses."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType


def stand_in_for(*names: str) -> list[str]:
    """Put an empty module that has every name where one is not installed; those so replaced."""
    replaced = [n for n in names if n not in sys.modules and importlib.util.find_spec(n) is None]
    for name in replaced:
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__getattr__ = _attribute  # type: ignore[method-assign]
        sys.modules[name] = module
    return replaced


def _attribute(name: str) -> Callable[..., None]:
    """Whatever is asked for, but nothing that tells what a module is: `inspect` reads those."""
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *given, **more: None
