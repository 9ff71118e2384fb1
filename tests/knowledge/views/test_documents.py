"""The list of documents."""


def test_it_finds_by_path_and_title(viewer, wiki):
    assert 'href="/w/docs/docs/hardware/x-1.md"' in viewer.get("/w/docs/").content.decode()
    titles = viewer.get("/w/docs/", {"q": "inde"}).context["page"]
    assert [document.path for document in titles] == ["README.md"]


def test_it_says_when_nothing_matches(viewer, wiki):
    page = viewer.get("/w/docs/", {"q": "nothing\0 like it"}).content.decode()
    assert "No path or title holds" in page
    assert "<table" not in page


def test_it_survives_a_text_longer_than_any_path(viewer, wiki):
    answer = viewer.get("/w/docs/", {"q": "é" * 60_000})
    assert answer.status_code == 200
    assert "No path or title holds" in answer.content.decode()


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/docs/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_number(viewer, shipped, django_assert_num_queries):
    # session, user, count, documents, two for permissions
    with django_assert_num_queries(6):
        viewer.get("/w/docs/")
