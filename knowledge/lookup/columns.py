"""Which columns a table shows, in which order: `?cols=` of its address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.http import QueryDict

COLS = "cols"
SHOWN_STRANGE = 3


@dataclass(frozen=True, slots=True)
class ListColumn:
    """One that people choose. cell: the template of its cells, which get `row`.

    css: classes of its cells; the header's are these too. is_usual: shown where nobody chose.
    """

    name: str
    header: str
    cell: str
    css: str = ""
    is_usual: bool = True


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """What a table shows. others: the rest, to be chosen. strange: asked for, and no columns."""

    shown: Sequence[ListColumn]
    others: Sequence[ListColumn]
    strange: Sequence[str]

    @property
    def all(self) -> Sequence[ListColumn]:
        return [*self.shown, *self.others]


def columns_in(
    folder: str, *rows: tuple[str, str] | tuple[str, str, str]
) -> tuple[ListColumn, ...]:
    """Columns by name, header and classes; `folder` holds a template a name.

    A name that begins with "+" is shown only where it is chosen.
    """
    return tuple(
        ListColumn(
            name=name.removeprefix("+"),
            header=header,
            cell=f"{folder}/{name.removeprefix('+')}.html",
            css=css[0] if css else "",
            is_usual=not name.startswith("+"),
        )
        for name, header, *css in rows
    )


def chosen(columns: Iterable[ListColumn], asked: QueryDict) -> ChosenColumns:
    """`?cols=best,state`, or `cols` several times as a form sends it; the usual ones without."""
    known = {column.name: column for column in columns}
    texts = ",".join(asked.getlist(COLS)).replace("\0", "").split(",")
    names = list(dict.fromkeys(name.strip() for name in texts if name.strip()))
    shown = [known[name] for name in names if name in known]
    if not shown:
        shown = [column for column in known.values() if column.is_usual]
    strange = [name[:40] for name in names if name not in known]
    others = [column for column in known.values() if column not in shown]
    return ChosenColumns(shown, others, strange[:SHOWN_STRANGE])


# What is shown of each value beside its metric, which is always there.
SPEC_COLUMNS = columns_in(
    "knowledge/cells",
    ("platform", "Platform"),
    ("value", "Value", "num"),
    ("qualifiers", "Qualifiers"),
    ("evidence", "Evidence"),
    ("state", "State"),
    ("citation", "Citation", "whole"),
    ("+proposer", "Proposed by"),
    ("+since", "Since", "nowrap"),
)
