"""Mask, unmask, merge and unmerge: one POST, one step, back to the entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.attempts.merging import mask, merge, unmask, unmerge
from knowledge.models import Experience
from knowledge.views.experience.entry import entry_at, entry_page
from knowledge.views.refusals import refused

Step = Callable[[Experience, Any, QueryDict], object]


def _merge(entry: Experience, by: Any, said: QueryDict) -> object:
    into = _named(said.get("into", ""))
    return merge([entry], into, by, said.get("why", ""), said.get("decision", ""))


STEPS: dict[str, tuple[Step, str]] = {
    "mask": (
        lambda entry, by, said: mask(entry, by, said.get("why", "")),
        "The entry is masked: machines no longer see it.",
    ),
    "unmask": (
        lambda entry, by, said: unmask(entry, by, said.get("why", "")),
        "The entry counts again.",
    ),
    "merge": (_merge, "The entry is merged; the other one stands for it."),
    "unmerge": (
        lambda entry, by, said: unmerge(entry, by, said.get("why", "")),
        "The entry is taken out of its merge and counts again.",
    ),
}


@require_POST
def change_entry(request: HttpRequest, key: UUID, verb: str) -> HttpResponse:
    """Do one of `STEPS`; what is refused is told on the page, a missing right is 403."""
    found = entry_at(key)
    step, sentence = STEPS[verb]
    try:
        step(found, request.user, request.POST)
    except Forbidden as error:
        return refused(request, error, back=found.get_absolute_url(), status=403)
    except Conflict as error:
        return refused(request, error, back=found.get_absolute_url(), status=409)
    except CurationError as error:
        return entry_page(request, found, {error.field: error.message, "verb": verb}, status=422)
    messages.success(request, sentence)
    return redirect(found)


def _named(text: str) -> Experience:
    """The entry with this id, or with this address. CurationError where there is none."""
    plain = text.strip().rstrip("/").rpartition("/")[2]
    try:
        return Experience.objects.get(uuid=UUID(plain))
    except (ValueError, Experience.DoesNotExist):
        raise CurationError("into", f"no entry is called {plain[:80]!r}") from None
