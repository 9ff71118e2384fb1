"""Check and time a kernel of this folder: `python quick_test_bench.py`. Needs torch, no kopt.

It builds the kernel, compares it with the reference on every case, and times it with the host's
clock around many calls. That is a quick look: it proves nothing, and its times are not comparable
with those of the campaign, which were taken by a process that the kernel could not touch. Nor does
anything lock the kernel up here: it runs as you, so run only what you trust.

It takes inputs from one seed; a round that failed on others (hidden sizes, special values) may pass
here. With --against the kernel of another round is timed in turn with it.

Exits with 0 when every case passes, 1 when one fails, 2 when there is no device for it.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import importlib.util
import inspect
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
SEED = 0
PASS, FAIL, NO_DEVICE = 0, 1, 2
COMPILERS = {
    "cpp": (("g++", "clang++"), ("-O2", "-std=c++17", "-shared", "-fPIC")),
    "cuda": (
        ("nvcc",),
        (
            *("-O2", "-std=c++17", "-shared", "-Xcompiler=-fPIC", "-arch=native"),
            "--default-stream=per-thread",
        ),
    ),
}
SCALARS = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "int32_t": ctypes.c_int32,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
WIDE = ("long", "size_t", "int64_t", "ptrdiff_t")
SOLVE = re.compile(r'extern\s+"C"\s+void\s+solve\s*\(([^)]*)\)')

# What makes a case a FAIL; anything else that a kernel raises ends the run with its traceback.
RAISED = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
    ctypes.ArgumentError,
)

Call = Callable[[Mapping[str, Any]], None]
# A kernel's file, its own flags, and the types of its parameters where the folder says them.
Kernel = tuple[Path, Sequence[str], Sequence[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check and time every case; the exit code."""
    words = parser().parse_args(arguments)
    known = json.loads((HERE / "bench.json").read_text())
    device = "cpu" if known["backend"] == "cpp" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        print(f"a {known['backend']} kernel needs a GPU that torch can use", file=sys.stderr)
        return NO_DEVICE
    problem = tomllib.loads((HERE / "problem" / "problem.toml").read_text())
    reference = load(HERE / "problem" / "ref.py")
    with tempfile.TemporaryDirectory() as folder:
        kernel, rival = chosen(known, words)
        call = build(kernel, known["backend"], Path(folder))
        other = build(rival, known["backend"], Path(folder)) if rival else None
        rows = []
        for name, params in known["cases"].items():
            rest = (problem, device, words)
            rows.append(row_of(name, params, reference, call, rest))
            print(told(rows[-1]))
            if other is not None:
                beside = row_of(name, params, reference, other, rest)
                apart = flags_apart(kernel[1], rival[1] if rival else ())
                print(f"  the other one: {told(beside)}{faster(rows[-1], beside)}{apart}")
    if words.summary_csv:
        with open(words.summary_csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return PASS if all(row["Check"] == "PASS" for row in rows) else FAIL


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--kernel", type=Path, help="another source, not of this folder")
    made.add_argument(
        "--flag",
        action="append",
        default=[],
        help="of --kernel; default: those of the round in its place",
    )
    made.add_argument("--round", type=int, help="the source of this round instead of the best")
    made.add_argument("--against", type=int, help="a round to time beside it, case by case")
    made.add_argument("--repeats", type=int, default=3, help="0 checks only")
    made.add_argument("--iters-per-repeat", type=int, default=50)
    made.add_argument("--summary-csv", type=Path)
    return made


def chosen(known: Mapping[str, Any], words: argparse.Namespace) -> tuple[Kernel, Kernel | None]:
    """The kernel that is asked for, and the one to hold it against, if any."""
    own = words.round or known.get("round") or known["best"]
    kernel = kernel_of(known, own)
    if words.kernel:
        kernel = words.kernel, words.flag or kernel[1], ()
    other = words.against or (None if words.kernel or words.round else known.get("against"))
    return kernel, kernel_of(known, other) if other else None


def kernel_of(known: Mapping[str, Any], number: int | None) -> Kernel:
    """A round's kernel."""
    found = known["rounds"].get(str(number))
    if found is None:
        raise SystemExit(f"round {number}: accepted: {', '.join(known['rounds'])}")
    return HERE / found["kernel"], found["flags"], found.get("signature") or ()


def told(row: Mapping[str, Any]) -> str:
    """A row of the table as a line."""
    return "  ".join(f"{name} {value}" for name, value in row.items())


def faster(row: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The ratio of two times, where there are two."""
    own_ms, other_ms = (float(one["Forward Time (ms)"]) for one in (row, other))
    if not own_ms > 0 or not other_ms > 0:
        return ""
    return f"  its time over the first one's: {other_ms / own_ms:.3f} (a quick look, no verdict)"


def flags_apart(own: Sequence[str], other: Sequence[str]) -> str:
    """The flags of two kernels that are compiled differently; "" if they are compiled alike."""
    if list(own) == list(other):
        return ""
    first, second = (" ".join(flags) or "none" for flags in (own, other))
    return f", but compiled with other flags: {second}; the first one: {first}"


def row_of(
    name: str,
    params: Mapping[str, Any],
    reference: Any,
    call: Call,
    rest: tuple[Mapping[str, Any], str, argparse.Namespace],
) -> dict[str, Any]:
    """One line of the table; a kernel that raises is a FAIL."""
    problem, device, words = rest
    row: dict[str, Any] = {"label": name, **params, "Check": "FAIL"}
    times_s: list[float] = []
    snr_db = math.nan
    try:
        given = reference.setup(**params, seed=SEED, device=device)
        inputs, outputs = given["inputs"], given["outputs"]
        want = {key: value.clone() if is_tensor(value) else value for key, value in inputs.items()}
        reference.reference(**want)
        call(inputs)
        synchronize(device)
        right = all(agrees(inputs[key], want[key], problem["tolerance"]) for key in outputs)
        snr_db = min(snr(inputs[key], want[key]) for key in outputs)
        row["Check"] = "PASS" if right else "FAIL"
        if words.repeats > 0:
            times_s = timed(call, inputs, device, words.repeats, words.iters_per_repeat)
    except RAISED as error:
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    operations = float(reference.work(**params)[0]) if hasattr(reference, "work") else math.nan
    rates = [operations / second / 1e12 for second in times_s]
    row["Forward TFLOPS"] = figure(fmean(rates) if rates else math.nan)
    row["Forward TFLOPS_stddev"] = figure(pstdev(rates) if rates else math.nan)
    row["Forward Time (ms)"] = figure(fmean(times_s) * 1e3 if times_s else math.nan)
    row["out_snr"] = figure(snr_db)
    return row


def timed(
    call: Call, inputs: Mapping[str, Any], device: str, repeats: int, calls: int
) -> list[float]:
    """Seconds of a call, one value per repeat; one more repeat before them warms up."""
    found = []
    for _ in range(repeats + 1):
        synchronize(device)
        began = time.perf_counter()
        for _ in range(calls):
            call(inputs)
        synchronize(device)
        found.append((time.perf_counter() - began) / calls)
    return found[1:]


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def agrees(found: torch.Tensor, want: torch.Tensor, tolerance: Mapping[str, Any]) -> bool:
    """Element by element, within the problem's tolerance."""
    atol, rtol = float(tolerance.get("atol", 0)), float(tolerance.get("rtol", 0))
    same = torch.allclose(found.double(), want.double(), atol=atol, rtol=rtol, equal_nan=True)
    return bool(same)


def snr(found: torch.Tensor, want: torch.Tensor) -> float:
    """10 log10(|want|² / |found - want|²) in dB; infinite where nothing differs."""
    off = float((found.double() - want.double()).square().sum())
    size = float(want.double().square().sum())
    return math.inf if off == 0 else 10 * math.log10(max(size, 1e-300) / off)


def called_with_all(run_kernel: Callable[..., Any]) -> Call:
    """A call with every argument of a case; outputs that are not taken are what is returned."""
    parameters = inspect.signature(run_kernel).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return lambda inputs: run_kernel(**inputs)
    taken = {one.name for one in parameters}

    def call(inputs: Mapping[str, Any]) -> None:
        places = [value for name, value in inputs.items() if name not in taken]
        found = run_kernel(**{name: value for name, value in inputs.items() if name in taken})
        if places:
            answers = found if isinstance(found, tuple | list) else (found,)
            for place, answer in zip(places, answers, strict=True):
                place.copy_(answer)

    return call


def build(wanted: Kernel, backend: str, folder: Path) -> Call:
    """What calls the kernel on the inputs of a case; ends the run where it does not compile."""
    kernel, own_flags, signature = wanted
    if backend not in COMPILERS:
        return called_with_all(load(kernel).run_kernel)
    names, flags = COMPILERS[backend]
    compiler = next((found for name in names if (found := shutil.which(name))), None)
    if compiler is None:
        raise SystemExit(f"no compiler on PATH; install one of {', '.join(names)}")
    # A name of its own: a library that is loaded is not replaced by another under its name.
    out = folder / f"kernel-{len(list(folder.iterdir()))}.so"
    done = subprocess.run([compiler, *flags, *own_flags, str(kernel), "-o", str(out)], check=False)
    if done.returncode:
        raise SystemExit(f"{kernel.name} does not compile")
    solve = ctypes.CDLL(str(out)).solve
    kinds = [type_of(each) for each in signature] or types_of(kernel.read_text())

    def call(inputs: Mapping[str, Any]) -> None:
        values = [v.data_ptr() if is_tensor(v) else v for v in inputs.values()]
        solve(*(kind(value) for kind, value in zip(kinds, values, strict=True)))

    return call


def types_of(source: str) -> list[Any]:
    """The C types of `solve`'s parameters, in order."""
    found = SOLVE.search(re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL))
    if found is None:
        raise SystemExit('no `extern "C" void solve(…)` in the source')
    return [type_of(part) for part in found[1].split(",") if part.strip()]


def type_of(parameter: str) -> Any:
    """One of them: a pointer, or a number of a known width."""
    if "*" in parameter or "[" in parameter:
        return ctypes.c_void_p
    words = re.findall(r"\w+", parameter)
    if set(words) & set(WIDE):
        return ctypes.c_int64
    return next((SCALARS[word] for word in words if word in SCALARS), ctypes.c_int)


def load(path: Path) -> Any:
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: no Python source")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_tensor(value: Any) -> bool:
    """Whether a value of the inputs is data and no number."""
    return isinstance(value, torch.Tensor)


def figure(value: float) -> str:
    """Six figures, or what is no number."""
    return f"{value:.6g}"


if __name__ == "__main__":
    sys.exit(main())
