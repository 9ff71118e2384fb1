"""Small modules and functions with names that say something, and no excuse left in the text.

Each rule is a function that lists its violations; each is also shown a tree that breaks it.
"""

import ast
import re

from tests.architecture.source_tree import PROBLEMS, ROOT

MODULE_LINES = 400
FUNCTION_LINES = 60
PARAMETERS = 7
ATTICS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
# Where a process ends or somebody else's code is called: everything is caught and turned into a
# record. One handler each; a file that needs more should share one.
BROAD_EXCEPTS = {
    "campaigns/evaluator/sandbox/processes.py": 1,  # a forked child's outermost edge
    "campaigns/evaluator/builds/device_plan.py": 1,  # the candidate, while its calls are captured
    "campaigns/evaluator/backends/triton.py": 1,  # the candidate, while it is compiled apart
    "campaigns/evaluator/judge/main.py": 1,  # the judge's edge: our own fault, reported as such
    "campaigns/benchmarks/search/plain_loop.py": 1,  # a variant may fail in any way
    "campaigns/evaluator/judge/correctness/one_pass.py": 1,  # Triton: it costs time only
    "campaigns/evaluator/problem_code/code.py": 1,  # a person's ref.py
    "campaigns/evaluator/problem_code/serve.py": 1,  # the same, in the process of its own
    "campaigns/evaluator/problem_code/replay.py": 1,  # the same, while its answers are captured
    # Warming up: what fails does so again where its words are read.
    "campaigns/evaluator/builds/triton_cache.py": 1,
    "campaigns/evaluator/service/jobs.py": 1,
    # The queue's edge: our own fault, recorded on the campaign; a worker shows life whatever fails.
    "campaigns/tasks.py": 2,
    "campaigns/evaluator/runner/main.py": 2,  # the candidate, when it loads and when it is called
}
# Written so that this file does not contain what it looks for.
EXCUSE = re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X])\b")
# Places that exist on one developer's machine only.
ELSEWHERE = re.compile(
    r"/wor[k]/|(?<!\w)[.]librar[y]|/far[m]/|[.][.]/share[d]|/opt/(?:whee[l]s|pyp[i])"
)
TEXTS = (
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".html",
    ".css",
    ".js",
    ".svg",
    ".cpp",
    ".cu",
    ".yml",
    ".json",
    "",
)


def too_long(tree):
    modules = [
        f"{module.path}: {lines} lines"
        for module in tree.modules.values()
        if (lines := module.text.count("\n")) > MODULE_LINES
    ]
    functions = [
        f"{module.path}:{node.lineno} {node.name}: {lines} lines"
        for module, node in _functions(tree)
        if (lines := node.end_lineno - node.lineno + 1) > FUNCTION_LINES
    ]
    return modules + functions


def too_many_parameters(tree):
    """Kernels are left out: what they are given is what a launch passes, not a design of ours."""
    return [
        f"{module.path}:{node.lineno} {node.name}: {count} parameters"
        for module, node in _functions(tree)
        if not module.path.startswith(PROBLEMS)
        and not any("triton.jit" in ast.unparse(one) for one in node.decorator_list)
        and (count := len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]))
        > PARAMETERS
    ]


def attics(tree):
    return [m.path for m in tree.modules.values() if ATTICS & set(m.name.split("."))]


def broad_excepts(tree):
    """Lines that catch everything, beyond what BROAD_EXCEPTS grants to a file."""
    found = []
    for module in tree.modules.values():
        lines = [node.lineno for node in ast.walk(module.tree) if _catches_everything(node)]
        if len(lines) > BROAD_EXCEPTS.get(module.path, 0):
            found.append(f"{module.path}: lines {lines}")
    return found


def matches(tree, pattern):
    return [
        f"{path.relative_to(tree.root)}:{number}: {line.strip()[:80]}"
        for path in tree.files()
        if path.suffix in TEXTS and not path.is_symlink()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_it_keeps_modules_and_functions_short(tree):
    assert too_long(tree) == []


def test_it_keeps_parameter_lists_short(tree):
    assert too_many_parameters(tree) == []


def test_it_names_modules_by_subject(tree):
    assert attics(tree) == []


def test_it_catches_everything_only_at_process_boundaries(tree):
    assert broad_excepts(tree) == []
    assert [path for path in BROAD_EXCEPTS if not (ROOT / path).exists()] == []


def test_it_leaves_no_excuses(tree):
    assert matches(tree, EXCUSE) == []


def test_it_mentions_no_place_on_a_developers_machine(tree):
    assert matches(tree, ELSEWHERE) == []


def test_it_sees_what_is_too_long(tree_with):
    body = "    pass\n" * FUNCTION_LINES
    module = "x = 1\n" * (MODULE_LINES + 1)
    tree = tree_with(
        {"kopt/long.py": module, "kopt/f.py": f"def f():\n{body}", "kopt/g.py": "def g(): ..."}
    )
    assert too_long(tree) == [
        f"kopt/long.py: {MODULE_LINES + 1} lines",
        f"kopt/f.py:1 f: {FUNCTION_LINES + 1} lines",
    ]


def test_it_sees_too_many_parameters(tree_with):
    tree = tree_with(
        {
            "kopt/a.py": "def f(a, b, /, c, d, e, *, f, g, h): ...\ndef g(a, b, *rest): ...",
            "kopt/b.py": "@triton.jit(debug=True)\ndef f(a, b, c, d, e, f, g, h): ...",
        }
    )
    assert too_many_parameters(tree) == ["kopt/a.py:1 f: 8 parameters"]


def test_it_sees_an_attic(tree_with):
    tree = tree_with(
        {"knowledge/utils/text.py": "", "knowledge/common.py": "", "knowledge/uncommon.py": ""}
    )
    assert attics(tree) == ["knowledge/common.py", "knowledge/utils/text.py"]


def test_it_sees_every_way_to_catch_everything(tree_with):
    tree = tree_with(
        {
            "kopt/a.py": "try: ...\nexcept Exception: ...",
            "kopt/b.py": "try: ...\nexcept: ...",
            "kopt/c.py": "try: ...\nexcept (OSError, BaseException): ...",
            "kopt/d.py": "import contextlib\nwith contextlib.suppress(Exception): ...",
            "kopt/fine.py": "try: ...\nexcept (OSError, ValueError): ...",
        }
    )
    assert [line.split(":")[0] for line in broad_excepts(tree)] == [
        "kopt/a.py",
        "kopt/b.py",
        "kopt/c.py",
        "kopt/d.py",
    ]


def test_it_sees_excuses_and_places(tree_with):
    tree = tree_with({"kopt/a.py": "# TO" + "DO: later\n", "kopt/b.py": "x = '/wo" + "rk/x'\n"})
    assert [line.split(":")[0] for line in matches(tree, EXCUSE)] == ["kopt/a.py"]
    assert [line.split(":")[0] for line in matches(tree, ELSEWHERE)] == ["kopt/b.py"]


def _functions(tree):
    for module in tree.modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def _catches_everything(node):
    if isinstance(node, ast.ExceptHandler):
        return node.type is None or _names_everything(node.type)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith("suppress") and any(
            map(_names_everything, node.args)
        )
    return False


def _names_everything(node):
    kinds = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(k, ast.Name) and k.id in {"Exception", "BaseException"} for k in kinds)


# A docstring that begins so has no subject.
NO_SUBJECT = re.compile(r"(Of|That|Those|As|Whoever)\b")


def without_subject(tree):
    return [
        f"{module.path}: {text.splitlines()[0]}"
        for module in tree.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if NO_SUBJECT.match(text := ast.get_docstring(node) or "")
    ]


def test_docstrings_begin_with_a_subject_or_a_verb(tree):
    assert without_subject(tree) == []


def test_a_docstring_without_a_subject_is_found(tree_with):
    wrong = 'def bytes_of(row):\n    """Of one row."""\n'
    assert without_subject(tree_with({"kopt/rows.py": wrong})) == ["kopt/rows.py: Of one row."]
