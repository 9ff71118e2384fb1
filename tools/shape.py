"""Print the shape of the house: how large it is, what is crowded, and which names occur twice.

python -m tools.shape          prints it
python -m tools.shape --check  fails on what is not allowed, and prints just that
"""

from __future__ import annotations

import ast
import os
import re
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JUDGE = "campaigns/evaluator/judge/main.py"
APPS = ("kopt", "knowledge", "campaigns", "tools")
# Measured data rather than parts of the program, or written once and left as it is.
LEFT_OUT = re.compile(
    r"campaigns/(problems/(?!import_/)[^/]+/|operators/|benchmarks/tricks/)|migrations/"
)
MODULE_LINES, FUNCTION_LINES, FOLDER_FILES = 400, 60, 20
# Fewer lines than this are no idea of their own, but where each file is a plug-in they may be.
SMALL_MODULE = 60
PLUG_INS = re.compile(
    r"/(commands|strategies|recipes|backends|formats|readers|writers|importers|exporters|templatetags)/"
)
# What may lie at the root of campaigns.
AT_THE_ROOT = {"__init__.py", "apps.py", "urls.py", "tasks.py", "admin.py"}
# Django finds these by their class name.
BY_CLASS_NAME = {"Command", "Meta", "Migration"}
# Terms of the domain that are rows in campaigns.models and values in the evaluator's contract,
# which has no Django.
ROW_AND_VALUE = {"Case", "Phase", "Protocol"}
# Found by their file name, by Django or by Python.
BY_FILE_NAME = {"__init__.py", "__main__.py", *AT_THE_ROOT}
PRINTED = 100


# A module's path to the paths of the modules of ours that it imports, here or in a function.
Graph = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class CodeShape:
    """The counts. Each mapping holds the offending names with their places."""

    sizes: Mapping[str, int]
    test_lines: int
    loose: Sequence[str]
    crowded: Mapping[str, int]
    long_modules: Mapping[str, int]
    long_functions: Mapping[str, int]
    classes: Mapping[str, list[str]]
    files: Mapping[str, list[str]]
    small: Sequence[str]
    ties: Sequence[str]

    @property
    def forbidden(self) -> Iterator[str]:
        """One line for each thing that the layout of the code does not allow."""
        yield from (f"{name}: loose at the root of campaigns" for name in self.loose)
        for sizes, most in (
            (self.crowded, f"files, at most {FOLDER_FILES}"),
            (self.long_modules, f"lines, at most {MODULE_LINES}"),
            (self.long_functions, f"lines, at most {FUNCTION_LINES}"),
        ):
            yield from (f"{name}: {size} {most}" for name, size in sizes.items())
        for name, where in self.classes.items():
            yield f"class {name}: {len(where)} times: {', '.join(where)}"
        yield from (f"{tie}: folders that import each other" for tie in self.ties)


def shape(root: Path = ROOT) -> CodeShape:
    """Count the program under `root`; tests and migrations are counted apart or not at all."""
    texts = {path: (root / path).read_text() for path in _python(root, APPS)}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = {path: text.count("\n") for path, text in texts.items()}
    graph = {path: _imported(path, tree, trees) for path, tree in trees.items()}
    arrows = {(_folder(path), _folder(other)) for path, others in graph.items() for other in others}
    ties = sorted(f"{a} <-> {b}" for a, b in arrows if a < b and (b, a) in arrows)
    small = [
        path
        for path, size in lines.items()
        if size < SMALL_MODULE
        and not (Path(path).name in BY_FILE_NAME or path.startswith("kopt/"))
        and not PLUG_INS.search(path)
    ]
    functions, classes = {}, []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                name = f"{path}:{node.lineno} {node.name}"
                functions[name] = node.end_lineno - node.lineno + 1
        # The classes of a module itself, not those inside of others.
        classes += [(node.name, path) for node in tree.body if isinstance(node, ast.ClassDef)]
    judge = _closure(lambda path: graph.get(path, frozenset()))
    return CodeShape(
        sizes={
            "lines": sum(lines.values()),
            "modules": len(texts),
            "judge_lines": sum(lines.get(path, 0) for path in judge),
            "tables": _tables() if root == ROOT else 0,
        },
        test_lines=sum((root / p).read_text().count("\n") for p in _python(root, ("tests",))),
        loose=[p for p in texts if _folder(p) == "campaigns" and Path(p).name not in AT_THE_ROOT],
        crowded=_over(
            Counter(_folder(path) for path in texts if not path.endswith("__init__.py")),
            FOLDER_FILES,
        ),
        long_modules=_over(lines, MODULE_LINES),
        long_functions=_over(functions, FUNCTION_LINES),
        classes=_twice(classes, BY_CLASS_NAME | ROW_AND_VALUE),
        files=_twice(((Path(path).name, path) for path in texts), BY_FILE_NAME),
        small=small,
        ties=ties,
    )


def judge_modules(root: Path = ROOT) -> set[str]:
    """The paths of the judge's main module and of all that it imports."""
    among = list(_python(root, APPS))
    return _closure(lambda path: _imported(path, ast.parse((root / path).read_text()), among))


def _tables() -> int:
    """The tables of kopt's own apps, those between many and many as well."""
    import django
    from django.apps import apps

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")
    django.setup()
    own = [apps.get_app_config(name) for name in ("knowledge", "campaigns")]
    rows = (model for app in own for model in app.get_models(include_auto_created=True))
    return len({model._meta.db_table for model in rows})


def _python(root: Path, tops: Iterable[str]) -> Iterator[str]:
    for top in tops:
        for folder, inner, names in os.walk(root / top):
            inner[:] = sorted(set(inner) - {"__pycache__"})
            for name in sorted(names):
                path = (Path(folder) / name).relative_to(root).as_posix()
                if path.endswith(".py") and not LEFT_OUT.search(path):
                    yield path


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _imported(path: str, tree: ast.Module, among: Iterable[str]) -> frozenset[str]:
    """The paths among these that the module at `path` imports, those for type checkers left out."""
    paths = _by_name(tuple(among))
    # A name is a module's own, or of the module that defines its last word.
    found = (paths.get(name) or paths.get(name.rpartition(".")[0]) for name in _names(tree.body))
    return frozenset(target for target in found if target and target != path)


@cache
def _by_name(paths: tuple[str, ...]) -> dict[str, str]:
    dotted = (path.removesuffix(".py").removesuffix("/__init__") for path in paths)
    return dict(zip((name.replace("/", ".") for name in dotted), paths, strict=True))


def _names(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _names(statement.orelse)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _closure(imported: Callable[[str], Iterable[str]]) -> set[str]:
    """The judge's main module and all that it imports, directly or through others."""
    seen: set[str] = set()
    waiting = [JUDGE]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(imported(path))
    return seen


def _over(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    found = {name: size for name, size in sizes.items() if size > limit}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _twice(named: Iterable[tuple[str, str]], allowed: set[str]) -> dict[str, list[str]]:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in named:
        if name not in allowed:
            places[name].append(path)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def printed(found: CodeShape) -> Iterator[str]:
    """The numbers, then what stands out."""
    sizes = found.sizes
    yield f"modules {sizes['modules']:,}"
    told = f"tests and migrations apart; tests {found.test_lines:,}"
    yield f"lines {sizes['lines']:,} ({told})"
    yield f"modules of under {SMALL_MODULE} lines that are no plug-ins: {len(found.small)}"
    yield f"the judge with all that it imports: {sizes['judge_lines']:,} lines"
    yield f"tables {sizes['tables']}"
    yield f"folders that import each other: {len(found.ties)}"
    yield from (f"  {tie}" for tie in found.ties)
    yield f"loose modules at the root of campaigns: {len(found.loose)} {' '.join(found.loose)}"
    for title, over in (
        (f"folders of over {FOLDER_FILES} files", found.crowded),
        (f"modules of over {MODULE_LINES} lines", found.long_modules),
        (f"functions of over {FUNCTION_LINES} lines", found.long_functions),
    ):
        yield f"{title}: {len(over)}"
        yield from (f"  {size:4} {name}" for name, size in over.items())
    for title, names in (("class names", found.classes), ("file names", found.files)):
        yield f"{title} that occur more than once: {len(names)}"
        # A name and its count stay on one line.
        words = ", ".join(f"{name}~{len(where)}" for name, where in names.items())
        yield from (f"  {line.replace('~', ' ')}" for line in textwrap.wrap(words, PRINTED - 2))


def main(arguments: list[str]) -> int:
    """Print or check; the exit code."""
    found = shape()
    if arguments == ["--check"]:
        wrong = [*found.forbidden]
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    print(*printed(found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
