"""The wiki as a plain folder that imports again to the same records.

Documents byte for byte, an index where there is none, and specs.json with what the documents'
own spec lines do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from knowledge.bundle import read_document
from knowledge.folder import TAKEN, ImportRefused, read_folder
from knowledge.models import Document, Platform, Revision, Spec, SpecState
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import (
    PlatformFacts,
    PlatformKind,
    Rank,
    SourceKind,
    SpecFacts,
)
from knowledge.specs.kept import (
    KEPT_FILE,
    EarlierText,
    Kept,
    KeptSpec,
    KeptWaiver,
    is_kept,
    write_kept,
)
from knowledge.specs.reader import Page, SpecLine
from knowledge.standing import newest_revisions, with_citations

INDEX = "README.md"
Line = tuple[str, int]  # path, and line from 1


class ExportRefused(ValueError):
    """A folder that is not written to; the message says why. Nothing was written."""


def export_texts() -> dict[str, str]:
    """Path → text of every file of the export; the same for the same records."""
    documents = list(Document.objects.filter(withdrawn_at=None))
    newest = newest_revisions(document.pk for document in documents)
    texts = {document.path: newest[document.pk].text for document in documents}
    pages = {path: read_document(path, text) for path, text in texts.items()}
    files = dict(texts)
    if INDEX not in files:
        files[INDEX] = _index(pages)
    files[KEPT_FILE] = write_kept(_kept(pages, {r.pk for r in newest.values()}))
    return files


def export_folder(folder: Path) -> int:
    """Write the export into an empty folder, or over an earlier export; the number of files.

    Files of the earlier export that are gone from the wiki are removed. Raises ExportRefused.
    """
    files = export_texts()
    stale = _earlier_export(folder) - set(files)
    for path in stale:
        (folder / path).unlink()
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return len(files)


def _earlier_export(folder: Path) -> set[str]:
    """What stands in the folder already, all of which an export may replace."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ExportRefused(f"{folder}: not a folder; accepted: an empty one, or a new name")
    if not any(folder.iterdir()):
        return set()
    every = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}
    try:
        found = read_folder(folder, TAKEN)
    except ImportRefused as error:
        raise ExportRefused(f"{folder}: no earlier export: {error}") from error
    strange = sorted(every - set(found))
    if strange or not is_kept(KEPT_FILE, found.get(KEPT_FILE, "")):
        holds = strange[0] if strange else f"no {KEPT_FILE} of an export"
        raise ExportRefused(
            f"{folder}: not empty and no earlier export ({holds}); accepted: an empty folder"
        )
    return set(found)


def _index(pages: Mapping[str, Page]) -> str:
    rows = [f"- [{page.title}]({path})" for path, page in sorted(pages.items())]
    return "# Hardware wiki\n\nEvery document of this wiki.\n\n" + "\n".join(rows) + "\n"


def _kept(pages: Mapping[str, Page], newest: set[int]) -> Kept:
    """All that an import of the documents alone would not bring back."""
    lines = dict(_lines(pages))
    specs = with_citations(Spec.objects.order_by("pk")).prefetch_related("waivers__by")
    rebuilt, others, claimed = _sort(specs, lines, newest)
    kept = [_kept_spec(spec, newest, instead=_on_line(spec, lines) in claimed) for spec in others]
    gone = sorted(set(lines) - rebuilt - claimed)
    kept += [_unbelieved(path, number, lines[path, number]) for path, number in gone]
    kept.sort(key=lambda each: (each.citation.path, each.citation.first_line, str(each.citation)))
    return Kept(tuple(kept), _earlier(others, newest), _platforms(pages))


def _lines(pages: Mapping[str, Page]) -> Iterator[tuple[Line, tuple[str, SpecLine]]]:
    """The spec lines of the documents, each with its platform."""
    for path, page in pages.items():
        for line in page.specs:
            yield (path, line.line), (page.platform_slug or "", line)


def _sort(
    specs: Iterable[Spec], lines: Mapping[Line, tuple[str, SpecLine]], newest: set[int]
) -> tuple[set[Line], list[Spec], set[Line]]:
    """Lines that bring their spec back by themselves; specs that need a record, and the lines
    among them that would bring back something else.
    """
    rebuilt: set[Line] = set()
    others: list[Spec] = []
    for spec in specs:
        if spec.state == SpecState.RETIRED or spec.citation is None:
            continue
        place = _on_line(spec, lines)
        on_newest = spec.citation.revision_id in newest
        if place and on_newest and place not in rebuilt and _is_line(spec, lines[place]):
            rebuilt.add(place)
        else:
            others.append(spec)
    claimed = {
        place
        for spec in others
        if spec.citation is not None and spec.citation.revision_id in newest
        if (place := _on_line(spec, lines)) and place not in rebuilt
        if lines[place][1].facts.metric == spec.metric
    }
    return rebuilt, others, claimed


def _on_line(spec: Spec, lines: Mapping[Line, tuple[str, SpecLine]]) -> Line | None:
    """The spec line that this value rests on alone, if it is one."""
    citation = spec.citation
    if citation is None or citation.first_line != citation.last_line:
        return None
    place = (citation.revision.document.path, citation.first_line)
    return place if place in lines else None


def _is_line(spec: Spec, stated: tuple[str, SpecLine]) -> bool:
    """Whether an import would make exactly this spec of its line."""
    slug, line = stated
    approved = spec.state == SpecState.APPROVED and not spec.waivers.all()
    return approved and spec.platform.slug == slug and _facts(spec) == line.facts


def _facts(spec: Spec) -> SpecFacts:
    return SpecFacts(
        spec.metric,
        spec.shown,
        Evidence(spec.evidence),
        SourceKind(spec.source_kind),
        spec.source,
        spec.source_url,
        Rank(spec.rank),
        dict(spec.qualifiers),
        spec.note,
    )


def _kept_spec(spec: Spec, newest: set[int], *, instead: bool) -> KeptSpec:
    citation = spec.citation
    if citation is None:
        raise ValueError(f"{spec} has no citation")
    on_newest = citation.revision_id in newest
    waivers = [KeptWaiver(w.constraint, w.reason, w.by.get_username()) for w in spec.waivers.all()]
    return KeptSpec(
        spec.platform.slug,
        _facts(spec),
        citation.line,
        citation.quote,
        spec.state,
        instead and on_newest,
        "" if on_newest else citation.revision.sha256,
        tuple(waivers),
    )


def _unbelieved(path: str, number: int, stated: tuple[str, SpecLine]) -> KeptSpec:
    """A spec line whose value was retired, or never became one: an import leaves it alone."""
    slug, line = stated
    return KeptSpec(slug, line.facts, line.citation(path), line.quote, "retired", True)


def _earlier(specs: Iterable[Spec], newest: set[int]) -> tuple[EarlierText, ...]:
    """The texts that values rest on and that are the newest of no document."""
    cited = {s.citation.revision_id for s in specs if s.citation is not None} - newest
    revisions = Revision.objects.filter(pk__in=cited).select_related("document")
    return tuple(
        EarlierText(r.document.path, r.sha256, r.text)
        for r in revisions.order_by("document__path", "number")
    )


def _platforms(pages: Mapping[str, Page]) -> tuple[PlatformFacts, ...]:
    """Those that no document describes as they are stored."""
    said: dict[str, PlatformFacts] = {}
    for _, page in sorted(pages.items()):
        if page.platform is not None:
            said[page.platform.slug] = page.platform
    stored = [
        PlatformFacts(
            p.slug, p.name, p.vendor, p.arch, PlatformKind(p.kind), p.target, tuple(p.aliases)
        )
        for p in Platform.objects.order_by("slug")
    ]
    return tuple(facts for facts in stored if said.get(facts.slug) != facts)
