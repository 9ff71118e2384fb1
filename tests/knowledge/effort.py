"""How much work something does, counted: a clock would ask how busy the machine is."""

import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager

HANG_S = 90.0  # of this process; what is asked takes about a second


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python the call runs. What a regular expression does is not seen."""
    count = 0

    def each_line(frame, event, argument):
        nonlocal count
        count += event == "line"
        return each_line

    before = sys.gettrace()
    sys.settrace(each_line)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def grows_evenly(work: Callable[[int], object], size: int) -> bool:
    """Whether four times the size takes at most six times the lines; squared takes sixteen."""
    less = lines_run(lambda: work(size))  # first: what it reads is kept, and would be read for less
    return lines_run(lambda: work(4 * size)) <= 6 * less


@contextmanager
def no_hang():
    """Fail where a regular expression goes back and forth for minutes."""

    def give_up(number, frame):
        raise AssertionError(f"it did not end within {HANG_S:.0f} s of this process")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
