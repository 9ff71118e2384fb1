"""A wiki of one small document, the shipped one, people of each role, and a proposal to review."""

import pytest
from django.contrib.auth.models import Group, User

from knowledge.curation.propose import CitedLines, propose
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.readers.files import TAKEN, read_folder
from knowledge.models import Document, Platform
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import Rank, SourceKind, SpecFacts
from tests.kept_rows import made_once
from tests.kept_wiki import put_wiki

X1 = "docs/hardware/x-1.md"

PLATFORM = """## Platform

- platform: x-1
- name: X 1
- vendor: Maker
- arch: Arch
- kind: gpu
- target: sm_1
- aliases: Maker X 1; X1
"""
SOURCE = "evidence=documented | kind=vendor | rank=preferred | source=sheet <https://example.org/x>"
BANDWIDTH = f"- memory_bandwidth: 4.8 TB/s | {SOURCE}"
TDP = f"- tdp: 700 W | {SOURCE}"
UNKNOWN_CORES = (
    "- cuda_cores: UNKNOWN | evidence=documented | kind=vendor | source=none found | how=ask them"
)


@pytest.fixture
def page_text():
    """Build the text of a document of platform x-1 from its spec lines."""

    def build(*lines, title="X 1"):
        return f"# {title}\n\n{PLATFORM}\n## Specs\n\n" + "\n".join(lines) + "\n"

    return build


@pytest.fixture
def folder(tmp_path, page_text):
    """A wiki folder with one document, docs/hardware/x-1.md, and an index."""
    root = tmp_path / "wiki"
    (root / "docs" / "hardware").mkdir(parents=True)
    (root / "README.md").write_text("# Index\n\nSee [X](docs/hardware/x-1.md).\n")
    (root / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH, TDP, UNKNOWN_CORES))
    return root


@pytest.fixture
def wiki(db, folder):
    """The small folder, imported."""
    put_wiki(folder)
    return folder


@pytest.fixture
def shipped(db):
    """The shipped wiki, imported."""
    return put_wiki()


def person(name, role):
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def viewer(db):
    return person("vera", "viewer")


@pytest.fixture
def engineer(db):
    return person("enzo", "engineer")


@pytest.fixture
def curator(db):
    return person("cora", "curator")


@pytest.fixture
def second_curator(db):
    return person("carl", "curator")


@pytest.fixture
def third_curator(db):
    return person("cyra", "curator")


def facts(shown="4.8 TB/s", **other):
    known = {
        "metric": "memory_bandwidth",
        "shown": shown,
        "evidence": EvidenceClass.DOCUMENTED,
        "source_kind": SourceKind.VENDOR,
        "source": "sheet",
        "rank": Rank.PREFERRED,
    }
    return SpecFacts(**(known | other))


@pytest.fixture
def note(db, folder):
    """A second document whose line 5 holds another bandwidth and whose line 6 holds two."""
    if Document.objects.exists():
        _take_notes()
    else:
        key = ("notes beside", *read_folder(folder, TAKEN).items())
        made_once(key, ["knowledge"], lambda: (put_wiki(folder), _take_notes()))
    return Document.objects.get(path="docs/notes.md").latest


def _take_notes():
    text = "# Notes\n\nBy hand.\n\nbandwidth 4.9 TB/s\nfrom 4.8 to 5.1 TB/s, 5.1 kB, 5.1 GiB\n"
    take_files({"docs/notes.md": text}, ImportOptions(origin="notes"))


@pytest.fixture
def x1(wiki):
    return Platform.objects.get(slug="x-1")


@pytest.fixture
def proposal(note, x1, engineer):
    return propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "measured")
