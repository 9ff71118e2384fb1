"""Two C++ or CUDA sources in one: each in its own namespace, and one entry that chooses.

Definitions end with their namespace. Things that ignore namespaces are undone after each part:
macros (pushed and popped), compiler pragmas, and C linkage of the part's definitions. Includes
stand outside the namespaces, in their order and under their own conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.signature import ENTRY, INTEGERS, Parameter, read_parameters
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan, Part
from campaigns.syntax.c_family import parse, text_of, walk
from campaigns.syntax.edits import Edit, apply_edits

_DEFINES = ("preproc_def", "preproc_function_def")
_CONDITIONS = ("preproc_if", "preproc_ifdef")
_BRANCHES = (*_CONDITIONS, "preproc_else", "preproc_elif", "preproc_elifdef")
# What may stand between the directives of a condition that holds includes.
_DIRECTIVES = ("preproc_include", "preproc_call", "comment", *_DEFINES, *_BRANCHES)
_POINTER = """\
// A pointer that becomes whichever kind the callee takes.
struct AnyPointer {
    void* at;
    template <class T>
    operator T*() const {
        return static_cast<T*>(at);
    }
};
"""


def given_integers(v0: Source) -> frozenset[str]:
    """The integers that `solve` receives, by the names that the problem's v0 gives them."""
    return frozenset(p.name for p in _parameters(v0) if not p.pointer and p.type in INTEGERS)


def dispatcher(split: DispatchPlan, *, cuda: bool) -> Source:
    """One source with both parts and one `extern "C" solve`. Raises CannotSplit."""
    incumbent, variant = (_Section(part, cuda) for part in (split.incumbent, split.variant))
    names = [p.name for p in _parameters(split.v0)]
    own = _parameters(split.incumbent.source)
    if len(own) != len(names) or len(_parameters(split.variant.source)) != len(names):
        raise CannotSplit(f"{ENTRY}: {len(names)} parameters in v0; accepted: as many in each part")
    listed = ", ".join(
        f"void* {name}" if p.pointer else f"{p.type} {name}"
        for name, p in zip(names, own, strict=True)
    )
    passed = ", ".join(
        f"AnyPointer{{{name}}}" if p.pointer else name for name, p in zip(names, own, strict=True)
    )
    text = (
        f"// {split.words}\n#include <cstddef>\n#include <cstdint>\n\n"
        f"{incumbent.text}\n{variant.text}\nnamespace {{\n{_POINTER}}}  // namespace\n\n"
        f'extern "C" void {ENTRY}({listed}) {{\n'
        f"    if ({split.when.code(' && ', ' || ')}) {{\n"
        f"        {variant.entry}({passed});\n    }} else {{\n"
        f"        {incumbent.entry}({passed});\n    }}\n}}\n"
    )
    if parse(text, cuda=cuda) is None:
        raise CannotSplit("the two sources in one do not parse; accepted: plain C++ at file level")
    return Source(split.incumbent.source.name, text, split.flags)


def _parameters(source: Source) -> list[Parameter]:
    try:
        return read_parameters(source.text, source.name)
    except BuildFailed as error:
        raise CannotSplit(str(error)) from None


class _Section:
    """One part, ready to stand beside another. text; entry: its `solve`, fully qualified."""

    def __init__(self, part: Part, cuda: bool) -> None:
        root = parse(part.source.text, cuda=cuda)
        if root is None:
            raise CannotSplit(f"{part.name}: has a syntax error, or takes too long to parse")
        self._part, self._root = part, root
        definitions = list(_definitions(root))
        self._defined = {name for name, _ in definitions}
        entries = [node for name, node in definitions if name == ENTRY]
        self.entry = f"{part.name}::{self._path_of_entry(entries)}"
        edits = [*self._linkages(), *self._namespaces()]
        body = apply_edits(part.source.text, edits).rstrip()
        calls = [text_of(node).split() for node in walk(root, "preproc_call")]
        # What a part defines or takes away as macros.
        defined = {text_of(n.child_by_field_name("name")) for n in walk(root, *_DEFINES)}
        undone = {words[1] for words in calls if words[0] == "#undef" and len(words) > 1}
        macros = sorted(defined | undone)
        before = [f'#pragma push_macro("{name}")' for name in macros]
        after = [f'#pragma pop_macro("{name}")' for name in macros]
        if any(words[1:2] == ["GCC"] for words in calls):
            before.insert(0, "#pragma GCC push_options")
            after.append("#pragma GCC pop_options")
        self.text = "\n".join([*before, body, *after, ""])

    def _path_of_entry(self, entries: list[Node]) -> str:
        """`solve`, behind the names of the namespaces that its author put it into."""
        linked = []
        for entry in entries:
            path, is_linked, node = [ENTRY], False, entry.parent
            while node is not None:
                is_linked = is_linked or node.type == "linkage_specification"
                name = node.child_by_field_name("name")
                if node.type == "namespace_definition" and name:
                    path.insert(0, text_of(name))
                node = node.parent
            if is_linked:
                linked.append("::".join(path))
        if len(linked) != 1:
            raise CannotSplit(
                f'{self._part.name}: {len(linked)} functions {ENTRY} behind extern "C"; '
                "accepted: one, not by a macro"
            )
        return linked[0]

    def _linkages(self) -> Iterator[Edit]:
        """Take `extern "C"` from what this part defines: two definitions would be one symbol."""
        for node in walk(self._root, "linkage_specification"):
            declared = set(_declared(node))
            if not declared & self._defined:
                continue
            if strange := declared - self._defined:
                raise CannotSplit(
                    f'{self._part.name}: extern "C" {{ … }} declares {min(strange)} of elsewhere '
                    "beside what it defines; accepted: one or the other"
                )
            value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
            if value is None or body is None:
                raise CannotSplit(f'{self._part.name}: an extern "C" without a body')
            block = body.type == "declaration_list"
            yield Edit(node.start_byte, body.start_byte + block, "")
            if block:
                yield Edit(body.end_byte - 1, body.end_byte, "")

    def _namespaces(self) -> Iterator[Edit]:
        """Open the namespace where code begins, and leave it for includes between."""
        name, opened, end = self._part.name, False, 0
        for node in self._root.children:
            if node.type in ("preproc_include", *_CONDITIONS) and _has_include(node):
                self._only_directives(node)
                if opened:
                    yield Edit(node.start_byte, node.start_byte, f"}}  // namespace {name}\n")
                opened = False
            elif not opened and node.type not in _DIRECTIVES:
                opened = True
                yield Edit(node.start_byte, node.start_byte, f"namespace {name} {{\n")
            self._refuse(node)
            end = max(end, node.end_byte)
        if opened:
            # The tree may end before the text's last blanks; a comment ends with its line.
            last = len(self._part.source.text.encode())
            yield Edit(last, last, f"\n}}  // namespace {name}\n")

    def _only_directives(self, node: Node) -> None:
        for child in walk(node):
            above = child.parent
            if above is None or above.type not in _BRANCHES or child.type in _DIRECTIVES:
                continue
            asked = [above.child_by_field_name(name) for name in ("condition", "name")]
            if child not in asked:
                raise CannotSplit(
                    f"{self._part.name}:{child.start_point.row + 1}: code beside an #include "
                    "under one #if; accepted: an #if of directives alone"
                )

    def _refuse(self, top: Node) -> None:
        """Refuse code that changes its meaning inside a namespace."""
        where = f"{self._part.name}:{top.start_point.row + 1}"
        if top.type == "namespace_definition":
            name = text_of(top.child_by_field_name("name"))
            if name == "std" or name.startswith("std::"):
                raise CannotSplit(f"{where}: adds to namespace std, which has to stay outside")
        if top.type not in ("preproc_include", *_CONDITIONS) and _has_include(top):
            raise CannotSplit(f"{where}: an #include inside a block; accepted: at file level")


def _definitions(root: Node) -> Iterator[tuple[str, Node]]:
    """(name, function) of every function that is defined and is no method."""
    for node in walk(root, "function_definition"):
        if name := _function_name(node.child_by_field_name("declarator")):
            yield name, node


def _declared(linkage: Node) -> Iterator[str]:
    """Names that a linkage specification declares or defines, not those inside functions."""
    body = linkage.child_by_field_name("body")
    if body is None:
        return
    for node in body.named_children if body.type == "declaration_list" else [body]:
        for declarator in node.children_by_field_name("declarator"):
            if name := _function_name(declarator):
                yield name


def _function_name(declarator: Node | None) -> str:
    """The plain name behind a declarator; empty for methods and qualified names."""
    while declarator is not None and declarator.type.endswith("_declarator"):
        inner = declarator.child_by_field_name("declarator")
        named = [child for child in declarator.named_children if "identifier" in child.type]
        declarator = inner or next(iter(named), None)
    known = declarator is not None and declarator.type == "identifier"
    return text_of(declarator) if known else ""


def _has_include(node: Node) -> bool:
    return next(walk(node, "preproc_include"), None) is not None
