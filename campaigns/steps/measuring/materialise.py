"""Write a stored problem back into files, for the processes that read folders."""

from __future__ import annotations

from pathlib import Path

from campaigns.models import Problem


def materialise(problem: Problem, parent: Path) -> Path:
    """Write the problem's files into `parent/<slug>` and return that folder. Raises OSError."""
    folder = parent / problem.slug
    for name, text in problem.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
