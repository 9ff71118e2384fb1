"""Wiki home."""

import re

import pytest

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Spec
from tests.knowledge.conftest import BANDWIDTH, TDP

READS = (
    *("/w/", "/w/p/x-1/", "/w/p/x-1.json", "/w/p/x-1.csv"),
    *("/w/specs/", "/w/compare/", "/w/docs/", "/w/docs/README.md"),
)


@pytest.mark.parametrize("path", READS)
def test_it_asks_for_a_login(client, wiki, path):
    answer = client.get(path)
    assert (answer.status_code, answer.url) == (302, f"/login/?next={path}")


@pytest.mark.parametrize("path", READS)
def test_it_only_reads(viewer, wiki, path):
    assert viewer.post(path).status_code == 405


def counts(page):
    return dict(re.findall(r'data-count="(\w+)">(\d+)<', page))


def test_each_count_opens_the_list_that_it_counts(viewer, wiki, page_text):
    Spec.objects.filter(metric="cuda_cores").update(state="returned")
    text = page_text(BANDWIDTH.replace("4.8", "4.9"), TDP)
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    page = viewer.get("/w/").content.decode()
    found = counts(page)
    assert found == {
        "approved": "2", "proposed": "1", "returned": "1", "changed": "1", "lost": "1",
        "source_missing": "0", "same_citation": "0", "never": "2",
    }  # fmt: skip
    for address, name, count in re.findall(r'href="([^"]+)" data-count="(\w+)">(\d+)<', page):
        listed = viewer.get(address).context["page"].paginator.count
        assert listed == int(count), name


def test_it_shows_how_much_of_a_roofline_is_known(viewer, wiki):
    page = viewer.get("/w/").content.decode()
    assert '<a href="/w/p/x-1/">X 1</a>' in page
    assert 'value="1" aria-label="1 of 11 fields of a roofline known for X 1"' in page
    assert "multiprocessors" in page


def test_it_groups_platforms_by_vendor(viewer, shipped):
    vendors = viewer.get("/w/").context["vendors"]
    assert [name for name, _ in vendors] == ["AMD", "NVIDIA"]
    archs = [platform.arch for platform, _ in vendors[1][1]]
    assert archs == sorted(archs)


def test_it_says_who_changed_what_and_why(viewer, wiki):
    page = viewer.get("/w/").content.decode()
    assert "3 values of X 1: <strong>approved</strong>" in page
    assert "by a command: imported (wiki)" in page


def test_it_opens_the_folders(viewer, wiki):
    page = viewer.get("/w/").content.decode()
    assert 'href="/w/docs/?q=docs/hardware/"' in page


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_number_of_platforms(
    viewer, shipped, django_assert_num_queries
):
    # session, user, states, flags, never reviewed, platforms, coverage, documents, changes,
    # two for permissions; three more for the citations of the coverage and how they stand
    with django_assert_num_queries(14):
        viewer.get("/w/")


def test_it_offers_what_a_person_may_do(viewer, admin_client, wiki):
    offered = admin_client.get("/w/").content.decode()
    assert 'class="button primary" href="/w/imports/">Add a source</a>' in offered
    assert 'href="/w/review/">Review</a>' in offered
    page = viewer.get("/w/").content.decode()
    assert "Add a source" not in page
    assert ">Review</a>" not in page
