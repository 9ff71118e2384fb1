"""The same from Python: a Triton candidate in the interpreter, and while it is compiled apart."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Outcome, Source
from tests.evaluator.sandbox.conftest import LINE, USERS

pytest.importorskip("triton")

KERNEL = """
import ctypes, os, signal, socket, subprocess, sys

def attempt(name, act):
    try:
        act()
        print("try", name, 0, 0, file=sys.stderr, flush=True)
    except OSError as error:
        print("try", name, -1, error.errno, file=sys.stderr, flush=True)

attempt("secret", lambda: open("SECRET").read())
attempt("settings", lambda: open("ROOT/kopt/settings.py").read())
attempt("connect", lambda: socket.create_connection(("127.0.0.1", 5432), 1))
attempt("signal", lambda: os.kill(os.getppid(), 0))
attempt("write", lambda: open("/usr/escaped", "x"))
attempt("fork", lambda: os.fork() or os._exit(0))
attempt("program", lambda: subprocess.run(["/bin/true"]))

import triton, triton.language as tl

@triton.jit
def double(x, y, N, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < N), mask=at < N)

def run_kernel(x, y, N):
    double[(triton.cdiv(N, 1024),)](x, y, N, B=1024)
"""
ALWAYS = {"secret": 2, "settings": 2, "connect": 1, "signal": 1}


def candidate(place) -> Source:
    from tests.evaluator.sandbox.ordinary import ROOT

    text = KERNEL.replace("SECRET", str(place / "secret")).replace("ROOT", str(ROOT))
    return Source("candidate.py", text)


# Imports that nobody has made before, which look through the whole path; and a device.
HONEST = """
import colorsys, contextlib, fractions, os, wave
import triton, triton.language as tl

def run_kernel(x, y, N):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        y.copy_(2 * x)
"""


@pytest.mark.parametrize("user", USERS)
def test_it_counts_nothing_against_honest_code(run, user):
    report = run(user, Source("candidate.py", HONEST), backend="triton")
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    assert "refused" not in report.environment


@pytest.mark.parametrize("user", USERS)
def test_it_refuses_from_python(run, place, user):
    report = run(user, candidate(place), backend="triton")
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    tried = {name: int(code) for name, _, code in LINE.findall(report.runner_log)}
    assert ALWAYS.items() <= tried.items()
    assert tried["write"] in (13, 30)
    assert tried["fork"] == 1
    assert tried["program"] == 1
    assert f"openat {place}/secret" in report.environment["refused"]
    assert "socket" in report.environment["refused"]


@pytest.mark.parametrize("user", USERS)
def test_it_refuses_while_a_kernel_is_compiled_apart(run, place, user):
    """There compilers may be started, by the candidate too; they get no further than itself."""
    report = run(user, candidate(place), backend="triton", target="sm_90a")
    assert report.outcome is Outcome.PASSED, report.reason + report.build_log
    tried = {name: int(code) for name, _, code in LINE.findall(report.build_log)}
    assert ALWAYS.items() <= tried.items()
    assert tried["write"] in (13, 30)
    assert tried["program"] == 0


REWRITES = """
import os

if not os.environ.get("TRITON_INTERPRET"):
    with open(__file__, "w") as file:
        file.write("def run_kernel(x, y, N):\\n    y.copy_(2 * x)\\n")

def run_kernel(x, y, N):
    pass
"""


# Bytecode that no look at the source makes invalid.
COMPILES = """
import os

if not os.environ.get("TRITON_INTERPRET"):
    import importlib.util, py_compile
    with open("other.py", "w") as file:
        file.write("def run_kernel(x, y, N):\\n    y.copy_(2 * x)\\n")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    planted = importlib.util.cache_from_source(__file__)
    py_compile.compile("other.py", planted, __file__, True, invalidation_mode=mode)

def run_kernel(x, y, N):
    pass
"""
LINKS = """
import os

if not os.environ.get("TRITON_INTERPRET"):
    os.mkdir("a")
    os.mkdir("a/b", 0)
    os.unlink(__file__)
    os.symlink("other.py", __file__)

def run_kernel(x, y, N):
    pass
"""


@pytest.mark.parametrize("text", [REWRITES, COMPILES, LINKS])
@pytest.mark.parametrize("user", USERS)
def test_it_loads_the_source_that_it_was_given(run, user, text):
    """Not what the source has put in its place while it was compiled apart."""
    report = run(user, Source("candidate.py", text), backend="triton", target="sm_90a")
    assert report.outcome is Outcome.WRONG_RESULT, report.reason
    assert "never written" in report.reason
