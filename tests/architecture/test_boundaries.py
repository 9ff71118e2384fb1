"""Pure code uses the standard library, and packages on the way to it load nothing.

Who may import whom is a matter of the contracts in pyproject.toml, which `lint-imports` checks.
Each rule here is a function that lists its violations; each is also shown a tree that breaks it.
"""

import subprocess
import sys

import pytest

from tests.architecture.source_tree import ROOT

WEB = {"django", "celery", "kombu", "rest_framework", "django_htmx", "whitenoise", "uvicorn"}
PURE = {
    "knowledge.specs": {"pint", "markdown_it"},
    "campaigns.rules": {"pint"},
    "campaigns.spaces": {"libcst", "tree_sitter", "tree_sitter_cpp", "tree_sitter_cuda"},
    "knowledge.charts": set(),
    "knowledge.experience.terms": set(),
}
PURE_MAY_USE = (
    "knowledge.specs",
    "knowledge.charts",
    "knowledge.experience.terms",
    "knowledge.experience.wording",
    "campaigns.rules",
    "campaigns.spaces",
    "campaigns.syntax",
    "campaigns.profiles.isa",
    "campaigns.profiles.occupancy",
    "campaigns.evaluator.contract",
    "campaigns.evaluator.contract.signature",
    "campaigns.rules.verdict.finding_kinds",
)
EMPTY_PACKAGES = {"knowledge", "knowledge.experience", "campaigns", "campaigns.evaluator"}

PROBE = """
import importlib, pkgutil, sys
unwanted = set(sys.argv[1].split(","))
for name in sys.argv[2:]:
    package = importlib.import_module(name)
    place = getattr(package, "__path__", [])
    for found in pkgutil.walk_packages(place, f"{name}."):
        if not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                assert error.name in {"torch", "triton"}, error
    for loaded in sorted(unwanted & set(sys.modules)):
        print(name, loaded)
"""
# In this order, as one process imports all: the first that loads what is unwanted is named first.
WITHOUT_WEB = (
    *("knowledge.specs", "campaigns.rules", "campaigns.benchmarks.search.peer"),
    "campaigns.evaluator",
)


def impurities(tree, start, allowed):
    """Imports under `start` of anything but the standard library, `allowed` and pure modules."""
    found = []
    for name in tree.arrows:
        if not _lies_in(name, start):
            continue
        for target, chain in tree.reaches(name).items():
            top = target.split(".")[0]
            ours = any(_lies_in(target, pure) for pure in PURE_MAY_USE)
            packages = any(_lies_in(pure, target) for pure in PURE_MAY_USE)
            if not (top in sys.stdlib_module_names or top in allowed or ours or packages):
                found.append(" → ".join(chain))
    return found


def filled_packages(tree):
    """Packages that every import passes through must not load anything themselves."""
    return [m.path for m in tree.program if m.name in EMPTY_PACKAGES and list(m.imports)]


@pytest.mark.parametrize("package", PURE)
def test_it_keeps_pure_code_pure(tree, package):
    assert impurities(tree, package, PURE[package]) == []


def test_it_keeps_the_packages_on_the_way_empty(tree):
    assert filled_packages(tree) == []


def probed(unwanted, packages):
    command = [sys.executable, "-c", PROBE, ",".join(unwanted), *packages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_none_loads_a_web_framework_when_imported():
    assert probed({*WEB, "kopt"}, WITHOUT_WEB) == []


def test_the_probe_sees_what_is_loaded():
    assert probed({"json", "csv"}, ["csv", "json"]) == ["csv csv", "json csv", "json json"]


def test_it_sees_a_package_that_loads_something(tree_with):
    tree = tree_with(
        {
            "campaigns/__init__.py": "import celery",
            "campaigns/evaluator/__init__.py": "",
            "campaigns/evaluator/judge/clock.py": "import time",
        }
    )
    assert filled_packages(tree) == ["campaigns/__init__.py"]


def test_it_sees_an_impure_rule(tree_with):
    tree = tree_with(
        {"campaigns/rules/noise/gain.py": "import math, numpy\nfrom pathlib import Path"}
    )
    assert impurities(tree, "campaigns.rules", {"pint"}) == ["campaigns.rules.noise.gain → numpy"]


def _lies_in(name, package):
    return name == package or name.startswith(f"{package}.")
