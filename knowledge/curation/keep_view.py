"""Keep a list's address under a name, change it and drop it. Everybody who may read may do so.

A view of the team is changed by its person and by leads; which view opens a list is each
person's own matter.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.http import QueryDict

from knowledge.curation.errors import Conflict, CurationError, Forbidden, require_storable
from knowledge.curation.people import is_lead
from knowledge.models import SavedView
from knowledge.models.saved_view import LISTS, LONGEST_QUERY, LONGEST_VIEW, query_of

MOST_VIEWS = 50  # of one list, by one person
# What is done with a view that there is.
VERBS = ("save", "share", "unshare", "default", "undefault", "delete")


def may_change_view(view: SavedView, person: Any) -> bool:
    """Whether this person may change and drop it."""
    return view.person_id == person.pk or (view.is_shared and is_lead(person))


def keep_view(page: str, name: str, query: str, by: Any, *, is_shared: bool) -> SavedView:
    """Keep what an address asks for. query: what follows its `?`.

    Raises CurationError naming the field, and Conflict for a name that the person has used.
    """
    if page not in LISTS:
        raise CurationError("list", f"{page!r:.40}; accepted: {', '.join(LISTS)}")
    said = require_storable("name", " ".join(name.split()), LONGEST_VIEW)
    if not said:
        raise CurationError("name", f"is needed, of at most {LONGEST_VIEW} characters")
    own = SavedView.objects.filter(person=by, page=page)
    if own.count() >= MOST_VIEWS:
        raise Conflict(f"you have {MOST_VIEWS} views of this list already; delete one first")
    try:
        with transaction.atomic():
            made: SavedView = SavedView.objects.create(
                person=by, page=page, name=said, query=_checked(page, query), is_shared=is_shared
            )
    except IntegrityError:
        raise Conflict(f"you have a view ‘{said}’ of this list already") from None
    return made


def change_view(view: SavedView, verb: str, by: Any, query: str = "") -> str:
    """Do one of `VERBS` and return what was done, in words.

    Raises CurationError for another verb or a query that is too long, and Forbidden.
    """
    if verb not in VERBS:
        raise CurationError("do", f"{verb!r:.40}; accepted: {', '.join(VERBS)}")
    if not may_change_view(view, by):
        raise Forbidden("a view is changed by its person, one of the team by a lead as well")
    if "default" in verb and view.person_id != by.pk:
        raise Forbidden("only an own view opens your list; save this one as yours first")
    if verb == "delete":
        view.delete()
        return f"The view ‘{view.name}’ is deleted."
    with transaction.atomic():
        if verb == "save":
            view.query = _checked(view.page, query)
        elif verb in ("share", "unshare"):
            view.is_shared = verb == "share"
        else:
            SavedView.objects.filter(person=by, page=view.page).update(is_default=False)
            view.is_default = verb == "default"
        view.save()
    return {
        "save": f"The view ‘{view.name}’ is saved.",
        "share": f"The team sees the view ‘{view.name}’.",
        "unshare": f"The view ‘{view.name}’ is yours alone.",
        "default": f"The list opens with ‘{view.name}’.",
        "undefault": "The list opens with everything.",
    }[verb]


def _checked(page: str, query: str) -> str:
    """The query as it is stored."""
    require_storable("query", query, 2 * LONGEST_QUERY)
    return require_storable("query", query_of(page, QueryDict(query)), LONGEST_QUERY)
