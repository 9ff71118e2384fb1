"""People of each role, and a proposal that waits for a review."""

import pytest
from django.contrib.auth.models import Group, User

from knowledge.curation.propose import Place, propose
from knowledge.folder import TAKEN, read_folder
from knowledge.importer import Intake, take_files
from knowledge.models import Document, Platform
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import Rank, SourceKind, SpecFacts
from tests.kept_rows import made_once
from tests.kept_wiki import put_wiki

X1 = "docs/hardware/x-1.md"


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
        "evidence": Evidence.DOCUMENTED,
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
    take_files({"docs/notes.md": text}, Intake(origin="notes"))


@pytest.fixture
def x1(wiki):
    return Platform.objects.get(slug="x-1")


@pytest.fixture
def proposal(note, x1, engineer):
    return propose(x1, facts("4.9 TB/s"), Place(note, 5, 5), engineer, "measured")
