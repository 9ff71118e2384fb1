"""Measurements that came with the wiki, and those of this installation's own devices."""

import pytest

from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import (
    MEASURED,
    SHIPPED,
    import_wiki,
    read_folder,
    write_measured_document,
)
from knowledge.exchange.readers.foreign import LineFate
from knowledge.lookup.usage import measured_elsewhere, measured_here
from knowledge.lookup.value import bandwidth_ceilings
from knowledge.models import Document, Platform, Spec
from knowledge.models.document import MEASURED_ORIGIN
from knowledge.specs.reader import read_page

PATH = "docs/measured/x-1.md"
LINE = "evidence=measured | kind=measured | rank=preferred | source=measured on host {host}"


def text_of(bandwidth, host):
    specs = f"- copy_bandwidth: {bandwidth} | {LINE.format(host=host)}"
    return f"# Measured\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n{specs}\n"


@pytest.fixture
def shipping(db, folder, monkeypatch):
    """The small folder as the shipped wiki, with a measured document in it."""
    monkeypatch.setattr("knowledge.exchange.importer.SHIPPED", folder)
    path = folder / PATH
    path.parent.mkdir(parents=True)
    path.write_text(text_of("4.1 TB/s", "far on 2026-11-01"))
    return folder


def measure(bandwidth="3.9 TB/s"):
    write_measured_document(PATH, text_of(bandwidth, "here on 2026-11-20"))


def state():
    """(origin of the document, the copy bandwidth that counts)."""
    platform = Platform.objects.get(slug="x-1")
    (copy,) = [c for c in bandwidth_ceilings(platform) if c.metric == "copy_bandwidth"]
    return Document.objects.get(path=PATH).origin, copy.display


def elsewhere():
    platform = Platform.objects.get(slug="x-1")
    return [spec.source for spec in measured_elsewhere(platform, bandwidth_ceilings(platform))]


def here():
    return measured_here(Platform.objects.get(slug="x-1"), ["copy_bandwidth"])


def test_it_takes_the_shipped_measurement_where_nothing_was_measured(shipping):
    import_wiki(shipping)
    assert state() == ("shipped", "4.1 TB/s")
    assert elsewhere() == ["measured on host far on 2026-11-01"]
    assert not here()


def test_it_lets_a_local_measurement_take_the_shipped_one_over(shipping):
    import_wiki(shipping)
    measure()
    assert state() == (MEASURED_ORIGIN, "3.9 TB/s")
    assert (elsewhere(), here()) == ([], True)
    again = import_wiki(shipping)
    assert state() == (MEASURED_ORIGIN, "3.9 TB/s")
    assert [(t.file, t.fate) for t in again.told] == [(PATH, LineFate.LEFT_OUT)]
    assert "own device" in again.told[0].why
    assert not again.changed
    assert check_wiki(shipping) == []


def test_it_leaves_a_measurement_alone_that_was_there_first(shipping):
    held = shipping / PATH
    shipped = held.read_text()
    held.unlink()
    import_wiki(shipping)
    measure()
    held.write_text(shipped)
    summary = import_wiki(shipping)
    assert state() == (MEASURED_ORIGIN, "3.9 TB/s")
    assert [(t.file, t.fate) for t in summary.told] == [(PATH, LineFate.LEFT_OUT)]
    assert Spec.objects.filter(metric="copy_bandwidth").count() == 1


def test_it_keeps_a_local_measurement_when_the_wiki_no_longer_ships_one(shipping):
    import_wiki(shipping)
    measure()
    (shipping / PATH).unlink()
    assert import_wiki(shipping).documents_withdrawn == 0
    assert state() == (MEASURED_ORIGIN, "3.9 TB/s")


def test_it_is_this_installations_own_where_it_measures_the_very_same(shipping):
    import_wiki(shipping)
    write_measured_document(PATH, (shipping / PATH).read_text())
    assert state() == (MEASURED_ORIGIN, "4.1 TB/s")
    assert here()


def test_it_ships_measured_documents_under_the_name_that_a_measurement_writes():
    for path, text in read_folder(SHIPPED).items():
        if path.startswith(MEASURED):
            slug = read_page(path, text).platform_slug
            assert path == f"{MEASURED}{slug}.md"


def test_a_measurement_that_somebody_wrote_down_elsewhere_is_none_of_this_device(shipping):
    (shipping / PATH).unlink()
    blog = shipping / "docs/blog.md"
    blog.write_text(text_of("2.1 TB/s", "of a blog"))
    import_wiki(shipping)
    assert elsewhere() == ["measured on host of a blog"]
    assert not here()
