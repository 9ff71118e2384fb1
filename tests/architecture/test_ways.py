"""The two ways that the architecture page names are short, and each step is where it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(r"^(\d+)\. `([\w/]+\.py)` \w", re.MULTILINE)


def ways() -> list[list[str]]:
    found: list[list[str]] = []
    for number, path in STEP.findall((ROOT / "docs/architecture.md").read_text()):
        if number == "1":
            found.append([])
        found[-1].append(path)
    return found


@pytest.mark.parametrize(("way", "most"), [(0, 20), (1, 9)])
def test_a_way_is_short_and_every_module_of_it_is_there(way: int, most: int) -> None:
    modules = ways()[way]
    assert 5 < len(modules) <= most
    assert [path for path in modules if not (ROOT / path).is_file()] == []
