"""Assemble the classic BPF programs that seccomp runs before each system call.

PURE: numbers in, bytes out. A program is a row of blocks; each block looks for one call and ends in
a verdict or falls through, so no jump is longer than its block.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

ALLOW = 0x7FFF0000
NOTIFY = 0x7FC00000
ERRNO = 0x00050000

# Offsets in struct seccomp_data: number, architecture, instruction pointer, six 64-bit arguments.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

_LOAD, _AND, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
_Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on one 32-bit word of an argument. kind: "equal" or "any bit" of `value`.

    mask: the bits that are looked at; None for all.
    """

    argument: int
    kind: str
    value: int
    high: bool = False
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict on one call. With tests, `verdict` where all of them hold, else `otherwise`.

    Any of `tests` is enough where `any_of` is set.
    """

    number: int
    verdict: int
    tests: tuple[Test, ...] = ()
    otherwise: int = ALLOW
    any_of: bool = False


def errno_verdict(code: int) -> int:
    return ERRNO | code


def assemble(
    architecture: int, rules: list[Rule], *, refused: int, unknown_from: int, x32_bit: int
) -> bytes:
    """Calls without a rule pass. refused: the verdict on foreign architectures and the x32 ABI.

    unknown_from: calls from here on are younger than the rules; they do not exist for a candidate.
    """
    missing = errno_verdict(38)
    program: list[_Instruction] = [
        (_LOAD, 0, 0, ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, refused),
        (_LOAD, 0, 0, NUMBER),
        (_ANY_BIT, 0, 1, x32_bit),
        (_RETURN, 0, 0, refused),
        (_GREATER, 0, 1, unknown_from - 1),
        (_RETURN, 0, 0, missing),
    ]
    for rule in rules:
        program += _block(rule)
    program.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _block(rule: Rule) -> list[_Instruction]:
    """`if number == …`, the tests, the two verdicts; a mismatch falls through to the next block."""
    body: list[_Instruction] = []
    for test in reversed(rule.tests):
        opcode = _EQUAL if test.kind == "equal" else _ANY_BIT
        # Behind the later tests lie `verdict` and then `otherwise`.
        later = len(body)
        jumps = (later, int(later == 0)) if rule.any_of else (0, later + 1)
        word = ARGUMENTS + 8 * test.argument + (4 if test.high else 0)
        masked = [] if test.mask is None else [(_AND, 0, 0, test.mask)]
        body[:0] = [(_LOAD, 0, 0, word), *masked, (opcode, *jumps, test.value)]
    body.append((_RETURN, 0, 0, rule.verdict))
    if rule.tests:
        body.append((_RETURN, 0, 0, rule.otherwise))
    return [(_EQUAL, 0, len(body), rule.number), *body]
