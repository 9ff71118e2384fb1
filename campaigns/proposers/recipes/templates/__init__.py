"""Kernel sources that recipes emit; each file is a complete piece of C++, CUDA or Triton."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def template(name: str) -> str:
    """The text of one template file."""
    return (FOLDER / name).read_text(encoding="utf-8")
