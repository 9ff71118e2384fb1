"""Wikis that tests begin with, imported once a process.

An import of the shipped wiki takes half a second, and hundreds of tests start from one without
looking at it. A test of the import calls the import.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from knowledge.exchange.importer import SHIPPED, ImportOptions, ImportSummary, origin_of, take_files
from knowledge.exchange.readers.files import TAKEN, read_folder
from tests.kept_rows import made_once


def put_wiki(folder: Path = SHIPPED) -> ImportSummary:
    """What `import_wiki(folder)` does."""
    return put_files(read_folder(folder, TAKEN), origin_of(folder))


def put_files(texts: Mapping[str, str], origin: str) -> ImportSummary:
    """What `take_files` does with the files of an origin."""
    key = (origin, *texts.items())
    return made_once(key, ["knowledge"], lambda: take_files(texts, ImportOptions(origin=origin)))
