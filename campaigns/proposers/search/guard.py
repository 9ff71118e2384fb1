"""C++: one kernel for sizes that divide evenly, another one for all the rest."""

from __future__ import annotations

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.proposers.syntax.c_family import functions, parameters, parse, text_of, walk

ENTRY = 'extern "C"'
WHOLE = """\
{includes}

// Sizes that are multiples of {step}.
namespace even_sizes {{
{even}
}}  // namespace even_sizes

// Every other size.
namespace any_size {{
{other}
}}  // namespace any_size

extern "C" void solve({declared}) {{
    if ({condition}) {{
        even_sizes::solve({given});
    }} else {{
        any_size::solve({given});
    }}
}}
"""


def guarded(even: Source, other: Source, step: int) -> Source | None:
    """`even` where every integer parameter is a multiple of `step`, else `other`.

    None where the two do not declare `solve` alike, where there is no integer to look at, or where
    one of them defines macros, which no namespace keeps apart.
    """
    roots = [parse(source.text) for source in (even, other)]
    if any(root is None or next(walk(root, "preproc_def"), None) for root in roots):
        return None
    found = [functions(root).get("solve") if root else None for root in roots]
    if found[0] is None or found[1] is None:
        return None
    declared = parameters(found[0])
    kinds = [kind for kind, _ in declared]
    sizes = [name for kind, name in declared if kind in ("int", "long", "size_t")]
    if kinds != [kind for kind, _ in parameters(found[1])] or not sizes:
        return None
    texts = [_without_includes(root) for root in roots if root]
    text = WHOLE.format(
        includes="\n".join(dict.fromkeys(line for root in roots if root for line in _lines(root))),
        step=step,
        even=texts[0],
        other=texts[1],
        declared=", ".join(f"{kind} {name}" for kind, name in declared),
        condition=" && ".join(f"{name} % {step} == 0" for name in sizes),
        given=", ".join(name for _, name in declared),
    )
    flags = tuple(dict.fromkeys((*other.flags, *even.flags)))
    return Source(even.name, text, flags)


def _lines(root: Node) -> list[str]:
    return [text_of(node).strip() for node in walk(root, "preproc_include")]


def _without_includes(root: Node) -> str:
    """The text without its includes, and with `solve` as a plain function."""
    raw = text_of(root).encode()
    spans = [(n.start_byte, n.end_byte) for n in walk(root, "preproc_include")]
    for start, end in sorted(spans, reverse=True):
        raw = raw[: start - root.start_byte] + raw[end - root.start_byte :]
    return raw.decode().replace(ENTRY, "static").strip()
