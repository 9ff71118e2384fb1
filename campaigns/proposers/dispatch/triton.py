"""Two Triton modules in one: what each defines is renamed, and one entry chooses.

Names are found by scope, so that locals, attributes, keywords and texts of the same spelling stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m
from libcst.metadata import (
    ByteSpanPositionProvider,
    GlobalScope,
    ImportAssignment,
    MetadataWrapper,
    ScopeProvider,
)

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.programs import ENTRY
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan, Part
from campaigns.syntax.edits import Edit, apply_edits

# They reach names by their text, which no renaming follows.
_BY_TEXT = ("globals", "exec", "eval", "vars")
_FUTURE = m.SimpleStatementLine(body=[m.ImportFrom(module=m.Name("__future__")), m.ZeroOrMore()])


def given_names(v0: Source) -> tuple[str, ...]:
    """What `run_kernel` receives, in order: the parameters of the problem's v0.

    Raises CannotSplit where those do not say it.
    """
    listed = _entry_parameters(_parsed("v0", v0))
    if listed is None:
        raise CannotSplit(f"v0: no function {ENTRY}")
    if _has_stars(listed) or any(one.default is not None for one in _plain(listed)):
        raise CannotSplit(f"v0: {ENTRY} has defaults or stars, so it does not say what is given")
    return tuple(one.name.value for one in _plain(listed))


def dispatcher(split: DispatchPlan) -> Source:
    """One module with both parts and one `run_kernel`. Raises CannotSplit."""
    parts = [_Module(part) for part in (split.incumbent, split.variant)]
    one, other = (part.imports for part in parts)
    for name in sorted(one.keys() & other.keys()):
        if one[name] != other[name]:
            raise CannotSplit(
                f"{name}: imported as {one[name]} and as {other[name]}; "
                "accepted: one meaning for each imported name"
            )
    names = given_names(split.v0)
    for part in parts:
        part.refuse_other_arguments(names)
    passed = ", ".join(f"{name}={name}" for name in names)
    futures = "".join(f"{line}\n" for line in dict.fromkeys(f for p in parts for f in p.futures))
    incumbent, variant = (f"{part.name}_{ENTRY}" for part in (split.incumbent, split.variant))
    text = (
        f"# {split.words}\n{futures}\n"
        f"{parts[0].text}\n\n{parts[1].text}\n\n"
        f"def {ENTRY}({', '.join(names)}):\n"
        f"    if {split.when.code(' and ', ' or ')}:\n        return {variant}({passed})\n"
        f"    else:\n        return {incumbent}({passed})\n"
    )
    try:
        compile(text, split.incumbent.source.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise CannotSplit(f"the two sources in one: line {error.lineno}: {error.msg}") from None
    return Source(split.incumbent.source.name, text, split.flags)


class _Module:
    """One part, its own names renamed. imports: name → what it stands for."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._wrapper = MetadataWrapper(_parsed(part.name, part.source))
        self._spans = self._wrapper.resolve(ByteSpanPositionProvider)
        scopes = self._wrapper.resolve(ScopeProvider).values()
        found = next((scope for scope in scopes if isinstance(scope, GlobalScope)), None)
        if found is None:
            raise CannotSplit(f"{part.name}: an empty module")
        self._scope = found
        if m.findall(self._wrapper.module, m.ImportStar()):
            raise CannotSplit(f"{part.name}: import *; accepted: imports by name")
        for name in _BY_TEXT:
            if m.findall(self._wrapper.module, m.Call(func=m.Name(name))):
                raise CannotSplit(f"{part.name}: {name}() reaches names by their text")
        self.imports = {}
        for each in found.assignments:
            if isinstance(each, ImportAssignment):
                known = each.get_qualified_names_for(each.name)
                self.imports[each.name] = ", ".join(sorted(one.name for one in known))
        own = {each.name for each in found.assignments} - set(self.imports)
        if ENTRY not in own:
            raise CannotSplit(f"{part.name}: no function {ENTRY}")
        self._own = own
        futures = [line for line in self._wrapper.module.body if m.matches(line, _FUTURE)]
        self.futures = [cst.Module([]).code_for_node(line).strip() for line in futures]
        raw = part.source.text.encode()
        starts = {self._span(node) for node in self._mentions()}
        edits = [Edit(a, b, f"{part.name}_{raw[a:b].decode()}") for a, b in starts]
        edits += [Edit(*self._span(line), "") for line in futures]
        self.text = apply_edits(part.source.text, edits).strip() + "\n"

    def refuse_other_arguments(self, names: Sequence[str]) -> None:
        """Raises CannotSplit where outputs are taken by one and returned by the other."""
        listed = _entry_parameters(self._wrapper.module)
        if listed is None or _has_stars(listed):
            return
        own = {one.name.value for one in _plain(listed)}
        if not set(names) <= own or any(
            one.default is None and one.name.value not in names for one in _plain(listed)
        ):
            given = ", ".join(names)
            raise CannotSplit(f"{self._part.name}: {ENTRY} takes other arguments than v0's {given}")

    def _mentions(self) -> Iterator[cst.CSTNode]:
        """Every place that names something of this module's own."""
        for each in self._scope.assignments:
            if each.name not in self._own:
                continue
            node = getattr(each, "node", None)
            yield from (n for n in (getattr(node, "name", None), node) if isinstance(n, cst.Name))
            for access in each.references:
                at: cst.CSTNode = access.node
                while isinstance(at, cst.Attribute):
                    at = at.value
                if isinstance(at, cst.Name):
                    yield at
        for said in m.findall(self._wrapper.module, m.NameItem()):
            if isinstance(said, cst.NameItem) and said.name.value in self._own:
                yield said.name

    def _span(self, node: cst.CSTNode) -> tuple[int, int]:
        found = self._spans[node]
        return found.start, found.start + found.length


def _entry_parameters(module: cst.Module) -> cst.Parameters | None:
    entry = next(iter(m.findall(module, m.FunctionDef(name=m.Name(ENTRY)))), None)
    return entry.params if isinstance(entry, cst.FunctionDef) else None


def _plain(listed: cst.Parameters) -> tuple[cst.Param, ...]:
    return (*listed.posonly_params, *listed.params, *listed.kwonly_params)


def _has_stars(listed: cst.Parameters) -> bool:
    return isinstance(listed.star_arg, cst.Param) or listed.star_kwarg is not None


def _parsed(name: str, source: Source) -> cst.Module:
    try:
        return cst.parse_module(source.text)
    except cst.ParserSyntaxError as error:
        raise CannotSplit(f"{name}: line {error.raw_line}: {error.message}") from None
