"""The list of documents, and the search in their texts."""

from knowledge.exchange.importer import ImportOptions, take_files


def test_it_finds_by_path_and_title(viewer, wiki):
    assert 'href="/w/docs/docs/hardware/x-1.md"' in viewer.get("/w/docs/").content.decode()
    titles = viewer.get("/w/docs/", {"q": "inde"}).context["page"]
    assert next(iter(titles)).path == "README.md"


def test_it_finds_words_of_the_newest_text_and_shows_their_line(viewer, shipped):
    answer = viewer.get("/w/docs/", {"q": "swizzle"})
    rows = answer.context["rows"]
    assert rows
    for document, (number, words) in rows:
        assert "swizzle" in words.casefold()
        line = document.latest.text.splitlines()[number - 1]
        assert words.strip("…") in line
    page = answer.content.decode()
    assert f'href="{rows[0][0].get_absolute_url()}#L{rows[0][1][0]}">line ' in page


def test_it_leaves_out_words_of_earlier_texts(viewer, wiki):
    take_files({"docs/n.md": "# N\n\nzebra\n"}, ImportOptions(origin="n"))
    take_files({"docs/n.md": "# N\n\nhorse stripes\n"}, ImportOptions(origin="n"))
    found = [viewer.get("/w/docs/", {"q": q}).context["rows"] for q in ("zebra", "N STRIPES")]
    assert [len(rows) for rows in found] == [0, 1]


def test_it_lists_documents_named_so_first(viewer, wiki):
    take_files({"docs/a.md": "# A\n\nsheet of zebra\n"}, ImportOptions(origin="n"))
    take_files({"docs/zebra.md": "# Z\n"}, ImportOptions(origin="z"))
    found = viewer.get("/w/docs/", {"q": "zebra"}).context["rows"]
    assert [document.path for document, _ in found] == ["docs/zebra.md", "docs/a.md"]


def test_it_cuts_a_long_line_around_the_words(viewer, wiki):
    text = f"# L\n\n{'a ' * 500}zebra{' b' * 500}\n"
    take_files({"docs/l.md": text}, ImportOptions(origin="l"))
    ((_, (number, words)),) = viewer.get("/w/docs/", {"q": "zebra"}).context["rows"]
    assert (number, "zebra" in words, len(words) < 170) == (3, True, True)


def test_it_says_when_nothing_matches(viewer, wiki):
    page = viewer.get("/w/docs/", {"q": "nothing\0 like it"}).content.decode()
    assert "No document holds all words of" in page
    assert "<table" not in page


def test_it_survives_a_text_longer_than_any_path(viewer, wiki):
    answer = viewer.get("/w/docs/", {"q": "é" * 60_000})
    assert answer.status_code == 200
    assert "No document holds all words of" in answer.content.decode()


def test_it_says_what_to_do_when_empty(viewer):
    page = viewer.get("/w/docs/").content.decode()
    assert "python manage.py wiki import" in page
    assert "<table" not in page


def test_it_needs_the_same_queries_for_any_number(viewer, shipped, django_assert_num_queries):
    # session, user, count, documents, two for permissions
    with django_assert_num_queries(6):
        viewer.get("/w/docs/")
