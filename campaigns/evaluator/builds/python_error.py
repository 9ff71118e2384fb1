"""Where in a candidate's Python an error arose, in one line as compilers have it. No backend."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.origins import origin_of

# Under this name a candidate's Python lies in its runner's folder.
FILE = "candidate.py"
# Of an error's type, where it was defined.
MODULES = re.compile(r"^(?:\w+\.)+(?=\w+(?::|$))")


def place_of(error: BaseException, source: Source) -> str:
    """`add.py:9: error: NameError: …`; "" for one that did not arise in the candidate's file.

    Of errors that led to others the first counts, and of frames the innermost. Where that error has
    no words of its own, those of its cause are taken.
    """
    causes = [*chain(error)][::-1]
    for at, one in enumerate(causes):
        if line := _line(one, source.text):
            told = (words for each in reversed(causes[: at + 1]) if (words := _words(each)))
            name, line = origin_of(source.text, line, source.name)
            return f"{name}:{line}: error: {next(told, type(one).__name__)}"
    return ""


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, the last one first."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__


def _line(error: BaseException, text: str) -> int:
    """Counted from 1; 0 where it arose elsewhere."""
    # What Triton cannot compile is no code that ran: it names the place within a function's text.
    within = getattr(getattr(error, "node", None), "lineno", 0)
    function = getattr(error, "src", None)
    if isinstance(within, int) and within and isinstance(function, str) and function in text:
        return text[: text.index(function)].count("\n") + within
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if Path(frame.filename).name == FILE]
    return lines[-1] if lines else 0


def _words(error: BaseException) -> str:
    """Its message in one line; "" where it has none, as one that only points at a source line."""
    message = getattr(error, "error_message", "")
    if isinstance(message, str) and message:
        return message.strip().splitlines()[0]
    if message is None:
        return ""
    # This works even for an error whose __str__ fails.
    said = traceback.format_exception_only(error)[-1].splitlines()
    # Of a message of several lines the last may only point at the one above it.
    told = [line.strip(" ^~") for line in said if line.strip(" \t^~|")]
    return MODULES.sub("", told[-1]) if told else ""
