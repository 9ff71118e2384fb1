"""Saved views of lists, and the columns of their tables."""

import pytest
from django.contrib.auth.models import Group, User
from django.http import QueryDict
from django.test import Client

from knowledge.curation.keep_view import MOST_VIEWS
from knowledge.models import SavedView
from knowledge.models.saved_view import query_of

pytestmark = pytest.mark.django_db
LIST = "/x/lessons/"


def person(name, role="viewer"):
    user = User.objects.create(username=name)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def alice():
    return person("alice")


def save(client, name="Mine", query="op=softmax&state=all", **more):
    said = {"list": "lessons", "name": name, "query": query, "next": LIST}
    return client.post("/views/", said | more)


def do(client, view, verb, **more):
    return client.post(f"/views/{view.pk}", {"do": verb, "next": LIST} | more)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("sort=newest&q=&backend=cuda&op=b", "backend=cuda&op=b"),
        ("page=3&format=csv&view=7&q=+a%00b+", "q=ab"),
        ("cols=a&cols=b,c&sort=name", "cols=a%2Cb%2Cc&sort=name"),
        ("", ""),
    ],
)
def test_a_query_is_written_one_way_alone(asked, kept):
    assert query_of("campaigns", QueryDict(asked)) == kept


def test_a_view_is_saved_opened_and_found_again(alice):
    answer = save(alice, query="state=all&op=softmax&page=2")
    view = SavedView.objects.get()
    assert (view.query, view.is_shared, view.is_default) == ("op=softmax&state=all", False, False)
    assert answer.url == f"{LIST}?view={view.pk}&op=softmax&state=all"
    bar = alice.get(answer.url).context["bar"]
    assert (bar.chosen, bar.is_modified) == (view, False)


def test_another_address_is_modified_until_it_is_saved_or_reset(alice):
    save(alice)
    view = SavedView.objects.get()
    there = f"{LIST}?view={view.pk}&op=matmul&q="
    body = alice.get(there).content.decode()
    assert 'id="view-modified"' in body
    assert f'id="view-reset" href="{LIST}?view={view.pk}&amp;op=softmax&amp;state=all"' in body
    do(alice, view, "save", query="op=matmul")
    assert 'id="view-modified"' not in alice.get(there).content.decode()


def test_the_team_sees_what_is_shared_and_its_person_or_a_lead_changes_it(alice):
    save(alice, shared="1")
    save(alice, name="Private")
    view, private = SavedView.objects.all()
    bob, lea = person("bob", "curator"), person("lea", "lead")
    shown = bob.get(f"{LIST}?view={view.pk}").content.decode()
    assert "by alice</span>" in shown
    assert "Private" not in shown
    assert 'id="view-save"' not in shown
    for verb in ("save", "delete", "unshare"):
        assert do(bob, view, verb).status_code == 403
        assert do(lea, private, verb).status_code == 403
    assert do(lea, view, "save", query="op=x").status_code == 302
    assert do(lea, view, "default").status_code == 403
    assert do(lea, view, "delete").url == f"{LIST}?view="
    assert [*SavedView.objects.all()] == [private]


@pytest.mark.storage
def test_a_bare_address_opens_the_own_default(alice):
    assert alice.get(LIST).status_code == 200
    save(alice)
    save(alice, name="Other", query="op=x", shared="1")
    first, second = SavedView.objects.all()
    do(alice, first, "default")
    do(alice, second, "default")
    assert alice.get(LIST).url == f"{LIST}?view={second.pk}&op=x"
    assert alice.get(f"{LIST}?view=").status_code == 200
    assert person("bob").get(LIST).status_code == 200
    do(alice, second, "undefault")
    assert alice.get(LIST).status_code == 200


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ({"name": "  "}, 400, "name: is needed"),
        ({"name": "n" * 61}, 400, "name: 61 characters; accepted: at most 60"),
        ({"name": "a\0b"}, 400, "NUL"),
        ({"query": "q=" + "x" * 2001}, 400, "query: 2003 characters; accepted: at most 2000"),
        ({"query": "q=" + "x" * 9000}, 400, "accepted: at most 4000"),
        ({"list": "evil"}, 400, "list: &#x27;evil&#x27;; accepted: campaigns, rounds, specs"),
    ],
)
def test_it_says_what_is_wrong(alice, said, status, words):
    answer = save(alice, **said)
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not SavedView.objects.exists()


def test_a_name_is_used_once_and_views_are_bounded(alice):
    save(alice)
    assert b"you have a view" in save(alice, query="").content
    owner = User.objects.get(username="alice")
    SavedView.objects.bulk_create(
        SavedView(person=owner, page="lessons", name=str(n)) for n in range(MOST_VIEWS)
    )
    assert save(alice, name="One more").status_code == 409


def test_it_leads_to_our_own_pages_alone(alice):
    assert save(alice, next="//evil.example/x").url.startswith("/?view=")
    view = SavedView.objects.get()
    assert do(alice, view, "burn").status_code == 400
    assert do(alice, view, "delete", next=f"{LIST}?op=x").url == f"{LIST}?view="
    assert alice.post("/views/999", {"do": "save"}).status_code == 404
    assert alice.get("/views/").status_code == 405


def test_an_unknown_view_marks_none(alice):
    for key in ("7", "x", "9" * 40, "%00"):
        assert alice.get(f"{LIST}?view={key}").context["bar"].chosen is None


def test_the_values_show_the_columns_that_are_chosen(alice):
    bar = alice.get("/w/specs/?cols=state,value,nothing").context["bar"]
    assert [column.name for column in bar.columns.shown] == ["state", "value"]
    assert bar.columns.strange == ["nothing"]
