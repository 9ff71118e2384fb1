"""Names of the sizes of a problem: those of the example calls, of the source, or of their roles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from campaigns.problems.import_.call_values import Value
from campaigns.problems.import_.draft import NO_SIZE, DraftError, case_name
from campaigns.problems.import_.example_calls import named_numbers
from campaigns.problems.import_.own_inputs import GIVEN
from campaigns.problems.import_.read_sources import is_jitted
from campaigns.problems.import_.written import TensorValue

# What a size without a name is called, in order.
SIZE_NAMES = ("N", "D", "K", "M", "H", "L", "P", "Q", "R", "S")
# A few classes may be as many as rows by chance.
LEAST_BOUND = 16
WORD = re.compile(r"[^\W\d]\w*")
Example = Mapping[str, Value]
# Argument → axis, from the end where negative → name.
Sides = Mapping[str, Mapping[int, str]]
QUERIES = ("q", "k", "v", "query", "key", "value")
HEADS = {0: "B", 1: "H", 2: "S", 3: "D"}


class Sizes:
    """Sizes that the calls name alike are one, and so are equal ones without a name."""

    def __init__(
        self,
        examples: Sequence[Example],
        usual: Sequence[str] = (),
        taken: Iterable[str] = (),
        sides: Sides = MappingProxyType({}),
    ) -> None:
        """usual: what sizes are called, in order, where neither the calls nor `sides` name them.

        taken: names of something else, such as of an argument that a call may leave out. sides:
        what the source calls the sides of its arguments.
        """
        self._sides = sides
        self._examples = examples
        others = {name.lower() for name in taken}
        self._usual = (*usual, *(name for name in SIZE_NAMES if name.lower() not in others))
        # By name, one for each example; those that other sizes are written with are the first.
        self._values: dict[str, tuple[int | float, ...]] = dict(_in_expressions(examples))
        self._apart = set(self._values)
        # Hidden cases leave these as they are.
        self.kept: set[str] = set()

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def cases(self) -> dict[str, dict[str, int | float]]:
        """The sizes of each example call, under a name made of them."""
        found: dict[str, dict[str, int | float]] = {}
        for index in range(len(self._examples)):
            sizes = {name: values[index] for name, values in self._values.items()}
            found[case_name(sizes.values())] = sizes or {**NO_SIZE}
        return found

    def called(self, name: str) -> str | None:
        """The size of that name, however it is spelt."""
        return next((size for size in self.known if size.lower() == name.lower()), None)

    def named(self, name: str, calls: Sequence[str]) -> str | int | float | bool | None:
        """The size of that name, or the number that each call gives that name before it.

        A number that differs between calls is one of the case; None where a call has none.
        """
        found = [value for text in calls if (value := named_numbers(text).get(name)) is not None]
        if name in self._values or not found or len(found) < len(calls):
            return self.called(name)
        if len({*found}) == 1:
            return found[0]
        self._values[name] = tuple(found)
        self._apart.add(name)
        self.kept.add(name)
        return name

    def keep(self, names: Iterable[str]) -> None:
        """Have hidden cases leave these sizes as they are; other names are left out."""
        self.kept |= {*names} & self._values.keys()

    def shape(self, name: str, tensors: list[TensorValue]) -> tuple[str | int, ...]:
        """The sides of an argument by name."""
        if len({len(one.shape) for one in tensors}) > 1 or len(tensors) < len(self._examples):
            raise DraftError("call", "the example calls give one argument different dimensions")
        names = tensors[0].names or ("",) * len(tensors[0].shape)
        alike = all(one.names == tensors[0].names for one in tensors)
        own = self._sides.get(name) or of_role(name, len(names))

        def written(axis: int) -> str:
            source = own.get(axis) or own.get(axis - len(names), "")
            return (names[axis] if alike else "") or ("" if source in GIVEN else source)

        return tuple(
            self._size(tuple(one.shape[axis] for one in tensors), written(axis))
            for axis in range(len(names))
        )

    def known_shape(self, tensors: Sequence[TensorValue]) -> tuple[str | int, ...]:
        """The shape of what only the kernel has: no size is new because of it."""
        first = tensors[0]
        found: list[str | int] = []
        for axis, written in enumerate(first.names):
            values = tuple(one.shape[axis] for one in tensors)
            found.append(written if self._is_known(written) else self._of(values) or values[0])
        return tuple(found)

    def number(self, values: list[Value]) -> str | int | float | bool:
        """A size where the numbers are those of one, else the number itself."""
        first = values[0]
        texts = {getattr(value, "text", "") for value in values}
        if len(texts) == 1 and self._is_known(text := texts.pop()):
            return text
        whole = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))
        if len(whole) == len(values) and (size := self._of(whole)):
            return size
        if any(value != first for value in values):
            raise DraftError("call", f"a number differs between calls and is no size: {values}")
        if isinstance(first, bool | float):
            return first
        return int(first) if isinstance(first, int) else 0

    def _is_known(self, text: str) -> bool:
        """Say whether every name that a size is written with is a size."""
        return bool(text) and {*WORD.findall(text)} <= self._values.keys()

    def bound(self, values: Sequence[int]) -> str | int:
        """What integers stay below: a size, such as a vocabulary's, where it is one."""
        return (values[0] >= LEAST_BOUND and self._of(tuple(values))) or values[0]

    def _size(self, values: tuple[int, ...], written: str) -> str | int:
        if values == (1,) * len(values):
            return 1
        if not written.isidentifier() and self._is_known(written):
            return written
        if written.isidentifier() and self._values.get(written, values) == values:
            self._values[written] = values
            return written
        if found := self._of(values):
            return found
        name = next(name for name in self._usual if name not in self._values)
        self._values[name] = values
        return name

    def _of(self, values: tuple[int, ...]) -> str | None:
        known = {name: value for name, value in self._values.items() if name not in self._apart}
        return next((name for name, value in known.items() if value == values), None)


def _in_expressions(examples: Sequence[Example]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names that sizes are written with beside other names and numbers, with their values."""
    found = [
        dict(pair for each in one.values() if isinstance(each, TensorValue) for pair in each.named)
        for one in examples
    ]
    for name in found[0] if found else ():
        if all(name in one for one in found):
            yield name, tuple(one[name] for one in found)


def side_names(tree: ast.Module, function: str) -> Sides:
    """The names that a function gives to sides of what it is given, as in `M, K = a.shape`."""
    found: dict[str, dict[int, str]] = {}
    for name, tensor, axis in _named_sides(tree, function):
        found.setdefault(tensor, {}).setdefault(axis, name)
    return found


def of_role(argument: str, dimensions: int) -> Mapping[int, str]:
    """What the sides of such an argument are called where nobody says."""
    return HEADS if argument.lower() in QUERIES and dimensions == len(HEADS) else {}


def powers_of_two(tree: ast.Module, function: str) -> set[str]:
    """The sizes, by their names in a function, that its Triton kernels have as `tl.arange` ends.

    Triton refuses any other number there. A size that is rounded up first is none of them.
    """
    kernels = {one.name: one for one in _functions(tree) if is_jitted(one)}
    found = set()
    for node in (one for body in _bodies(tree, function) for one in ast.walk(body)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript):
            continue
        kernel = kernels.get(ast.unparse(node.func.value))
        if kernel is None:
            continue
        taken = [arg.arg for arg in kernel.args.args]
        given = [*zip(taken, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
        ends = _range_ends(kernel)
        found |= {value.id for name, value in given if name in ends and isinstance(value, ast.Name)}
    return found


def _range_ends(kernel: ast.FunctionDef) -> set[str]:
    calls = (one for one in ast.walk(kernel) if isinstance(one, ast.Call))
    ranges = (one for one in calls if ast.unparse(one.func).endswith("arange"))
    return {end.id for one in ranges for end in one.args[1:] if isinstance(end, ast.Name)}


def _named_sides(tree: ast.Module, function: str) -> Iterator[tuple[str, str, int]]:
    """(name, tensor, axis)"""
    for node in (one for body in _bodies(tree, function) for one in ast.walk(body)):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and not isinstance(value, ast.Tuple):
            tensor, axis = _side(value)
            names = [one.id if isinstance(one, ast.Name) else "" for one in target.elts]
            if tensor and axis is None and all(names):
                yield from ((name, tensor, place) for place, name in enumerate(names))
            continue
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = [*zip(target.elts, value.elts, strict=False)]
        for one, source in pairs:
            tensor, axis = _side(source)
            if tensor and axis is not None and isinstance(one, ast.Name):
                yield one.id, tensor, axis


def _side(node: ast.expr) -> tuple[str, int | None]:
    """The tensor and axis of `x.shape[-1]` or `x.size(0)`. `x.shape` has no axis."""
    match node:
        case ast.Attribute(value=ast.Name(id=tensor), attr="shape"):
            return tensor, None
        case ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[]):
            return tensor, None
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=tensor), attr="shape"), slice=at):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[at]):
            pass
        case _:
            return "", None
    try:
        axis = ast.literal_eval(at)
    except ValueError:
        axis = None
    return (tensor, axis) if isinstance(axis, int) else ("", None)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))


def _bodies(tree: ast.Module, function: str) -> Iterator[ast.AST]:
    """The function, or the class, of that name."""
    defined = (ast.FunctionDef, ast.ClassDef)
    return (one for one in tree.body if isinstance(one, defined) and one.name == function)
