"""Answers that a function returns, made in the memory of the outputs instead of copied there.

A call that ends with a copy into an output takes longer than what its user wrote, and on a GPU the
copy is another kernel. So calls are watched until two are alike: which operation of torch makes the
tensor that is copied? Later calls let that operation write the output itself. What cannot be is
copied, after everything else, so that no answer is lost that lies where another one belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# A CPU copies less than this faster than a call goes through a mode of torch's dispatcher.
LEAST_BYTES = 1 << 20
COPY = torch.ops.aten.copy_.default
# What only takes memory. Others that torch has no way of its own for copy inside: nothing is lost.
EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
# Options of an operation that say which memory to take.
OF_MEMORY = frozenset({"dtype", "layout", "device", "pin_memory"})
Shapes = tuple[tuple[torch.Size, torch.dtype], ...]


# By the number of an operation the answer that it makes: which output it is for, and what it gives.
_Makers = Mapping[int, tuple[int, torch.Size, torch.dtype]]


@dataclass(frozen=True, slots=True)
class _Course:
    """A call's operations in their order, and those that make an answer.

    steady: whether two calls had the same ones. The first may have more, as when Triton compiles.
    """

    operations: tuple[Any, ...]
    makers: _Makers
    steady: bool = False


class PlacedAnswers:
    """Calls a function whose copies into outputs are left out where they can be.

    function: takes the arguments of a case by name, and copies its answers into the outputs.
    outputs: the names of those whose first value nothing reads.
    """

    def __init__(self, function: Callable[..., None], outputs: Sequence[str]) -> None:
        self._function = function
        self._outputs = outputs
        self._courses: dict[Shapes, _Course] = {}
        self._copied: dict[Shapes, frozenset[str]] = {}

    def copied(self, **arguments: Any) -> frozenset[str]:
        """The outputs into which a call of such shapes copies answers of their dtype.

        Where calls are too fast to be watched, one more is made.
        """
        places, shapes = self._places(arguments)
        if shapes not in self._copied:
            self._see(_Watching(places), shapes, arguments)
        return self._copied[shapes]

    def __call__(self, **arguments: Any) -> None:
        places, shapes = self._places(arguments)
        known = self._courses.get(shapes)
        is_small = sum(one.nbytes for one in places) < LEAST_BYTES
        # Watching has shown that nothing can be made in its place.
        is_vain = known is not None and known.steady and not known.makers
        if is_vain or (is_small and places[0].device.type == "cpu"):
            self._function(**arguments)
            return
        mode = _Placing(places, known) if known and known.steady else _Watching(places)
        self._see(mode, shapes, arguments)
        same = known is not None and known.operations == tuple(mode.operations)
        if not (same and known and known.steady):
            makers = mode.makers if isinstance(mode, _Watching) else {}
            self._courses[shapes] = _Course(tuple(mode.operations), makers, steady=same)

    def _places(self, arguments: Mapping[str, Any]) -> tuple[list[torch.Tensor], Shapes]:
        places = [arguments[name] for name in self._outputs]
        return places, tuple((place.shape, place.dtype) for place in places)

    def _see(self, mode: _Seeing, shapes: Shapes, arguments: Mapping[str, Any]) -> None:
        with mode:
            self._function(**arguments)
        mode.finish()
        self._copied[shapes] = frozenset(self._outputs[at] for at in mode.copied)


class _Seeing(TorchDispatchMode):  # type: ignore[misc]
    """Sees the operations of one call. copied: the outputs that it copies an answer into."""

    # Such as a kernel that is a custom operator; they are passed on as they are.
    supports_higher_order_operators = True

    def __init__(self, places: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.operations: list[Any] = []
        self.copied: set[int] = set()
        self._places = places

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let torch.compile compile: it makes nothing of functions that another mode sees."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave torch's compiler alone: to be kept out of here it is imported, which takes seconds.

        It does not come here anyway. Older versions of torch do not ask.
        """
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **(kwargs or {}))
        # Not counted: torch adds some of its own, as where a result is held here.
        if not func.is_view:
            self.operations.append(func)
        return self._seen(func, args, kwargs or {})

    def finish(self) -> None:
        """Do what was put off."""

    def _seen(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def _note_copy(self, at: int, target: torch.Tensor, source: torch.Tensor) -> None:
        """A copy into another dtype, or into a part of the output, computes something."""
        if target.numel() == self._places[at].numel() and source.dtype == target.dtype:
            self.copied.add(at)

    def _place_of(self, target: Any) -> int | None:
        """Which output a tensor is."""
        for at, place in enumerate(self._places):
            if isinstance(target, torch.Tensor) and target.data_ptr() == place.data_ptr():
                return at
        return None


class _Watching(_Seeing):
    """makers: none where it is not safe."""

    def __init__(self, places: Sequence[torch.Tensor]) -> None:
        super().__init__(places)
        self.makers: dict[int, tuple[int, torch.Size, torch.dtype]] = {}
        self._written: set[int] = set()
        self._is_safe = True
        # Held, so that no other result of this call is given the same memory.
        self._made: dict[int, tuple[int, torch.Tensor]] = {}

    def finish(self) -> None:
        if not self._is_safe:
            self.makers = {}

    def _seen(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        result = func(*args, **kwargs)
        at = self._place_of(args[0]) if func is COPY else None
        if at is not None:
            self._answered(at, args[0], args[1])
        elif any(self._place_of(each) is not None for each in _each((*args, *kwargs.values()))):
            self._is_safe = False
        elif func._schema.is_mutable:
            # It may change an answer after it was copied.
            self._is_safe &= not self._written
        elif not func.is_view and self._may_be_an_answer(result):
            self._made[result.data_ptr()] = (len(self.operations) - 1, result)
        return result

    def _may_be_an_answer(self, result: Any) -> bool:
        if not isinstance(result, torch.Tensor):
            return False
        size = result.element_size()
        # A float8 is handed over as its bits.
        alike = (place for place in self._places if place.element_size() == size)
        return any(_fits(result.view(place.dtype), place) for place in alike)

    def _answered(self, at: int, target: torch.Tensor, source: torch.Tensor) -> None:
        self._is_safe &= at not in self._written
        self._written.add(at)
        if not _is_one(target, source):
            self._note_copy(at, target, source)
        number, result = self._made.get(source.data_ptr(), (-1, None))
        if result is not None and _fits(source, target) and _fits(target, self._places[at]):
            self.makers.setdefault(number, (at, result.shape, result.dtype))


class _Placing(_Seeing):
    def __init__(self, places: Sequence[torch.Tensor], course: _Course) -> None:
        super().__init__(places)
        self._course = course
        self._put_off: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._is_known = True

    def finish(self) -> None:
        # First out of the way what lies where another answer belongs.
        ready = [
            (target, source if self._place_of(source) is None else source.clone())
            for target, source in self._put_off
        ]
        for target, source in ready:
            target.copy_(source)
        self._put_off = []

    def _seen(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if func.is_view:
            return func(*args, **kwargs)
        number = len(self.operations) - 1
        self._is_known &= self._course.operations[number : number + 1] == (func,)
        at = self._place_of(args[0]) if func is COPY else None
        if at is not None:
            if not _is_one(args[0], args[1]):
                self._put_off.append((args[0], args[1]))
                self._note_copy(at, args[0], args[1])
            return args[0]
        if self._put_off and func._schema.is_mutable:
            # Only where a call goes another way than those before it.
            self.finish()
        maker = self._course.makers.get(number) if self._is_known else None
        if maker is None:
            return func(*args, **kwargs)
        output, shape, dtype = maker
        place = self._places[output].view(dtype).view(shape)
        if func._opname in EMPTY:
            return place
        try:
            # Without the options that say what memory to take: that is given.
            options = {name: value for name, value in kwargs.items() if name not in OF_MEMORY}
            return func.overloadpacket(*args, **options, out=place)
        except (RuntimeError, TypeError):
            # Not every operation of torch can write to memory that it is given.
            return func(*args, **kwargs)


def _each(given: Sequence[Any]) -> list[Any]:
    """With what is in lists one by one."""
    return [each for one in given for each in (one if isinstance(one, list) else [one])]


def _fits(one: torch.Tensor, place: torch.Tensor) -> bool:
    """Whether one could lie in the memory of the other."""
    return bool(
        one.dtype == place.dtype
        and one.numel() == place.numel()
        and one.device == place.device
        and one.is_contiguous()
        and place.is_contiguous()
    )


def _is_one(target: torch.Tensor, source: torch.Tensor) -> bool:
    return _fits(source, target) and source.data_ptr() == target.data_ptr()
