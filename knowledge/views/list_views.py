"""The bar above a list: its saved views, whether the address differs from one, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.keep_view import change_view, keep_view, may_change_view
from knowledge.lookup.columns import COLS, ChosenColumns, ListColumn, chosen
from knowledge.lookup.listing import FilterError
from knowledge.models import SavedView
from knowledge.models.saved_view import query_of
from knowledge.views.actions import refused
from knowledge.views.comments import back_of
from knowledge.views.propose import number

VIEW = "view"


@dataclass(frozen=True, slots=True)
class ListBar:
    """What `knowledge/partials/list_bar.html` shows.

    query: what the address asks for, as views are stored. chosen: the view that the address names,
    where the person may see it. columns: None for a list without a table.
    """

    page: str
    path: str
    query: str
    views: Sequence[SavedView]
    chosen: SavedView | None
    may_change: bool
    is_own: bool
    columns: ChosenColumns | None

    @property
    def is_modified(self) -> bool:
        """Whether the address asks for something else than the chosen view."""
        return self.chosen is not None and self.chosen.query != self.query

    @property
    def address(self) -> str:
        """What follows the `?` of the list's address, the chosen view with it."""
        view = urlencode({VIEW: self.chosen.pk if self.chosen else ""})
        return f"{view}&{self.query}" if self.query else view

    @property
    def beside_columns(self) -> list[tuple[str, str]]:
        """What a form of columns has to keep: name and text of each parameter."""
        return self._kept(lambda name: name != COLS)

    @property
    def beside_filters(self) -> list[tuple[str, str]]:
        """The same for a form of filters."""
        return self._kept(lambda name: name == COLS)

    def _kept(self, wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
        found = [(name, str(text)) for name, text in QueryDict(self.query).items() if wanted(name)]
        return found + ([(VIEW, str(self.chosen.pk))] if self.chosen else [])


def bar_of(
    request: HttpRequest, page: str, columns: Iterable[ListColumn] = ()
) -> ListBar | HttpResponse:
    """The bar of a list; or the way to the person's default view, for a bare address.

    page: a key of `LISTS`. One query.
    """
    asked = request.GET
    views = list(SavedView.objects.seen_by(request.user, page))
    if not asked:
        own = [view for view in views if view.is_default and view.person_id == request.user.pk]
        if own:
            return redirect(f"{request.path}?{own[0].address}")
    query = query_of(page, asked)
    key = number(asked.get(VIEW), 9)
    found = next((view for view in views if view.pk == key), None)
    return ListBar(
        page=page,
        path=request.path,
        query=query,
        views=views,
        chosen=found,
        may_change=found is not None and may_change_view(found, request.user),
        is_own=found is not None and found.person_id == request.user.pk,
        columns=chosen(columns, asked) if columns else None,
    )


@require_POST
def new_view(request: HttpRequest) -> HttpResponse:
    """Keep `query` of `list` as `name`, for the team where `shared` is ticked; open it then."""
    page, name, query = (request.POST.get(field, "") for field in ("list", "name", "query"))
    try:
        made = keep_view(page, name, query, request.user, is_shared="shared" in request.POST)
    except (CurationError, Conflict) as error:
        return _refused(request, error)
    messages.success(request, f"The view ‘{made.name}’ is saved.")
    return redirect(f"{_list_of(request)}?{made.address}")


@require_POST
def one_view(request: HttpRequest, key: int) -> HttpResponse:
    """`do` one of `curation.keep_view.VERBS`; saving takes `query`."""
    found = get_object_or_404(SavedView.objects.select_related("person"), pk=key)
    if not found.is_shared and found.person_id != request.user.pk:
        return _refused(request, Forbidden("this view is somebody else’s"))
    verb = request.POST.get("do", "")
    try:
        said = change_view(found, verb, request.user, request.POST.get("query", ""))
    except (CurationError, Forbidden, Conflict) as error:
        return _refused(request, error)
    messages.success(request, said)
    shown = f"{VIEW}=" if verb == "delete" else found.address
    return redirect(f"{_list_of(request)}?{shown}")


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(error, CurationError):
        error = FilterError(error.field, error.message)
    return refused(request, error, f"{_list_of(request)}?{VIEW}=")


def _list_of(request: HttpRequest) -> str:
    """The address of the list that the form stood above, without what it asked for."""
    return back_of(request, "/").partition("?")[0]
