"""Problems whose source makes its own inputs, which run where the judge runs `ref.py`.

KernelBench (ScalingIntelligence/KernelBench): a module, `get_inputs` and `get_init_inputs`. The
weights of `Model` become inputs of the problem, and those of a `ModelNew` are the ones of the same
keys. kernel-opt: a kernel with a `setup`, beside a `reference` that writes in place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from campaigns.problems.import_.draft import (
    NO_SIZE,
    DraftError,
    ProblemDraft,
    ReferenceCode,
    case_name,
)
from campaigns.problems.import_.module_code import KERNEL_CODE, REFERENCE_CODE, SHARED_CODE
from campaigns.problems.import_.read_sources import (
    PointerArg,
    PythonEntry,
    bound_by,
    needed_by,
    on_any_device,
    parameters,
    parsed,
    runs_at_import,
)

SETUP, REFERENCE = "setup", "reference"
# What the call of a case gives by itself.
GIVEN = ("seed", "device")
SIZE = re.compile(r"([A-Za-z_]\w*)\s*=\s*(\d+)")
INPUTS, INIT = "get_inputs", "get_init_inputs"
ASSUMED = (
    f"Inputs are what {INPUTS} draws. Weights are inputs too: those that the module draws are "
    "drawn with the same mean and spread, those that it fills are drawn around that.",
    "The module is in the mode that it is made in, its Dropout drops nothing, and the running "
    "statistics of its norms are no answers.",
)


def is_pair(reference: ReferenceCode, text: str) -> bool:
    """Whether a reference brings its inputs in the way of KernelBench."""
    return reference.is_module and bool(_function(ast.parse(text), INPUTS))


def with_inputs_of_its_own(
    named: Mapping[str, str],
    kernel: tuple[str, str, str],
    entry: PythonEntry | tuple[PointerArg, ...],
    reference: ReferenceCode,
    *,
    tells_sizes: bool = False,
) -> ProblemDraft:
    """A problem whose inputs and weights its own module makes.

    named: name and title. kernel: backend, file name and text. entry: of Python, the function or
    module; else the parameters of `solve`. tells_sizes: whether a module's kernel is told each size
    as a number. Raises DraftError.
    """
    backend, file_name, text = kernel
    # Names and kinds of the kernel's arguments; None where it takes what there is.
    takes: tuple[tuple[str, str], ...] | None = None
    if not isinstance(entry, PythonEntry):
        kinds = {True: "output", False: "input"}
        takes = tuple((one.name, kinds[one.written] if one.pointer else "number") for one in entry)
    elif not entry.is_module:
        takes = tuple((name, "any") for name in entry.takes)
    sizes = free_sizes(reference.text, reference.name)
    constants = {name for name, _ in _constants(ast.parse(reference.text))}
    accepted = sorted({*constants, *reference.takes})
    lower = {name.lower() for name in accepted}
    for name, kind in takes or ():
        if kind == "number" and name.lower() not in lower:
            raise DraftError(
                "kernel",
                f"solve: {name}: no constant of the reference is called so; "
                f"accepted: {', '.join(accepted)}",
            )
    answer = "answer" if any(name.startswith("out") for name in reference.takes) else "out"
    known: dict[str, object] = {
        "_TAKES": reference.takes,
        "_ANSWER": answer,
        "_KERNEL": takes,
        "_SIZES": tuple(sizes),
        "_TELLS": tells_sizes,
    }
    if isinstance(entry, PythonEntry) and entry.is_module:
        text = _module_kernel(text, file_name, entry, reference, answer)
    return ProblemDraft(
        name=named["name"],
        title=named["title"],
        args=(),
        reference=reference,
        cases={case_name(sizes.values()): sizes or NO_SIZE},
        kernels={backend: ("v0" + "." + file_name.rsplit(".", 1)[-1], text)},
        own_ref=_own_ref(reference, known),
        assumed=ASSUMED,
    )


def _own_ref(reference: ReferenceCode, known: Mapping[str, object]) -> str:
    text = reference.text
    if runs_at_import(text):
        text = needed_by(text, reference.name, INPUTS, INIT)
    moved = on_any_device(text, "_device").rstrip("\n")
    future = "from __future__ import annotations\n"
    head = future if future in moved else ""
    body = moved.replace(future, "", 1) if head else moved
    init = INIT if any(INIT in bound_by(node) for node in ast.parse(text).body) else None
    # By name, so that what is taken out of this file for torch's own times takes both along.
    classes = f"_MODULE = {reference.name}\n_INIT = {init}\n"
    named = classes + "\n".join(f"{name} = {value!r}" for name, value in known.items())
    return f'{head}_device = "cpu"\n{body}\n\n\n{SHARED_CODE}{named}\n\n\n{REFERENCE_CODE}'


def _module_kernel(
    text: str, file_name: str, entry: PythonEntry, reference: ReferenceCode, answer: str
) -> str:
    """The file of a `ModelNew` with a `run_kernel` that hands it its weights."""
    if runs_at_import(text):
        text = needed_by(text, entry.name, INIT)
    own, init = _function(parsed(text, file_name), INIT) is not None, ""
    if not own and _function(ast.parse(reference.text), INIT):
        init, own = f"{needed_by(reference.text, INIT)}\n\n", True
    made = f"{entry.name}(*{INIT}())" if own else f"{entry.name}()"
    known = {"_TAKES": reference.takes, "_OWN": entry.takes, "_ANSWER": answer}
    named = "\n".join(f"{name} = {value!r}" for name, value in known.items())
    called = KERNEL_CODE.format(made=made, name=entry.name)
    return f"{text.rstrip()}\n\n\n{SHARED_CODE}{init}{named}\n\n\n{called}"


def free_sizes(text: str, module: str) -> dict[str, int]:
    """The whole numbers at the top of a file that `get_inputs` alone reads: sizes of a case.

    What the module is made with keeps its value, as its weights have shapes of these.
    """
    tree = ast.parse(text)
    constants = dict(_constants(tree))
    function = _function(tree, INPUTS)
    if function is None:
        return {}
    elsewhere = {name for node in tree.body if node is not function for name in _read(node)}
    read = list(dict.fromkeys(_read(function)))
    return {
        name: constants[name]
        for name in read
        if constants.get(name, 0) > 0 and name not in elsewhere and name != module
    }


def _constants(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Whole numbers that the top of a module gives a name, once each."""
    seen: dict[str, int] = {}
    twice: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    twice |= {name.id} & {*seen}
                    if isinstance(value, ast.Constant) and type(value.value) is int:
                        seen[name.id] = value.value
    yield from ((name, value) for name, value in seen.items() if name not in twice)


def _read(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            yield one.id


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef))
    return next((node for node in functions if node.name == name), None)


def own_setup(text: str, file_name: str) -> ast.FunctionDef | None:
    """The function at the top level of a kernel's file, if there is one. Raises DraftError."""
    functions = (n for n in parsed(text, file_name).body if isinstance(n, ast.FunctionDef))
    return next((node for node in functions if node.name == SETUP), None)


def with_own_setup(
    draft_of: Mapping[str, str],
    function: ast.FunctionDef,
    kernel: tuple[str, str],
    reference: str,
    sizes: Iterable[str],
) -> ProblemDraft:
    """A problem whose inputs the kernel's own `setup` makes, once and for all.

    draft_of: name and title. kernel: file name and text. sizes: of each case, as "N=1024 D=64".
    Raises DraftError.
    """
    if f"def {REFERENCE}(" not in reference:
        raise DraftError("reference", f"a function {REFERENCE}(**inputs) is needed beside {SETUP}")
    listed = dict(parameters(function.args))
    cases = dict(_cases(listed, sizes))
    # The same `setup`, on the device that is asked for.
    moved = on_any_device(needed_by(kernel[1], SETUP), "device")
    plain = f"def {SETUP}("
    if "device" not in listed and f"{plain}*," in moved:
        moved = moved.replace(f"{plain}*,", f"{plain}*, device,", 1)
    elif "device" not in listed:
        moved = moved.replace(plain, f"{plain}*, device, ", 1)
    return ProblemDraft(
        name=draft_of["name"],
        title=draft_of["title"],
        args=(),
        reference=ReferenceCode(reference, REFERENCE, (), returns=False),
        cases=cases,
        kernels={"triton": ("v0.py", kernel[1])},
        own_ref=f"{reference.rstrip()}\n\n\n{moved}",
        assumed=(
            f"Inputs are made by the kernel's own {SETUP}, as it is now: later kernels cannot "
            "change it.",
            "Its tensors are made on the device that is asked for, instead of on cuda.",
        ),
    )


def _cases(
    listed: Mapping[str, ast.expr | None], sizes: Iterable[str]
) -> Iterator[tuple[str, dict[str, int]]]:
    """listed: the parameters of `setup`; their defaults are the case where none is given."""
    names = [name for name in listed if name not in GIVEN]
    usual = {
        name: default.value
        for name, default in listed.items()
        if name in names and isinstance(default, ast.Constant) and isinstance(default.value, int)
    }
    given = [{name: int(size) for name, size in SIZE.findall(text)} for text in sizes]
    for case in given or [usual]:
        if set(case) != set(names):
            raise DraftError(
                "call",
                f"sizes of a case are needed, such as {' '.join(f'{n}=1024' for n in names)}",
            )
        yield "x".join(str(case[name]) for name in names) or "given", case
