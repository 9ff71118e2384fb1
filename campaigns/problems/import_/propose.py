"""Proposes a problem for a kernel: from its signature, a reference and example calls.

Nothing that was given is run here. What could not be read is assumed, and said.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from types import MappingProxyType
from typing import TypeVar

from campaigns.evaluator.contract.backends import BACKEND_OF
from campaigns.evaluator.contract.origins import marked, origins
from campaigns.evaluator.contract.programs import ENTRY
from campaigns.evaluator.contract.signature import ENTRY as SOLVE
from campaigns.problems.import_.arguments import (
    fixed_arguments,
    python_arguments,
    squares,
    told_sizes,
)
from campaigns.problems.import_.backward import ASSUMED as GRADIENTS
from campaigns.problems.import_.backward import asks_for_gradients, launching_entry, with_gradients
from campaigns.problems.import_.bundle import bundled, importable
from campaigns.problems.import_.c_entry import as_cpp, c_arguments, with_solve
from campaigns.problems.import_.call_values import Value
from campaigns.problems.import_.draft import (
    MOST_CASES,
    NO_KERNEL,
    DraftArg,
    DraftError,
    Given,
    ProblemDraft,
    ReferenceCode,
    slug_of,
)
from campaigns.problems.import_.entries import called_after, plain_names, wrapped
from campaigns.problems.import_.example_calls import (
    call_needed,
    called_name,
    find_calls,
    named_numbers,
    read_call,
    reference_needed,
    returned_values,
)
from campaigns.problems.import_.own_inputs import (
    GIVEN,
    is_pair,
    own_setup,
    with_inputs_of_its_own,
    with_own_setup,
)
from campaigns.problems.import_.read_sources import (
    PythonEntry,
    parsed,
    reference_code,
    solve_parameters,
)
from campaigns.problems.import_.sizes import Example, Sizes
from campaigns.problems.import_.written import TensorValue, WrittenInt
from campaigns.syntax.c_parts import needed_for

T = TypeVar("T")
AS_CPP = "It is compiled as C++."
LEFT_OUT = "left out"
MOST_NAMED = 6
RETURNED = "what it returns is made in the output's place, or copied where torch cannot."
# Names of files that say nothing of what is in them; the reference's name may.
ANY = {"kernel", "main", "model", "model_new", "reference", "solution", "solve", "submission", "v0"}
# Words of a reference's name that its problem can do without.
ROLE = re.compile(r"^(ref|reference|torch)_|_(ref|reference|torch)$")


def propose(given: Given) -> ProblemDraft:
    """Without a kernel v0 is the reference in torch. Raises DraftError: what is missing."""
    draft = _proposed(given)
    named = slug_of(called_after(given.entry, given.kernel, given.file_name))
    if not named and draft.name in ANY:
        named = slug_of(ROLE.sub("", draft.reference.name))
    if given.name or not named:
        return draft
    return replace(draft, name=named, title=_title(replace(given, name=named)))


def _proposed(given: Given) -> ProblemDraft:
    """What `propose` gives, called after the file of the kernel."""
    if not given.kernel.strip():
        return _eager(given)
    backend, suffix = _backend(given)
    if suffix == ".py" and (function := own_setup(given.kernel, given.file_name)):
        named = {"name": _name(given), "title": _title(given)}
        kernel, sizes = (given.file_name, given.kernel), [c for c in given.calls if "(" not in c]
        made = with_own_setup(named, function, kernel, given.reference or given.kernel, sizes)
        return _with_kept(made, given.keep)
    entry = _entry(given) if suffix == ".py" else None
    reference = _reference(given, entry)
    if asks_for_gradients(given.calls):
        draft = propose(with_gradients(given, entry, reference))
        return replace(draft, assumed=(GRADIENTS, *draft.assumed))
    if (pair := _pair(given, backend, entry, reference)) is not None:
        return pair
    reference, entry = _made_with(given, reference, entry)
    examples = _examples(given, entry, reference)
    assumed: list[str] = []
    if entry is None:
        args, names, reference, text = _in_c(given, reference, examples, assumed)
    else:
        fixed = tuple(fixed_arguments(entry.takes, examples))
        entry = replace(entry, fixed=fixed)
        assumed += [f"{name} is always {source}." for name, source in fixed]
        args, names, reference, entry = python_arguments(given, entry, reference, examples, assumed)
        args += told_sizes(args, names) if given.tells_sizes else []
        text = _in_python(
            given,
            entry,
            args,
            assumed,
            is_short=any("float8" in one for one in (reference.text, *dict(fixed).values())),
        )
    draft = ProblemDraft(
        name=_name(given),
        title=_title(given),
        args=tuple(args),
        reference=reference,
        cases=names.cases,
        kernels={backend: (f"v0{'.cpp' if backend == 'cpp' else suffix}", text)},
        fixed=(*(entry.fixed if entry else ()), *reference.fixed),
        kept=tuple(sorted(names.kept)),
        assumed=(
            *assumed,
            *squares(args, next(iter(names.cases.values()))),
            *_apart(examples[0]),
        ),
    )
    return _with_kept(draft, given.keep)


def _with_kept(draft: ProblemDraft, kept: tuple[str, ...]) -> ProblemDraft:
    sizes = next(iter(draft.cases.values()))
    if unknown := set(kept) - set(sizes):
        raise DraftError("keep", f"{', '.join(sorted(unknown))}; accepted: {', '.join(sizes)}")
    return replace(draft, kept=(*draft.kept, *kept))


def _apart(example: Example) -> Iterator[str]:
    """One sentence for each tensor of an example call that several arguments are made of."""
    tensors = {n: one.of for n, one in example.items() if isinstance(one, TensorValue) and one.of}
    for of in dict.fromkeys(tensors.values()):
        if len(names := [name for name, one in tensors.items() if one == of]) > 1:
            yield f"{', '.join(names)} are drawn apart, though the call makes them all of {of}."


def _backend(given: Given) -> tuple[str, str]:
    """The backend of a kernel's file, and the ending of its name. Raises DraftError."""
    suffix = "." + given.file_name.rsplit(".", 1)[-1] if "." in given.file_name else ""
    if suffix not in BACKEND_OF:
        accepted = ", ".join(BACKEND_OF)
        raise DraftError("kernel", f"{given.file_name!r}; accepted: a name in {accepted}")
    return BACKEND_OF[suffix], suffix


def _in_c(
    given: Given, reference: ReferenceCode, examples: list[Example], assumed: list[str]
) -> tuple[list[DraftArg], Sizes, ReferenceCode, str]:
    """What `c_arguments` gives, and the source of a kernel in C++ or CUDA."""
    file = given.file_name
    assumed += [AS_CPP] if file.endswith(".c") else []
    text = as_cpp(_with_files(given), file)
    try:
        text, called, takes = with_solve(text, file, given.entry)
    except DraftError as error:
        raise DraftError(error.field, _on_own_line(error.message, text, given)) from None
    text, left_out = needed_for(SOLVE, text, file)
    text = text if text == given.kernel else marked(text, file)
    if put := [one for one in dict(origins(text, file)) if one not in (file, SOLVE)]:
        assumed.append(f"What is needed of {', '.join(put)} is put into {file}.")
    listed = [replace(one, name=_usable(one.name)) for one in takes]
    given = replace(given, outputs=tuple(map(_usable, given.outputs)))
    assumed += [f"{called} is called by a solve that is added at the end."] if called else []
    headers = [name for name in left_out if not name.isidentifier()]
    assumed += [f"{', '.join(headers)}: {LEFT_OUT}, with main."] if headers else []
    names = [name for name in left_out if name.isidentifier()]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    named = f"{', '.join(reversed(names[-MOST_NAMED:]))}{more}"
    assumed += [f"{SOLVE} does not need {named}: {LEFT_OUT}."] if names else []
    return *c_arguments(given, listed, reference, examples, assumed), text


def _on_own_line(message: str, text: str, given: Given) -> str:
    """The same with the line of the file, where `text` has what it includes as well."""
    found = re.match(re.escape(given.file_name) + r":(\d+)", message)
    if found is None:
        return message
    name, line = origins(text, given.file_name)[int(found[1]) - 1]
    return f"{name}:{line}{message[found.end() :]}"


def _usable(name: str) -> str:
    """A parameter's name where it can be one in Python too, and is none of `setup`'s."""
    return f"{name}_" if iskeyword(name) or name in GIVEN else name


def _in_python(
    given: Given,
    entry: PythonEntry,
    args: list[DraftArg],
    assumed: list[str],
    *,
    is_short: bool,
) -> str:
    """The source of a kernel in Python, with the `run_kernel` that calls it."""
    if is_short and entry.returns:
        assumed.append("An answer in a float8 is compared by its bits, in uint8.")
    whole = _with_files(given, entry.name)
    if whole != given.kernel:
        assumed.append(f"What {entry.name} needs of its package is in one file, without the rest.")
    text, left_out = importable(whole, given.file_name, entry.name)
    assumed += left_out
    if entry.name != ENTRY:
        assumed.append(
            f"{entry.name} is called by a {ENTRY} that is added at the end of the file"
            + (f"; {RETURNED}" if entry.returns else ".")
        )
    return wrapped(text, entry, args, is_short=is_short)


def _pair(
    given: Given, backend: str, entry: PythonEntry | None, reference: ReferenceCode
) -> ProblemDraft | None:
    """A problem whose module brings its inputs, if the reference is one and no call is given."""
    if given.calls or not is_pair(reference, reference.text):
        return None
    if given.keep:
        raise DraftError("keep", "accepted: with example calls; here get_inputs has the sizes")
    kernel = (backend, given.file_name, given.kernel)
    named = {"name": _name(given), "title": _title(given)}
    takes = entry or tuple(solve_parameters(given.kernel, given.file_name))
    return with_inputs_of_its_own(named, kernel, takes, reference, tells_sizes=given.tells_sizes)


def _entry(given: Given) -> PythonEntry:
    """The function that is named, else one of its own that an example calls, else the only one."""

    def read(name: str) -> PythonEntry:
        return launching_entry(given.kernel, given.file_name, name)

    calls = given.calls if given.reference.strip() and not given.entry else ()
    for called in map(called_name, calls):
        if f"def {called}(" not in given.reference:
            with contextlib.suppress(DraftError):
                return read(called)
    return _named_by_calls(given.entry, given.calls, read)


def _named_by_calls(name: str, calls: Sequence[str], read: Callable[[str], T]) -> T:
    """What `read` gives for a name; where it needs one, for a name that an example calls."""
    try:
        return read(name)
    except DraftError:
        for called in () if name else map(called_name, calls):
            with contextlib.suppress(DraftError):
                return read(called)
        raise


def _with_files(given: Given, *names: str) -> str:
    """The kernel with what it needs, for these names, of files beside it."""
    return bundled(given.path, given.kernel, *names) if given.path else given.kernel


def _name(given: Given) -> str:
    return slug_of(given.name or given.file_name.rsplit(".", 1)[0]) or "kernel"


def _title(given: Given) -> str:
    return given.title or _name(given).replace("_", " ").capitalize()


def _eager(given: Given) -> ProblemDraft:
    """A problem that has no kernel yet: its reference, run by torch eagerly, is what to beat."""
    file = given.reference_file or "reference.py"
    code = reference_code(given.reference, file, given.function)
    draft = propose(
        replace(
            given,
            file_name=file,
            kernel=given.reference,
            entry=code.name,
            function=code.name,
            tells_sizes=True,
        )
    )
    # A campaign of either begins with it.
    kernels = dict.fromkeys(("cpp", "triton"), draft.kernels["triton"])
    return replace(draft, kernels=kernels, assumed=(NO_KERNEL, *draft.assumed))


def _reference(given: Given, entry: PythonEntry | None) -> ReferenceCode:
    if given.reference.strip():
        file = given.reference_file or "reference"
        read = partial(reference_code, given.reference, file)
        return _named_by_calls(given.function, given.calls, read)
    if not given.file_name.endswith(".py"):
        raise reference_needed("f(x)")
    found = plain_names(given.kernel, given.file_name)
    if entry is not None and not given.function and found <= {entry.name}:
        raise reference_needed(f"{entry.name}_ref({', '.join(entry.takes)})")
    return reference_code(given.kernel, given.file_name, given.function)


def _made_with(
    given: Given, reference: ReferenceCode, entry: PythonEntry | None
) -> tuple[ReferenceCode, PythonEntry | None]:
    """Both with what `get_init_inputs` says that modules are made with (KernelBench)."""
    for file, text in _python_files(given):
        values = returned_values(parsed(text, file), "get_init_inputs")
        if values and all(isinstance(value, int | float | bool | str) for value in values):
            made_with = ", ".join(map(repr, values))
            reference = replace(reference, made_with=made_with)
            entry = replace(entry, made_with=made_with) if entry else None
    return reference, entry


def _python_files(given: Given) -> list[tuple[str, str]]:
    both = ((given.reference_file, given.reference), (given.file_name, given.kernel))
    return [(file, text) for file, text in both if file.endswith(".py") and text.strip()]


def _examples(given: Given, entry: PythonEntry | None, ref: ReferenceCode) -> list[Example]:
    """Arguments by name of each example call, of the kernel or of its reference."""
    takes = dict.fromkeys((entry.name, *entry.aliases), entry.takes) if entry else {}
    takes.setdefault(ref.name, ref.takes)
    found: list[Example] = []
    refused: list[str] = []
    if given.calls:
        for text in given.calls:
            name = called_name(text)
            names = takes.get(name, entry.takes if entry else ref.takes)
            found.append(_named(names, *read_call(text, _scope(given)), named_numbers(text)))
        return found
    for file, text in _python_files(given):
        tree = parsed(text, file)
        if inputs := returned_values(tree, "get_inputs"):
            return [_named(ref.takes, inputs, {})]
        for name, names in takes.items():
            before = len(refused)
            found += [_named(names, *each) for each in find_calls(tree, name, refused)]
            refused[before:] = [f"{file}, {one}" for one in refused[before:]]
    usable = [one for one in found if any(isinstance(v, TensorValue) for v in one.values())]
    if not usable:
        told = ((ref.text, ref.name), (given.kernel, entry.name if entry else ""))
        raise call_needed(entry.name if entry else ref.name, told, refused)
    most = max(len(one) for one in usable)
    return [one for one in usable if len(one) == most][:MOST_CASES]


def _scope(given: Given) -> dict[str, Value]:
    """Constants at the top level of the kernel's file, for calls that name them."""
    if not given.file_name.endswith(".py"):
        return {}
    found: dict[str, Value] = {}
    for node in parsed(given.kernel, given.file_name).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, int | float):
                    found[target.id] = node.value.value
    return found


def _named(
    names: Sequence[str],
    listed: list[Value],
    named: Mapping[str, Value],
    before: Mapping[str, int | float] = MappingProxyType({}),
) -> Example:
    """before: numbers that have names before the call, which may lack those arguments."""
    if len(listed) > len(names):
        raise DraftError("call", f"{len(listed)} arguments; accepted: {', '.join(names)}")
    short = [name for name in names if name not in before]
    if len(listed) + len(named) == len(short) < len(names):
        whole = {name: value for name, value in before.items() if type(value) is int}
        found: dict[str, Value] = {n: WrittenInt.of(ast.Name(n), whole[n], whole) for n in whole}
        found = {**before, **found, **dict(zip(short, listed, strict=False)), **named}
        return {name: value for name, value in found.items() if name in (*names, *named)}
    return {**dict(zip(names, listed, strict=False)), **named}
