"""A list as a person wants to find it again: what its address asked for, under a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.http import QueryDict
from django.utils.http import urlencode

LONGEST_VIEW, LONGEST_QUERY = 60, 2_000  # characters
# Lists that have views → what a parameter says where the address leaves it out.
LISTS: Mapping[str, Mapping[str, str]] = {
    "campaigns": {"sort": "newest"},
    "rounds": {"sort": "number"},
    "specs": {},
    "lessons": {},
}
# Where in the list somebody is, as what, and by which view: no part of what is asked for.
LEFT_OUT = ("page", "format", "view")


def query_of(page: str, asked: QueryDict) -> str:
    """What an address asks of a list, written one way alone: sorted, without what is usual.

    page: a key of `LISTS`. Several `cols` are one, joined by commas.
    """
    usual = LISTS[page]
    pairs: list[tuple[str, str]] = []
    for name in sorted({*asked} - {*LEFT_OUT}):
        values = [text.replace("\0", "").strip() for text in asked.getlist(name)]
        values = [",".join(filter(None, values))] if name == "cols" else values
        pairs += [(name, text) for text in values if text and usual.get(name) != text]
    return urlencode(pairs)


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def seen_by(self, person: Any, page: str) -> SavedViewQuerySet:
        """The person's own and the team's, by name."""
        mine = models.Q(person=person.pk) | models.Q(is_shared=True)
        return self.filter(mine, page=page).select_related("person").order_by("name", "pk")


class SavedView(models.Model):
    """One view. page: a key of `LISTS`. query: as `query_of` writes it.

    is_shared: the whole team sees it. is_default: its person's list opens with it.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="views")
    page = models.CharField(max_length=20)
    name = models.CharField(max_length=LONGEST_VIEW)
    query = models.CharField(max_length=LONGEST_QUERY, blank=True)
    is_shared = models.BooleanField(default=False)
    is_default = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["person", "page", "name"], name="one_view_of_a_name"),
            models.UniqueConstraint(
                fields=["person", "page"],
                condition=models.Q(is_default=True),
                name="one_default_view",
            ),
        ]

    def __str__(self) -> str:
        return f"view ‘{self.name}’ of {self.page}"

    @property
    def address(self) -> str:
        """What follows the `?` of the list's address."""
        return f"view={self.pk}" + (f"&{self.query}" if self.query else "")
