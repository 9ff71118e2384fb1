"""A share of the long tests leaves out none of the others, and all shares together none at all."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.architecture.source_tree import ROOT

WHERE = ("tests/evaluator/tricks", "tests/evaluator/test_compare.py")


def collected(share: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *WHERE]
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    env = {**kept, "KOPT_TESTS_SHARE": share}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_each_long_test_is_in_one_share_and_each_other_in_all():
    everything, shares = collected(""), [collected(f"{number}/3") for number in range(3)]
    assert set.union(*shares) == everything
    always = set.intersection(*shares)
    assert {name for name in everything if "test_compare" in name} <= always
    judged = {name for name in everything if "test_it_lets_pass[" in name}
    assert judged
    assert not judged & always
    assert sum(len(share - always) for share in shares) == len(everything - always)
