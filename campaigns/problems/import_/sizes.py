"""Names for the sizes of tensors: equal ones over all example calls have one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.example_calls import TensorValue, Value

SIZE_NAMES = ("N", "D", "K", "M", "H", "L", "P", "Q", "R", "S")
Example = Mapping[str, Value]


class Sizes:
    """Gives equal sizes one name, over all example calls."""

    def __init__(self, examples: Sequence[Example], usual: Sequence[str] = ()) -> None:
        """usual: what sizes are called, in order, where the calls do not name them."""
        self._examples = examples
        self._usual = (*usual, *SIZE_NAMES)
        self._by_values: dict[tuple[int, ...], str] = {}
        self._called: dict[str, str] = {}

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(self._by_values.values())

    @property
    def cases(self) -> dict[str, dict[str, int]]:
        """The sizes of each example call, under a name made of them."""
        found: dict[str, dict[str, int]] = {}
        for index in range(len(self._examples)):
            sizes = {name: values[index] for values, name in self._by_values.items()}
            found["x".join(map(str, sizes.values())) or "given"] = sizes
        return found

    def called(self, name: str) -> str | None:
        """The size of that name, however it is spelt."""
        return next((size for size in self.known if size.lower() == name.lower()), None)

    def shape(self, tensors: list[TensorValue]) -> tuple[str | int, ...]:
        if len({len(one.shape) for one in tensors}) > 1 or len(tensors) < len(self._examples):
            raise DraftError("call", "the example calls give one argument different dimensions")
        names = tensors[0].names or ("",) * len(tensors[0].shape)
        return tuple(
            self._size(tuple(one.shape[axis] for one in tensors), names[axis])
            for axis in range(len(names))
        )

    def number(self, values: list[Value]) -> str | int | float | bool:
        """A size where the numbers are those of one, else the number itself."""
        first = values[0]
        whole = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))
        if len(whole) == len(values) and whole in self._by_values:
            return self._by_values[whole]
        if any(value != first for value in values):
            raise DraftError("call", f"a number differs between calls and is no size: {values}")
        return first if isinstance(first, int | float | bool) else 0

    def _size(self, values: tuple[int, ...], written: str) -> str | int:
        if values == (1,) * len(values):
            return 1
        if values not in self._by_values:
            free = [name for name in self._usual if name not in self._by_values.values()]
            taken = written in self._by_values.values()
            self._by_values[values] = written if written and not taken else free[0]
        return self._by_values[values]
