"""A source is formatted where only its looks change, and is left as it was elsewhere (R55)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.lineage import formatting
from campaigns.lineage.formatting import Formatted, formatted

CPP = 'extern "C" void solve(float* x,int n){for(int i=0;i<n;++i)x[i]=x[i]*2.0f; /* two */}\n'
CUDA = "__global__ void k(float* x){x[0]=1;}\nvoid go(float* x){k<<<1,32>>>(x);}\n"
PYTHON = "def run_kernel( x ):\n    return {'y':x+1}   # one\n"
TIDY = 'def run_kernel(x):\n    return {"y": x + 1}  # one\n'

Put = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Put a program of this name, given as Python, where it is found before any other."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, body: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\nimport sys\ntext = sys.stdin.read()\n{body}\n")
        path.chmod(0o755)
        return path

    return put


SPACED = "sys.stdout.write(text.replace('{', ' {\\n').replace(';', ';\\n').replace('*/', '! */'))"


@pytest.mark.parametrize(("name", "text"), [("v0.cpp", CPP), ("v0.cu", CUDA), ("v0.hip", CUDA)])
def test_r55_it_takes_what_has_the_same_tokens(program: Put, name: str, text: str) -> None:
    program("clang-format", SPACED)
    done = formatted(name, text)
    assert done.text != text
    assert done.text.split("{")[0].strip() == text.split("{")[0].strip()
    assert done.note == ("Formatted by clang-format; the syntax tree is that of what was measured.")


@pytest.mark.parametrize(
    "body",
    [
        "sys.stdout.write(text.replace('2.0f', '2.1f'))",
        "sys.stdout.write(text.replace('++i', 'i++'))",
        "sys.stdout.write(text.replace('x[i]=x[i]*2.0f;', '{x[i]=x[i]*2.0f;}'))",
        "sys.stdout.write(text + 'int more;')",
        "sys.stdout.write('#define n 1\\n' + text)",
    ],
)
def test_r55_it_keeps_what_the_formatter_would_change(program: Put, body: str) -> None:
    program("clang-format", body)
    why = "As it was measured, not formatted: clang-format would change the syntax tree."
    assert formatted("v0.cpp", CPP) == Formatted(CPP, why)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "clang-format refuses it (exit status 3)"),
        ("", "clang-format refuses it (exit status 0)"),
        ("sys.stdout.buffer.write(b'\\xff')", "clang-format wrote no UTF-8"),
        ("sys.stdout.write('int (((')", "it cannot be parsed as C++ or CUDA"),
        ("import time; time.sleep(60)", "clang-format was not done within 0.5 s"),
    ],
)
def test_it_says_why_a_formatter_did_not_do_it(
    program: Put, monkeypatch: pytest.MonkeyPatch, body: str, why: str
) -> None:
    monkeypatch.setattr(formatting, "LIMIT_S", 0.5)
    program("clang-format", body)
    assert formatted("v0.cpp", CPP) == Formatted(CPP, f"As it was measured, not formatted: {why}.")


def test_it_says_that_a_formatter_does_not_run(program: Put) -> None:
    program("clang-format", "").write_bytes(b"\x7fELF junk")
    assert "clang-format does not run: Exec format error" in formatted("v0.cpp", CPP).note


def test_it_formats_python_with_what_this_host_has() -> None:
    done = formatted("v0.py", PYTHON)
    words = "Formatted by ruff; the syntax tree is that of what was measured."
    assert done == Formatted(TIDY, words)
    assert formatted("v0.py", TIDY) == Formatted(TIDY, "As it was measured; ruff changes nothing.")


@pytest.mark.parametrize("text", ["def (", "x = 1\x00", "x = " + "(" * 500 + ")" * 500])
def test_it_keeps_python_that_does_not_parse(text: str) -> None:
    done = formatted("v0.py", text)
    assert done.text == text
    assert done.note.startswith("As it was measured, not formatted: ")


def test_it_says_that_there_is_no_formatter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert "this host has no clang-format." in formatted("v0.cpp", CPP).note
    assert "this host has no ruff or black." in formatted("v0.py", PYTHON).note
    assert "no formatter for .rs." in formatted("v0.rs", CPP).note
