"""A problem folder as the rows that store it; nothing is written here."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.models import Case, Problem

LARGEST_FILE = 1 << 20
LARGEST_FOLDER = 4 << 20
MOST_FILES = 100
NEEDED = ("setup", "reference")


def read_problem(folder: Path) -> tuple[Problem, list[Case]]:
    """What would be stored, for a page; nothing is. Raises ProblemError."""
    spec = load_problem(folder)
    files = _read_files(spec.folder)
    _require_functions(f"{spec.folder.name}/ref.py", files["ref.py"])
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        data = text.encode()
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    problem = Problem(
        slug=spec.name,
        digest=digest.hexdigest(),
        title=spec.title,
        op=spec.op,
        dtype=spec.dtype,
        summary=spec.summary,
        files=files,
        backends=dict(spec.files),
        tolerance={"atol": spec.atol, "rtol": spec.rtol},
        config_class=list(spec.config_class),
    )
    cases = [
        Case(
            problem=problem,
            name=case.name,
            params=dict(case.params),
            device_kinds=list(case.on),
            protected=case.protected,
            ordinal=ordinal,
        )
        for ordinal, case in enumerate(spec.cases)
    ]
    return problem, cases


def _read_files(root: Path) -> dict[str, str]:
    """Every file of the folder as text, by its path inside; nothing from outside is followed."""
    files: dict[str, str] = {}
    total = 0
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
            continue
        where = f"{root.name}/{inside}"
        if not path.resolve().is_relative_to(root):
            raise ProblemError(f"{where}: is a link that leaves the problem folder")
        if not path.is_file():
            continue
        size = path.stat().st_size
        total += size
        if size > LARGEST_FILE or total > LARGEST_FOLDER or len(files) >= MOST_FILES:
            raise ProblemError(
                f"{where}: {size:,} bytes; accepted: files of at most {LARGEST_FILE:,} bytes, "
                f"{LARGEST_FOLDER:,} bytes and {MOST_FILES} files in all"
            )
        try:
            files[inside.as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProblemError(f"{where}: not UTF-8 text: {error.reason}") from None
    return files


def _require_functions(where: str, text: str) -> None:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ProblemError(f"{where}:{error.lineno}: {error.msg}") from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in NEEDED:
        if name not in defined:
            raise ProblemError(f"{where}: {name}: no such function; needed: {', '.join(NEEDED)}")
