"""Print the shape of the house: how large it is, what is crowded, and which names occur twice.

python -m tools.shape          prints it
python -m tools.shape --check  fails on what is not allowed, and prints just that

tools/ceilings.toml has the sizes that may not grow. A commit that raises one says why.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools import imports

ROOT = Path(__file__).resolve().parents[1]
CEILINGS = ROOT / "tools/ceilings.toml"
JUDGE = "campaigns/evaluator/judge/main.py"
APPS = ("kopt", "knowledge", "campaigns", "tools")
# Measured data rather than parts of the program, or written once and left as it is.
LEFT_OUT = re.compile(r"campaigns/(problems/.+/|operators/|benchmarks/tricks/)|migrations/")
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


@dataclass(frozen=True, slots=True)
class CodeShape:
    """What was counted. Each mapping has the offending names with where they are."""

    modules: int
    lines: int
    test_lines: int
    loose: tuple[str, ...]
    crowded: Mapping[str, int]
    long_modules: Mapping[str, int]
    long_functions: Mapping[str, int]
    classes: Mapping[str, list[str]]
    files: Mapping[str, list[str]]
    small: tuple[str, ...]
    ties: tuple[str, ...]
    judge_lines: int
    tables: int

    @property
    def sizes(self) -> Mapping[str, int]:
        """What tools/ceilings.toml bounds."""
        return {
            "lines": self.lines,
            "modules": self.modules,
            "small_modules": len(self.small),
            "two_way_ties": len(self.ties),
            "judge_lines": self.judge_lines,
            "tables": self.tables,
        }

    def over(self, ceilings: Mapping[str, int]) -> Iterator[str]:
        """One line for each size that is over its ceiling."""
        for name, limit in ceilings.items():
            if self.sizes[name] > limit:
                yield f"{name}: {self.sizes[name]:,}, at most {limit:,} (tools/ceilings.toml)"

    @property
    def forbidden(self) -> Iterator[str]:
        """One line for each thing that the layout of the code does not allow."""
        yield from (f"{name}: loose at the root of campaigns" for name in self.loose)
        yield from _more(self.crowded, FOLDER_FILES, "files")
        yield from _more(self.long_modules, MODULE_LINES, "lines")
        yield from _more(self.long_functions, FUNCTION_LINES, "lines")
        for name, where in self.classes.items():
            yield f"class {name}: {len(where)} times: {', '.join(where)}"


def shape(root: Path = ROOT) -> CodeShape:
    """Count the program under `root`; tests and migrations are counted apart or not at all."""
    texts = {path: (root / path).read_text() for path in _python(root, APPS)}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    folders = Counter(str(Path(path).parent) for path in texts if not path.endswith("__init__.py"))
    lines = {path: text.count("\n") for path, text in texts.items()}
    functions = {name: size for path in trees for name, size in _functions(path, trees[path])}
    named = ((node.name, p) for p, tree in trees.items() for node in _classes(tree))
    files = ((Path(path).name, path) for path in texts)
    graph = imports.graph(trees)
    return CodeShape(
        modules=len(texts),
        lines=sum(lines.values()),
        test_lines=sum((root / p).read_text().count("\n") for p in _python(root, ("tests",))),
        loose=tuple(_loose(texts)),
        crowded=_over(folders, FOLDER_FILES),
        long_modules=_over(lines, MODULE_LINES),
        long_functions=_over(functions, FUNCTION_LINES),
        classes=_twice(named, BY_CLASS_NAME | ROW_AND_VALUE),
        files=_twice(files, BY_FILE_NAME),
        small=tuple(_small(lines)),
        ties=tuple(imports.ties(graph)),
        judge_lines=sum(
            lines.get(path, 0) for path in imports.closure(lambda path: graph.get(path, ()), JUDGE)
        ),
        tables=_tables() if root == ROOT else 0,
    )


def _tables() -> int:
    """The tables of kopt's own apps, those between many and many as well."""
    import django
    from django.apps import apps

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")
    django.setup()
    own = [apps.get_app_config(name) for name in ("knowledge", "campaigns")]
    return sum(1 for app in own for _ in app.get_models(include_auto_created=True))


def judge_modules(root: Path = ROOT) -> set[str]:
    """The paths of the judge's main module and of all that it imports."""
    imported = imports.importer(list(_python(root, APPS)))
    return imports.closure(lambda p: imported(p, ast.parse((root / p).read_text())), JUDGE)


def _small(lines: Mapping[str, int]) -> Iterator[str]:
    for path, size in lines.items():
        named_by_django = Path(path).name in BY_FILE_NAME or path.startswith("kopt/")
        if size < SMALL_MODULE and not named_by_django and not PLUG_INS.search(path):
            yield path


def _python(root: Path, tops: Iterable[str]) -> Iterator[str]:
    for top in tops:
        for folder, inner, names in os.walk(root / top):
            inner[:] = sorted(set(inner) - {"__pycache__"})
            for name in sorted(names):
                path = (Path(folder) / name).relative_to(root).as_posix()
                if path.endswith(".py") and not LEFT_OUT.search(path):
                    yield path


def _loose(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder == "campaigns" and name not in AT_THE_ROOT:
            yield path


def _functions(path: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield f"{path}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a module itself, not those inside of others."""
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def _over(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    found = {name: size for name, size in sizes.items() if size > limit}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _twice(named: Iterable[tuple[str, str]], allowed: set[str]) -> dict[str, list[str]]:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in named:
        if name not in allowed:
            places[name].append(path)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def _more(sizes: Mapping[str, int], limit: int, of_what: str) -> Iterator[str]:
    return (f"{name}: {size} {of_what}, at most {limit}" for name, size in sizes.items())


def printed(found: CodeShape) -> Iterator[str]:
    """The numbers, then what stands out."""
    yield f"modules {found.modules:,}"
    yield f"lines {found.lines:,} (tests and migrations apart; tests {found.test_lines:,})"
    yield f"modules of under {SMALL_MODULE} lines that are no plug-ins: {len(found.small)}"
    yield f"the judge with all that it imports: {found.judge_lines:,} lines"
    yield f"tables {found.tables}"
    yield f"folders that import each other: {len(found.ties)}"
    yield from (f"  {tie}" for tie in found.ties)
    yield f"loose modules at the root of campaigns: {len(found.loose)} {' '.join(found.loose)}"
    for title, sizes in (
        (f"folders of over {FOLDER_FILES} files", found.crowded),
        (f"modules of over {MODULE_LINES} lines", found.long_modules),
        (f"functions of over {FUNCTION_LINES} lines", found.long_functions),
    ):
        yield f"{title}: {len(sizes)}"
        yield from (f"  {size:4} {name}" for name, size in sizes.items())
    for title, names in (("class names", found.classes), ("file names", found.files)):
        yield f"{title} that occur more than once: {len(names)}"
        told = ", ".join(f"{name} {len(where)}" for name, where in names.items())
        yield from _wrapped(told)


def _wrapped(told: str) -> Iterator[str]:
    line = ""
    for word in told.split(", ") if told else ():
        if len(line) + len(word) > PRINTED - 4:
            yield f"  {line}"
            line = ""
        line += f"{word}, "
    if line:
        yield f"  {line.removesuffix(', ')}"


def main(arguments: list[str]) -> int:
    """Print or check; the exit code."""
    found = shape()
    if arguments == ["--check"]:
        wrong = [*found.forbidden, *found.over(tomllib.loads(CEILINGS.read_text()))]
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    print(*printed(found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
