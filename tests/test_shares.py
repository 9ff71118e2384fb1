"""A share of the long tests leaves out none of the others, and all shares together none at all."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.architecture.source_tree import ROOT

WHERE = ("tests/evaluator/tricks", "tests/evaluator/judge/correctness/test_output_comparison.py")


# One process for all of them: most of a collection is the import of what it collects.
COLLECT = """
import os, sys, pytest
for share in sys.argv[1].split(","):
    os.environ["KOPT_TESTS_SHARE"] = share
    print("share", share, flush=True)
    if status := pytest.main(["--collect-only", "-q", *sys.argv[2:]]):
        sys.exit(int(status))
"""


def collected(*shares: str) -> list[set[str]]:
    """The names of the tests that are left with each of these shares."""
    command = [sys.executable, "-c", COLLECT, ",".join(shares), *WHERE]
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=True)
    parts = re.split(r"^share .*$", done.stdout, flags=re.MULTILINE)[1:]
    return [{line for line in part.splitlines() if "::" in line} for part in parts]


def test_each_long_test_is_in_one_share_and_each_other_in_all():
    everything, *shares = collected("", "0/3", "1/3", "2/3")
    assert len(shares) == 3
    assert set.union(*shares) == everything
    always = set.intersection(*shares)
    assert {name for name in everything if "test_compare" in name} <= always
    judged = {name for name in everything if "test_it_lets_pass[" in name}
    assert judged
    assert not judged & always
    assert sum(len(share - always) for share in shares) == len(everything - always)
