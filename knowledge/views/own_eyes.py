"""Every request reads with the eyes of its person, whichever way it says who that is."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse

from knowledge.curation.projects import hidden_from
from knowledge.models.sight import seeing


class OwnEyes:
    """Outside of all that answers, so that nothing is shown to eyes that see everything."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        known: dict[int | None, frozenset[int]] = {}

        def eyes() -> frozenset[int]:
            # A token and a signed address tell of their person later than a session does.
            person = getattr(request, "user", None) or AnonymousUser()
            if person.pk not in known:
                known[person.pk] = hidden_from(person)
            return known[person.pk]

        with seeing(eyes):
            return self.get_response(request)
