"""PURE: the tables of the wiki's guides as strategies, each with its document and line (R42)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from knowledge.experience.catalogue.applies import ReachError, read_reach

TECHNIQUE, ANTI_PATTERN, DISCIPLINE = "technique", "anti_pattern", "discipline"
ID = re.compile(r"[a-z][\w.>-]{0,79}")
FOR, EACH_A_RECIPE = "for", "Each row is a recipe."
TECHNIQUE_COLUMNS = ("id", "use when", "what to do", "check with", "typical failure")
ANTI_COLUMNS = ("id", "looks like", "why it fails", "check with", "instead")
ALIAS_TABLES, CATALOGUE = ("recipe", "sweep"), "catalogue"
TITLE_END = re.compile(r"[;:](?=\s)")
LONGEST_TITLE = 300
FENCE = re.compile(r"\s*(```|~~~)")
BAR = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
APPLIES = "Applies to: "


@dataclass(frozen=True, slots=True)
class StrategyFacts:
    """One strategy as its row has it; see `knowledge.models.Strategy`."""

    slug: str
    kind: str
    title: str
    document: str
    line: int
    backend: str = ""
    limits: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    archs: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    use_when: str = ""
    what: str = ""
    verify: str = ""
    failure: str = ""
    instead: str = ""
    aliases: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogueFault:
    """A row that cannot be read: where, and what is accepted there."""

    document: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.document}:L{self.line}: {self.message}"


@dataclass(slots=True)
class ReadCatalogue:
    """All strategies by id, and every row that was left out."""

    strategies: dict[str, StrategyFacts] = field(default_factory=dict)
    faults: list[CatalogueFault] = field(default_factory=list)


def read_catalogue(texts: Mapping[str, str]) -> ReadCatalogue:
    """The strategies of these documents, path → text. Of one id the first document's row counts."""
    found = ReadCatalogue()
    tables = [(path, table) for path, text in texts.items() for table in guide_tables(text)]
    for path, table in tables:
        named = set(table.header)
        rows_say = named >= {*TECHNIQUE_COLUMNS} or named >= {*ANTI_COLUMNS}
        if table.header[0] == "id" and rows_say:
            _take_strategies(found, path, table)
    for path, table in tables:
        if table.header[0] in ALIAS_TABLES and CATALOGUE in table.header:
            _take_aliases(found, path, table)
    return found


def _take_strategies(found: ReadCatalogue, path: str, table: GuideTable) -> None:
    words, _, recipes = table.applies.partition(".")
    try:
        around = read_reach(words)
    except ReachError as error:
        found.faults.append(CatalogueFault(path, table.applies_line, f"Applies to: {error}"))
        return
    for line, row in _rows(found, path, table):
        slug = row["id"].strip("`")
        if not ID.fullmatch(slug):
            message = f"id {row['id']}; accepted: one word in backticks, such as `cu.fuse`"
            found.faults.append(CatalogueFault(path, line, message))
        elif (other := found.strategies.get(slug)) is not None:
            message = f"id {slug} stands in {other.document}:L{other.line} already"
            found.faults.append(CatalogueFault(path, line, message))
        else:
            try:
                reach = around.narrowed(read_reach(plain(row.get(FOR, ""))))
            except ReachError as error:
                found.faults.append(CatalogueFault(path, line, f"{slug}: {FOR}: {error}"))
                continue
            cells = {name: plain(cell) for name, cell in row.items()}
            anti = "looks like" in cells
            titled = row["looks like" if anti else "what to do"]
            found.strategies[slug] = StrategyFacts(
                slug=slug,
                kind=ANTI_PATTERN if anti else DISCIPLINE if slug.startswith("dx.") else TECHNIQUE,
                title=_title(titled) or slug,
                document=path,
                line=line,
                **{each.name: getattr(reach, each.name) for each in fields(reach)},
                use_when=cells["looks like" if anti else "use when"],
                what=cells["why it fails" if anti else "what to do"],
                verify=cells["check with"],
                failure=cells.get("typical failure", ""),
                instead=cells.get("instead", ""),
                recipes=(slug,) if recipes.strip() == EACH_A_RECIPE else (),
            )


def _take_aliases(found: ReadCatalogue, path: str, table: GuideTable) -> None:
    """A recipe is an alias of the first strategy that its row names, and a way to do them all."""
    for line, row in _rows(found, path, table):
        name = row[table.header[0]].strip("`")
        slugs = codes(row[CATALOGUE])
        unknown = [slug for slug in slugs if slug not in found.strategies]
        if not slugs or unknown:
            said = unknown[0] if unknown else row[CATALOGUE] or "nothing"
            message = f"{name}: {said}; accepted: ids of the catalogue, in backticks"
            found.faults.append(CatalogueFault(path, line, message))
            continue
        for slug in slugs:
            old = found.strategies[slug]
            aliases = (*old.aliases, name) if slug == slugs[0] else old.aliases
            found.strategies[slug] = replace(old, aliases=aliases, recipes=(*old.recipes, name))


def _rows(
    found: ReadCatalogue, path: str, table: GuideTable
) -> Iterator[tuple[int, dict[str, str]]]:
    for line, cells in table.rows:
        if len(cells) == len(table.header):
            yield line, dict(zip(table.header, cells, strict=True))
        else:
            message = f"{len(cells)} cells; accepted: {len(table.header)}, as in the header"
            found.faults.append(CatalogueFault(path, line, message))


def _title(cell: str) -> str:
    """The first clause, with a capital letter unless it begins with code."""
    first = plain(TITLE_END.split(cell)[0])
    begin = first[:1] if cell.startswith("`") else first[:1].upper()
    return (begin + first[1:])[:LONGEST_TITLE]


@dataclass(slots=True)
class GuideTable:
    """Cells of the header in lower case, and (line, cells) of the rows; lines count from 1.

    applies: the words of the last line above it that begins with "Applies to:".
    """

    line: int
    header: list[str]
    applies: str = ""
    applies_line: int = 0
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def guide_tables(text: str) -> Iterator[GuideTable]:
    """The tables in their order; what stands in a fence is none."""
    table, fenced, applies, said = None, False, "", 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if FENCE.match(line):
            fenced = not fenced
        if not fenced and line.startswith("|"):
            if table is None:
                table = GuideTable(number, [c.lower() for c in _cells(line)], applies, said)
            elif number > table.line + 1:  # below the line of dashes
                table.rows.append((number, _cells(line)))
            continue
        if table is not None:
            yield table
            table = None
        if not fenced and line.startswith(APPLIES):
            applies, said = line.removeprefix(APPLIES).strip(), number


def plain(cell: str) -> str:
    """A cell without the marks of links and code; "" for a dash."""
    text = LINK.sub(r"\1", cell).replace("`", "").replace("\\|", "|").strip()
    return "" if text in ("–", "-", "—") else text


def codes(cell: str) -> list[str]:
    """What stands in backticks, in its order."""
    return re.findall(r"`([^`]+)`", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in BAR.split(line.strip().strip("|"))]
