"""What is imported is required, what is required is used, and the two lists agree."""

import re
import sys
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.source_tree import APPS, ROOT

OURS = {*APPS, "tools", "tests", "manage"}
# Used without an import of ours: what a framework or torch and Triton load by themselves.
LOADED_BY_NAME = {"numpy", "psycopg", "redis", "pymdown-extensions", "uvicorn"}

# kombu comes with celery and is the same project's; a benchmark's peer runs where it is installed.
NOT_REQUIRED = {"kombu", "kernel-tuner", "constraint"}


def requirements(name):
    """Requirement lines by package name, in the order of the file."""
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    return {re.split(r"[=<>\[]", line)[0]: line for line in lines if line}


@pytest.fixture(scope="module")
def imported(tree):
    """Distribution names of all third-party packages that the program imports."""
    owners = packages_distributions()
    tops = {dotted.split(".")[0] for m in tree.modules.values() for _, dotted in m.imports}
    tops -= {*sys.stdlib_module_names, *OURS}
    return {owner.lower().replace("_", "-") for top in tops for owner in owners.get(top, [top])}


def test_it_requires_what_it_imports(imported):
    assert sorted(imported - requirements("requirements.txt").keys() - NOT_REQUIRED) == []


def test_it_requires_nothing_that_it_does_not_use(imported):
    everything = (ROOT / "requirements.txt").read_text()
    program = everything.split("# Tests and checks")[0]
    names = [n for n in requirements("requirements.txt") if re.search(rf"^{n}\b", program, re.M)]
    settings = (ROOT / "kopt" / "settings.py").read_text()
    used = imported | LOADED_BY_NAME
    assert [n for n in names if n not in used and n.replace("-", "_") not in settings] == []


def test_it_pins_every_line():
    assert [line for line in requirements("requirements.txt").values() if "==" not in line] == []


def test_it_gives_a_worker_the_same_pins_but_no_torch():
    everything, worker = requirements("requirements.txt"), requirements("requirements-worker.txt")
    assert not {"torch", "triton"} & worker.keys()
    pins = {name: line for name, line in worker.items() if "==" in line}
    assert pins.items() <= everything.items()
    program = (ROOT / "requirements.txt").read_text().split("# Tests and checks")[0]
    assert list(worker) == [name for name in everything if re.search(rf"^{name}\b", program, re.M)]
