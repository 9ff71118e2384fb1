"""Names for the sizes of tensors: those of the example calls, else one for equal sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from campaigns.problems.import_.draft import DraftError, case_name
from campaigns.problems.import_.example_calls import TensorValue, Value

SIZE_NAMES = ("N", "D", "K", "M", "H", "L", "P", "Q", "R", "S")
# A few classes may be as many as rows by chance.
LEAST_BOUND = 16
WORD = re.compile(r"[^\W\d]\w*")
Example = Mapping[str, Value]


class Sizes:
    """Sizes that the calls name alike are one, and so are equal ones without a name."""

    def __init__(self, examples: Sequence[Example], usual: Sequence[str] = ()) -> None:
        """usual: what sizes are called, in order, where the calls do not name them."""
        self._examples = examples
        self._usual = (*usual, *SIZE_NAMES)
        # By name, one for each example; those that other sizes are written with are the first.
        self._values: dict[str, tuple[int, ...]] = dict(_in_expressions(examples))
        self._apart = frozenset(self._values)

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def cases(self) -> dict[str, dict[str, int]]:
        """The sizes of each example call, under a name made of them."""
        found: dict[str, dict[str, int]] = {}
        for index in range(len(self._examples)):
            sizes = {name: values[index] for name, values in self._values.items()}
            found[case_name(sizes.values())] = sizes
        return found

    def called(self, name: str) -> str | None:
        """The size of that name, however it is spelt."""
        return next((size for size in self.known if size.lower() == name.lower()), None)

    def shape(self, tensors: list[TensorValue]) -> tuple[str | int, ...]:
        if len({len(one.shape) for one in tensors}) > 1 or len(tensors) < len(self._examples):
            raise DraftError("call", "the example calls give one argument different dimensions")
        names = tensors[0].names or ("",) * len(tensors[0].shape)
        alike = all(one.names == tensors[0].names for one in tensors)
        return tuple(
            self._size(tuple(one.shape[axis] for one in tensors), names[axis] if alike else "")
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
        """Whether every name that a size is written with is a size."""
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
