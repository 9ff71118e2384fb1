"""Wiki home."""

import pytest


@pytest.mark.parametrize("path", ["/w/", "/w/p/x-1/", "/w/docs/README.md"])
def test_it_asks_for_a_login(client, wiki, path):
    answer = client.get(path)
    assert (answer.status_code, answer.url) == (302, f"/login/?next={path}")


@pytest.mark.parametrize("path", ["/w/", "/w/p/x-1/", "/w/docs/README.md"])
def test_it_only_reads(viewer, wiki, path):
    assert viewer.post(path).status_code == 405


def test_it_lists_documents_and_platforms(viewer, wiki):
    page = viewer.get("/w/").content.decode()
    assert '<a href="/w/p/x-1/">X 1</a>' in page
    assert '<a href="/w/docs/docs/hardware/x-1.md">X 1</a>' in page
    assert '<td class="num">2</td>' in page
    assert '<td class="num">1</td>' in page


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_number_of_platforms(
    viewer, shipped, django_assert_num_queries
):
    with django_assert_num_queries(4):  # session, user, platforms, documents
        viewer.get("/w/")
