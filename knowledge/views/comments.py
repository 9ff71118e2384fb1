"""Commenting on a page, and taking an own comment back; then the page again, at the comment."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from knowledge.curation.comment import CommentPlace, add_comment, retract, subject_at
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.models import Comment
from knowledge.views.actions import refused
from knowledge.views.propose import number


@require_POST
def comment(request: HttpRequest) -> HttpResponse:
    """Store `text` on `kind`, `key` and `anchor`, as an answer to `parent` where that is given.

    A refusal keeps what was typed and names the field.
    """
    sent = {name: request.POST.get(name, "") for name in ("kind", "key", "anchor", "text")}
    parent = request.POST.get("parent", "")
    place = CommentPlace(
        kind=sent["kind"],
        key=sent["key"],
        anchor=sent["anchor"],
        # What is no number is the key of no comment, and is refused as that.
        parent=(number(parent, 9) or 0) if parent else None,
    )
    try:
        made = add_comment(place, sent["text"], request.user)
    except CurationError as error:
        context = {**sent, "parent": parent, "typed": sent["text"], "refused": error}
        context["back"] = back_of(request, "")
        return render(request, "knowledge/comment.html", context, status=422)
    return _shown(request, made)


@require_POST
def retract_comment(request: HttpRequest, pk: int) -> HttpResponse:
    """Take it back, for who wrote it."""
    found = get_object_or_404(Comment.objects.select_related("by"), pk=pk)
    try:
        retract(found, request.user)
    except (Forbidden, Conflict) as error:
        return refused(request, error, back_of(request, "/"))
    return _shown(request, found)


def _shown(request: HttpRequest, row: Comment) -> HttpResponse:
    usual = subject_at(row.kind, row.key, row.anchor).url
    return redirect(f"{back_of(request, usual)}#comment-{row.pk}")


def back_of(request: HttpRequest, usual: str) -> str:
    """The page that the form stood on; `usual` where that is none of ours."""
    back = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return back.partition("#")[0] if ours and back.isprintable() else usual
