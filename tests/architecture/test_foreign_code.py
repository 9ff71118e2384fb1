"""Every place that runs code is on the list of docs/foreign-code.md, with what encloses it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.source_tree import ROOT, Module

LISTED = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
RUNS = {
    *("exec", "eval", "compile", "__import__", "builtins.exec", "builtins.eval"),
    *("importlib.import_module", "importlib.util.spec_from_file_location", "code.interact"),
    *("runpy.run_path", "runpy.run_module", "os.system", "os.popen", "os.fork", "os.forkpty"),
    *("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call"),
    *("subprocess.check_output", "subprocess.getoutput", "pty.spawn", "pty.fork"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
    *("multiprocessing.Process", "multiprocessing.Pool", "ctypes.CDLL", "ctypes.PyDLL"),
    *("concurrent.futures.ProcessPoolExecutor", "pickle.load", "pickle.loads", "marshal.loads"),
    *("shelve.open", "torch.load", "torch.jit.load", "joblib.load", "numpy.load"),
    *("pandas.read_pickle", "yaml.load", "yaml.unsafe_load"),
}
FAMILIES = ("os.exec", "os.spawn", "os.posix_spawn")


def runs(module: Module) -> set[str]:
    """The calls of a module that run something, by their full names."""
    names = _names(module.tree)
    found = {
        _full(node.func, names) for node in ast.walk(module.tree) if isinstance(node, ast.Call)
    }
    # Of a loader's module, whatever the loader is called.
    return {
        name
        for name in found
        if name in RUNS or name.startswith(FAMILIES) or name.endswith(".exec_module")
    }


def _names(tree: ast.Module) -> dict[str, str]:
    """What the names of a module stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.asname or a.name.split(".")[0]: a.asname and a.name for a in node.names}
    return {name: full or name for name, full in found.items()}


def _full(node: ast.expr, names: dict[str, str]) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ".".join(["", *reversed(parts)])
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def listed() -> set[str]:
    return set(LISTED.findall((ROOT / "docs" / "foreign-code.md").read_text()))


def test_every_place_that_runs_code_is_listed(tree):
    assert sorted({m.path for m in tree.program if runs(m)} - listed()) == []


def test_every_place_that_is_listed_runs_code(tree):
    assert sorted(listed() - {m.path for m in tree.program if runs(m)}) == []


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.system('true')",
        "from os import system as s\ns('true')",
        "import subprocess as p\np.Popen([])",
        "from importlib import util\nutil.spec_from_file_location('a', 'b').loader.exec_module(m)",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "import os\nos.execvp('sh', [])",
        "exec('1')",
    ],
)
def test_it_would_see_a_new_place(text):
    assert runs(Module("campaigns/new.py", "campaigns.new", text, ast.parse(text)))


def test_only_locked_processes_load_a_reference(tree):
    """Who makes a `ProblemCode`: what runs in the box, and a benchmark with problems of ours."""
    users = {m.path for m in tree.program if "ProblemCode(" in m.text}
    assert users == {
        "campaigns/evaluator/problem_code/ask.py",
        "campaigns/evaluator/problem_code/serve.py",
    }
