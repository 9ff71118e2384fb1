"""Parameters that macros write, as `DATA_TYPE POLYBENCH_2D(A, NI, NJ, ni, nj)` does, written out.

Only to be read: the source keeps its macros, and what compiles it puts in what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.evaluator.contract.signature import live_parts
from campaigns.syntax.c_family import parse_anyway, text_of, walk

# A macro of a macro of …; one that stands for itself ends here as well.
DEEPEST = 16
# Characters of a macro, and of parameters; longer ones are left as they are.
LONGEST, LONGEST_LIST = 1000, 10_000
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Macro:
    """takes: its parameters; None of one without parentheses."""

    takes: tuple[str, ...] | None
    text: str


def written_out(text: str, function: str) -> str:
    """The same source with the parameters of that function as a preprocessor leaves them.

    Macros with arguments and empty ones are put in, so that sizes keep their names; no line moves.
    Raises TooSlow.
    """
    root = parse_anyway(text)
    macros, data = dict(_macros(root)), text.encode()
    for node in sorted(walk(root, "function_declarator"), key=lambda one: -one.start_byte):
        listed = node.child_by_field_name("parameters")
        if text_of(node.child_by_field_name("declarator")) != function or listed is None:
            continue
        before = text_of(listed)
        after = _expanded(before, macros)
        after += "\n" * (before.count("\n") - after.count("\n"))
        data = data[: listed.start_byte] + after.encode() + data[listed.end_byte :]
    return data.decode()


def _macros(root: Node) -> Iterator[tuple[str, _Macro]]:
    for node in live_parts(root):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        said = text_of(value).replace("\\\n", " ").strip()
        if node.type == "preproc_function_def" and len(said) <= LONGEST:
            listed = node.child_by_field_name("parameters")
            takes = tuple(map(text_of, listed.named_children)) if listed else ()
            yield text_of(name), _Macro(takes, said)
        elif node.type == "preproc_def" and not said:
            yield text_of(name), _Macro(None, "")


def _expanded(text: str, macros: Mapping[str, _Macro], deepest: int = DEEPEST) -> str:
    parts, at = [], 0
    for found in NAME.finditer(text):
        macro = macros.get(found[0]) if found.start() >= at else None
        given = _arguments(text, found.end()) if macro and macro.takes is not None else ([], 0)
        if macro is None or given is None or len(given[0]) != len(macro.takes or ()):
            continue
        values = dict(zip(macro.takes or (), given[0], strict=True))
        put = NAME.sub(lambda one, of=values: of.get(one[0], one[0]), macro.text)  # type: ignore[misc]
        parts += [text[at : found.start()], put]
        at = given[1] or found.end()
    whole = "".join([*parts, text[at:]])
    if len(whole) > LONGEST_LIST:
        return text
    return _expanded(whole, macros, deepest - 1) if parts and deepest else whole


def _arguments(text: str, at: int) -> tuple[list[str], int] | None:
    """What stands between the parentheses that open there, and where they end; None without."""
    opens = re.compile(r"\s*\(").match(text, at)
    if opens is None:
        return None
    found, depth = [""], 1
    for end in range(opens.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            return [one.strip() for one in found], end + 1
        if text[end] == "," and depth == 1:
            found.append("")
        else:
            found[-1] += text[end]
    return None
