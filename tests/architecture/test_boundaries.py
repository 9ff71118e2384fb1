"""Imports go one way: kopt → campaigns → knowledge, doors → steps, and the evaluator stands alone.

Each rule is a function that lists its violations; each is also shown a tree that breaks it.
"""

import subprocess
import sys

import pytest

from tests.architecture.source_tree import ROOT

WEB = {"django", "celery", "kombu", "rest_framework", "django_htmx", "whitenoise", "uvicorn"}
# What opens to the outside, by folder; a page's views and its template tags are one door.
DOORS = {
    "views": "web",
    "templatetags": "web",
    "api": "api",
    "mcp": "mcp",
    "management": "commands",
    "tasks": "tasks",
}
# The only modules outside a door that may name one: they hang it into the framework.
HINGES = {"urls", "apps", "celery"}
PURE = {
    "knowledge.specs": {"pint"},
    "campaigns.rules": {"pint"},
}
PURE_MAY_USE = (
    "knowledge.specs",
    "campaigns.rules",
    "campaigns.evaluator.contract",
    "campaigns.rules.verdict.finding_kinds",
)
EMPTY_PACKAGES = {"knowledge", "campaigns", "campaigns.evaluator"}

PROBE = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            assert error.name in {"torch", "triton"}, error
print(*sorted(set(sys.argv[2:]) & set(sys.modules)))
"""


def wrong_ways(tree, start, forbidden):
    """Chains from the modules under `start` to a top-level package in `forbidden`."""
    return [
        " → ".join(chain)
        for name in tree.arrows
        if _lies_in(name, start)
        for target, chain in tree.reaches(name).items()
        if target.split(".")[0] in forbidden
    ]


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


def opened_doors(tree):
    """Imports of a door by anything but itself, the same door of the other app, and the hinges."""
    found = []
    for name, targets in tree.arrows.items():
        if name.split(".")[-1] in HINGES or name == "kopt":
            continue
        for target in targets:
            door = _door(target)
            own = _door(name)
            if door and target in tree.modules and (own is None or own[1] != door[1]):
                found.append(f"{name} → {target}")
    return found


def filled_packages(tree):
    """Packages that every import passes through must not load anything themselves."""
    return [m.path for m in tree.program if m.name in EMPTY_PACKAGES and list(m.imports)]


def test_it_keeps_knowledge_from_campaigns_and_the_entry_points(tree):
    assert wrong_ways(tree, "knowledge", {"campaigns", "kopt"}) == []


def test_it_keeps_campaigns_from_the_entry_points(tree):
    assert wrong_ways(tree, "campaigns", {"kopt"}) == []


def test_it_keeps_the_evaluator_to_itself(tree):
    assert wrong_ways(tree, "campaigns.evaluator", WEB | {"kopt", "knowledge"}) == []
    reached = {
        t for n in tree.arrows if _lies_in(n, "campaigns.evaluator") for t in tree.reaches(n)
    }
    others = {t for t in reached if _lies_in(t, "campaigns")} - {"campaigns"}
    assert sorted(t for t in others if not _lies_in(t, "campaigns.evaluator")) == []


@pytest.mark.parametrize("package", PURE)
def test_it_keeps_pure_code_pure(tree, package):
    assert impurities(tree, package, PURE[package]) == []


def test_it_opens_no_door_from_inside(tree):
    assert opened_doors(tree) == []


def test_it_keeps_the_packages_on_the_way_empty(tree):
    assert filled_packages(tree) == []


@pytest.mark.parametrize("package", ["campaigns.evaluator", "campaigns.rules", "knowledge.specs"])
def test_it_loads_no_web_framework_when_imported(package):
    command = [sys.executable, "-c", PROBE, package, *WEB, "kopt"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_it_sees_an_indirect_import(tree_with):
    tree = tree_with(
        {
            "knowledge/specs/quantity.py": "from knowledge import models",
            "knowledge/models/__init__.py": "import knowledge.models.spec",
            "knowledge/models/spec.py": "def late():\n    from campaigns.rules.noise import gain",
            "campaigns/rules/noise/gain.py": "",
        }
    )
    assert "knowledge.models.spec → campaigns.rules.noise.gain" in wrong_ways(
        tree, "knowledge", {"campaigns"}
    )
    assert any(
        chain.startswith("knowledge.specs.quantity → ")
        and chain.endswith("campaigns.rules.noise.gain")
        for chain in wrong_ways(tree, "knowledge.specs", {"campaigns"})
    )


def test_it_sees_an_import_through_a_package(tree_with):
    tree = tree_with(
        {
            "campaigns/__init__.py": "import celery",
            "campaigns/evaluator/__init__.py": "",
            "campaigns/evaluator/judge/clock.py": "import time",
        }
    )
    assert wrong_ways(tree, "campaigns.evaluator", WEB) == [
        "campaigns.evaluator → campaigns → celery",
        "campaigns.evaluator.judge.clock → campaigns → celery",
    ]
    assert filled_packages(tree) == ["campaigns/__init__.py"]


def test_it_sees_an_impure_rule(tree_with):
    tree = tree_with(
        {"campaigns/rules/noise/gain.py": "import math, numpy\nfrom pathlib import Path"}
    )
    assert impurities(tree, "campaigns.rules", {"pint"}) == ["campaigns.rules.noise.gain → numpy"]


def test_it_sees_a_door_opened_from_inside(tree_with):
    tree = tree_with(
        {
            "campaigns/tasks.py": "from campaigns.steps import judge",
            "campaigns/steps/rounds/judge.py": "from campaigns import tasks",
            "campaigns/views/rounds.py": "from campaigns.views import guards",
            "campaigns/views/guards.py": "",
            "campaigns/urls.py": "from campaigns.views import rounds",
        }
    )
    assert opened_doors(tree) == ["campaigns.steps.rounds.judge → campaigns.tasks"]


def _lies_in(name, package):
    return name == package or name.startswith(f"{package}.")


def _door(name):
    """The app and door that `name` lies in; None for what lies in no door."""
    app, _, rest = name.partition(".")
    door = DOORS.get(rest.split(".")[0])
    return (app, door) if door else None
