"""C++ and CUDA files: the arguments of `solve`, and one that is added where there is none.

It calls a function or launches a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.origins import mark
from campaigns.evaluator.contract.signature import ENTRY, FLOATS, INTEGERS, KERNEL, function_names
from campaigns.problems.import_.arguments import read_argument, reference_alone
from campaigns.problems.import_.call_values import Value
from campaigns.problems.import_.draft import (
    ADDED,
    DraftArg,
    DraftError,
    Given,
    ReferenceCode,
    Role,
)
from campaigns.problems.import_.example_calls import named_numbers
from campaigns.problems.import_.read_sources import PointerArg, solve_parameters
from campaigns.problems.import_.sizes import WORD, Example, Sizes
from campaigns.problems.import_.updates import called_like, require_places
from campaigns.problems.import_.written import TensorValue

# A function, perhaps with what its template's parameters are, perhaps launched.
ASKED = re.compile(r"\s*(\w+)\s*(?:<(?!<)(.*?)>)?\s*(?:<<<(.+)>>>)?\s*", re.DOTALL)
TEMPLATE = re.compile(r"template\s*<([^>]*)>")
TYPE = re.compile(r"\s*(typename|class)\b")
WHOLE = re.compile(r"\b\d+\b")
# What a number of all elements is called.
COUNTS = {"n", "size", "count", "len", "length", "total", "numel", "elements", "num_elements"}
# C has a word for it, and compilers of C++ one of their own.
RESTRICT = "#define restrict __restrict__\n"
NO_NUMBER = (
    "{0}: no call gives it; accepted: a number of that name before the call, as in '{0} = {2}; "
    "{1}(…)'"
)
NO_SIZE = (
    ", or a size: '{0} = 64; {1}(torch.randn(32, {0}))'. Equal sizes are taken as one, so name "
    "them in the call; sizes so far: {2}"
)


def with_solve(text: str, file_name: str, wanted: str) -> tuple[str, str, list[PointerArg]]:
    """The source with a `solve` at its end, the name that it calls, and what that takes.

    "" for one that has its own.

    wanted: a function, a launch such as `add<<<(n + 255) / 256, 256>>>`, or one of a template such
    as `add<float><<<n, 256>>>`; "": the only function that `solve` could call. Raises DraftError,
    which says what to give.
    """
    try:
        found = function_names(text, file_name)
    except BuildFailed as error:
        raise DraftError("kernel", str(error)) from None
    if wanted in ("", ENTRY) and ENTRY in found:
        return text, "", solve_parameters(text, file_name)
    asked = ASKED.fullmatch(wanted)
    name, template, launch = asked.groups() if asked else (wanted, None, None)
    if name and name not in found:
        raise DraftError("entry", f"{name!r}; {file_name} defines: {', '.join(found) or 'none'}")
    callable_ = {each: params for each in found if (params := _plain(text, file_name, each))}
    hosts = [each for each in callable_ if KERNEL not in found[each] and each != "main"]
    if not name:
        name = hosts[0] if len(hosts) == 1 else ""
    if name and (launch or KERNEL not in found[name]):
        meant = _meant(name, found[name], template)
        listed = solve_parameters(text, file_name, name, meant, launched=bool(launch))
        grid = f"<{template}>" * bool(template) + f"<<<{launch}>>>" * bool(launch)
        given = ", ".join(_declared(one) for one in listed)
        called = ", ".join(map(_handed, listed))
        solve = f'extern "C" void {ENTRY}({given}) {{\n  {name}{grid}({called});\n}}'
        added = f"// {ADDED}\n{mark(1, ENTRY)}\n{solve}"
        return f"{text.rstrip()}\n\n{added}\n", name, listed
    kernels = {each: callable_[each] for each in callable_ if KERNEL in found[each]}
    others = [each for each in found if each not in callable_ and each != "main"]
    if name or (len(others) == 1 and not callable_):
        # What is wrong with the only one that could be meant.
        meant = _meant(name or others[0], found[name or others[0]], template)
        solve_parameters(text, file_name, name or others[0], meant)
    field = "entry" if hosts or kernels else "kernel"
    raise DraftError(field, _accepted(file_name, hosts, kernels))


def _meant(name: str, before: str, given: str | None) -> dict[str, str]:
    """What the parameters of a function's template stand for. before: what stands before its name.

    Raises DraftError, which says how they are given.
    """
    listed = TEMPLATE.match(before)
    if listed is None:
        return {}
    parameters = [one.partition("=") for one in listed.group(1).split(",")]
    names = [one.split()[-1].strip(".") for one, _, _ in parameters]
    values = [one.strip() for one in (given or "").split(",") if one.strip()]
    values += [usual.strip() for _, _, usual in parameters[len(values) :]]
    if "" in values:
        needed = [one for one, _, value in parameters if not value.strip()]
        usual = ", ".join("float" if TYPE.match(one) else "32" for one in needed)
        grid = "<<<(n + 255) / 256, 256>>>" if KERNEL in before else ""
        raise DraftError(
            "entry",
            f"{name} is a template of {', '.join(names)}; accepted: what they are, as in "
            f'"{name}<{usual}>{grid}"',
        )
    return dict(zip(names, values, strict=False))


def _plain(text: str, file_name: str, name: str) -> list[PointerArg]:
    """The parameters of a function that takes pointers and numbers only, and a pointer at least."""
    try:
        listed = solve_parameters(text, file_name, name)
    except DraftError:
        return []
    return listed if any(one.pointer for one in listed) else []


def _const(one: PointerArg) -> str:
    return "" if one.written else "const "


def _declared(one: PointerArg) -> str:
    return f"{_const(one)}{one.spelt}* {one.name}" if one.pointer else f"{one.spelt} {one.name}"


def _handed(one: PointerArg) -> str:
    """An argument as a function takes it: an array of two dimensions is a pointer to its rows."""
    if len(one.sides) < 2:
        return one.name
    row = "".join(f"[{side}]" for side in one.sides[1:])
    return f"reinterpret_cast<{_const(one)}{one.spelt} (*){row}>({one.name})"


def _accepted(file_name: str, hosts: Sequence[str], kernels: dict[str, list[PointerArg]]) -> str:
    ways = [", ".join(hosts)] if hosts else []
    for name, listed in kernels.items():
        number = next((one.name for one in listed if one.spelt in INTEGERS), "1024")
        taken = ", ".join(one.name for one in listed)
        launch = f"{name}<<<({number} + 255) / 256, 256>>>"
        ways.append(f'a launch of {name}({taken}), such as "{launch}"')
    accepted = "; or ".join(ways) or f'extern "C" void {ENTRY}(const float* x, float* y, int n)'
    return f'{file_name} defines no extern "C" void {ENTRY}(…); accepted: {accepted}'


def as_cpp(text: str, file_name: str) -> str:
    """A source in C as one that a compiler of C++ reads."""
    uses = file_name.endswith(".c") and re.search(r"\brestrict\b", text)
    return f"{RESTRICT}{mark(1, file_name)}\n{text}" if uses else text


def c_arguments(
    given: Given,
    listed: Sequence[PointerArg],
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], Sizes, ReferenceCode]:
    """Arguments and sizes, and the reference with its arguments by the names of `solve`'s."""
    before = {name for text in given.calls for name in named_numbers(text)}
    known = before.union(*examples)
    whole = [arg.name for arg in listed if not arg.pointer and arg.dtype.startswith(("int", "ui"))]
    told = [name for name in whole if name not in known]
    counted = _counted(given, listed, told, examples)
    names = Sizes(examples, () if counted else told, taken=[counted] if counted else ())
    theirs = _taken_by(given, reference, listed, examples[0], assumed)
    renamed = called_like(reference, {own: mine for mine, own in theirs.items()})
    written = _written(given, listed, renamed, theirs, assumed)
    found: dict[str, DraftArg] = {}
    for arg in (one for one in listed if one.pointer):
        values = [example[theirs[arg.name]] for example in examples if arg.name in theirs]
        if values:
            found[arg.name] = _tensor(given, arg, values, names, assumed, arg.name in written)
            names.keep(_built_in(arg, found[arg.name], whole))
        elif arg.name in written:
            found[arg.name] = DraftArg(arg.name, Role.OUTPUT, arg.dtype, None)
        else:
            raise DraftError("call", f"{arg.name}: no example call gives it")
    if all(found[name].role is Role.OUTPUT for name in found):
        raise DraftError("outputs", f"which of these does a call write? {', '.join(found)}")
    # When all sizes have names.
    left = [n for n in reference.takes if n not in theirs.values() and n in examples[0]]
    for arg in (one for one in listed if not one.pointer):
        is_given = arg.name in examples[0]
        number = None if is_given else names.named(arg.name, given.calls)
        if arg.name == counted:
            number = _elements(found, counted, assumed)
        own = _same(arg, left, examples[0]) if number is None else ""
        if own:
            left = [name for name in left if name != own]
            theirs[arg.name] = own
            number = names.number([example[own] for example in examples])
        if number is None:
            raise DraftError("call", _no_number(arg, reference.name, names))
        number = float(number) if arg.spelt in FLOATS and isinstance(number, int) else number
        found[arg.name] = DraftArg(arg.name, Role.NUMBER, arg.dtype, value=number)
    args = [found[arg.name] for arg in listed]
    places = require_places(renamed, args, assumed)
    _require_answers(places, args)
    mine = {own: name for name, own in theirs.items()}
    reference = replace(
        renamed,
        takes=tuple(mine.get(name, name) for name in reference.takes),
        own=reference.takes,
        by_name=False,
        places=tuple(place or "" for place in places),
        fixed=reference_alone(left, examples, names),
    )
    return args, names, reference


def _taken_by(
    given: Given,
    reference: ReferenceCode,
    listed: Sequence[PointerArg],
    example: Example,
    assumed: list[str],
) -> dict[str, str]:
    """The tensor of the reference that each pointer is: the same name, else the same order.

    Pointers that a call only writes are left over, where the reference takes fewer: those that are
    named as outputs, or are not const and an element of them is assigned to. Raises DraftError.
    """

    def writes(arg: PointerArg) -> bool:
        stored = re.search(rf"\b{arg.name}\s*\[[^;{{}}]*\]\s*[-+*/]?=(?!=)", given.kernel)
        return arg.name in given.outputs or (arg.written and bool(stored))

    pointers = [arg for arg in listed if arg.pointer]
    tensors = [n for n in reference.takes if isinstance(example.get(n), TensorValue)]
    found = {arg.name: arg.name for arg in pointers if arg.name in tensors}
    rest = [name for name in tensors if name not in found]
    free = [arg for arg in pointers if arg.name not in found]
    if len(free) != len(rest):
        free = sorted(free, key=lambda arg: (writes(arg), arg.written))
    cut = free[len(rest) - 1 : len(rest) + 1] if rest else []
    alike = len(cut) > 1 and len({writes(arg) for arg in cut}) == 1
    if alike and all(arg.written for arg in cut):
        named = ", ".join(arg.name for arg in pointers)
        raise DraftError("outputs", f"which of these does a call write? {named}")
    for arg, name in zip(free, rest, strict=False):
        found[arg.name] = name
        assumed.append(f"{arg.name} is what the reference calls {name}.")
    if over := rest[len(free) :]:
        raise DraftError(
            "reference",
            f"{reference.name} takes {', '.join(tensors)}; the kernel has no pointer for "
            f"{', '.join(over)}: {', '.join(arg.name for arg in pointers)}",
        )
    return found


def _written(
    given: Given,
    listed: Sequence[PointerArg],
    reference: ReferenceCode,
    theirs: Collection[str],
    assumed: list[str],
) -> list[str]:
    """The pointers that a call writes: those that are named, else all without const.

    But where the reference takes one of these, and neither changes nor returns it, it is an input.
    Raises DraftError.
    """
    open_ = [arg.name for arg in listed if arg.pointer and arg.written]
    if given.outputs:
        return [name for name in given.outputs if any(arg.name == name for arg in listed)]
    if not open_:
        raise DraftError("outputs", "every pointer of solve is const; which one does it write?")
    returned = reference.returned if reference.returns else ()
    said = {one.argument for one in returned} | reference.updates
    unsaid = [name for name in open_ if name in theirs and name not in said]
    answers = sum(not one.argument or one.argument not in said & {*open_} for one in returned)
    free = sum(name not in theirs for name in open_)
    if answers == free + len(unsaid) or (not answers and not free and len(unsaid) == len(open_)):
        return open_
    if answers != free:
        raise DraftError("outputs", f"which of these does a call write? {', '.join(open_)}")
    assumed += [f"{name} is an input: the reference does not change it." for name in unsaid]
    return [name for name in open_ if name not in unsaid]


def _tensor(
    given: Given,
    arg: PointerArg,
    values: list[Value],
    names: Sizes,
    assumed: list[str],
    is_written: bool,
) -> DraftArg:
    made = read_argument(given, arg.name, values, names, assumed)
    is_blank = isinstance(values[0], TensorValue) and values[0].blank
    role = Role.OUTPUT if is_blank else Role.IN_PLACE
    return replace(made, dtype=arg.dtype or made.dtype, role=role if is_written else Role.INPUT)


def _built_in(arg: PointerArg, made: DraftArg, told: Collection[str]) -> Iterator[str]:
    """The sizes of an array's sides that the source has, and no argument says."""
    shape = made.shape or ()
    for place, side in enumerate(arg.sides):
        if side and not {*WORD.findall(side)} & {*told}:
            sizes = shape[place : place + 1] if len(shape) == len(arg.sides) else shape
            yield from (name for size in sizes for name in WORD.findall(str(size)))


def _same(arg: PointerArg, left: Sequence[str], example: Example) -> str:
    """The reference's number that one of `solve` is: of its name, else the next of its kind."""
    if arg.name in example:
        return arg.name
    numbers = [name for name in left if isinstance(example[name], int | float)]
    return next((n for n in numbers if isinstance(example[n], float) is (arg.spelt in FLOATS)), "")


def _counted(
    given: Given, listed: Sequence[PointerArg], told: Sequence[str], examples: Sequence[Example]
) -> str:
    """The only whole number of a kernel of flat pointers, where it counts all elements; or "".

    By its name; where all tensors are alike, and the source has no side of theirs.
    """
    shapes = [
        {value.shape for value in example.values() if isinstance(value, TensorValue)}
        for example in examples
    ]
    sides = {side for one in shapes for shape in one for side in shape[1:] if side > 1}
    flat = not any(arg.sides for arg in listed)
    alike = all(len(one) == 1 for one in shapes) and sides
    fits = len(told) == 1 and told[0].lower().strip("_") in COUNTS and flat and alike
    return told[0] if fits and not sides & {*map(int, WHOLE.findall(given.kernel))} else ""


def _elements(found: Mapping[str, DraftArg], name: str, assumed: list[str]) -> str:
    """How many elements the first tensor has, by its sizes."""
    tensor, shape = next((arg.name, arg.shape) for arg in found.values() if arg.shape)
    assumed.append(
        f"{name} is how many elements {tensor} has; another number is given before the call, as in "
        f"'{name} = 64; f(…)'."
    )
    return " * ".join(map(str, shape))


def _no_number(arg: PointerArg, called: str, names: Sizes) -> str:
    if arg.spelt in FLOATS:
        return NO_NUMBER.format(arg.name, called, 0.5)
    sizes = NO_SIZE.format(arg.name, called, ", ".join(names.known) or "none")
    return NO_NUMBER.format(arg.name, called, 64) + sizes


def _require_answers(places: Sequence[str | None], args: Sequence[DraftArg]) -> None:
    """Raise DraftError where nothing of a reference is the answer for a pointer, or too much is."""
    lacking = [arg.name for arg in args if arg.is_returned and arg.name not in places]
    if lacking or None in places:
        written = ", ".join(arg.name for arg in args if arg.is_written)
        raise DraftError(
            "reference",
            f"a call writes {written}, and the reference gives {len(places)} answers; needed: one "
            "for each pointer that it does not take, in their order",
        )
