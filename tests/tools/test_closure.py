"""What a module loads of ours is counted, wherever it imports it."""

from __future__ import annotations

import pytest

from tools.closure import closure_lines, printed

TEXTS = {
    "campaigns/__init__.py": "",
    "campaigns/judge/__init__.py": "from campaigns import clock\n",
    "campaigns/judge/main.py": (
        "import os\n"
        "from typing import TYPE_CHECKING\n"
        "from campaigns.judge import check\n"
        "if TYPE_CHECKING:\n"
        "    from campaigns import typed\n"
        "def work():\n"
        "    from .late import spare\n"
    ),
    "campaigns/judge/check.py": "import campaigns.judge.main\n",
    "campaigns/judge/late.py": "spare = 1\n",
    "campaigns/clock.py": "now = 1\n\n",
    "campaigns/typed.py": "x = 1\n",
    "campaigns/other.py": "x = 1\n",
}


@pytest.fixture
def house(tmp_path):
    for name, text in TEXTS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_it_counts_what_can_be_loaded_and_the_packages_on_the_way(house):
    assert closure_lines("campaigns.judge.main", house) == {
        "campaigns": 0,
        "campaigns.clock": 2,
        "campaigns.judge": 1,
        "campaigns.judge.check": 1,
        "campaigns.judge.late": 1,
        "campaigns.judge.main": 7,
    }


def test_it_prints_the_largest_first_and_the_sum(house):
    lines = list(printed(closure_lines("campaigns.judge.main", house)))
    assert lines[0].endswith("campaigns.judge.main")
    assert lines[-1] == "12 lines in 5 modules"
