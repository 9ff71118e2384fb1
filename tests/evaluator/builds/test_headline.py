"""The line of a log that becomes the reason people read."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract.programs import headline

COMPILER = """k.cpp: In function 'solve':
k.cpp:3:5: error: 'z' was not declared in this scope
    3 |     z = 1;
      |     ^
k.cpp:9:1: error: expected '}'
"""
LINKER = """/usr/bin/ld: /tmp/k.o: in function `solve':
k.cpp:(.text+0xd): undefined reference to `missing'
collect2: error: ld returned 1 exit status
"""
RAISED = """ZeroDivisionError: division by zero
During handling of the above exception, another exception occurred:
RuntimeError: no launch
exit status 1
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (COMPILER, "k.cpp:3:5: error: 'z' was not declared in this scope"),
        (LINKER, "k.cpp:(.text+0xd): undefined reference to `missing'"),
        (RAISED, "RuntimeError: no launch"),
        ("loading\nFATAL ERROR: no space\ndone", "FATAL ERROR: no space"),
        ("    v = tl.flip(v)\n        ^~~~\n", "v = tl.flip(v)"),
        ("k.py:9: error:       ^\nk.py:9: error: no axis", "k.py:9: error: no axis"),
        ("", "no message"),
    ],
    ids=["compiler", "linker", "exception", "tool", "carets", "only a caret", "nothing"],
)
def test_it_is_what_says_why(log, line):
    assert headline(log) == line
