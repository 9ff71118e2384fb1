"""A remark on a record: stored as it was typed, told to whom it concerns, taken back by its author.

Everybody who may read may comment; agents may not. What can be commented on registers itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from knowledge.curation.errors import Conflict, CurationError, Forbidden, require_storable
from knowledge.models import Comment, Lesson, NoticeKind, Notification, Spec, SubjectKind
from knowledge.models.comment import LONGEST_ANCHOR, LONGEST_COMMENT, LONGEST_KEY

# A name as Django accepts one, without the full stop that ends a sentence.
MENTION = re.compile(r"(?<![\w@.+-])@([\w.+-]{0,149}\w)")
MOST_MENTIONS = 20
SHOWN = 80  # characters of a comment in a notification


@dataclass(frozen=True, slots=True)
class CommentSubject:
    """What a comment is about: in words, its page, and the people whose own it is.

    note: keeps a new comment in the log of the subject, where it has one. campaign: the key of the
    one that it is part of, or was learnt in.
    """

    name: str
    url: str
    authors: frozenset[int]
    campaign: int | None = None
    note: Callable[[Comment], object] | None = None


Find = Callable[[str, str, str], CommentSubject | None]
_FINDERS: dict[str, Find] = {}


def register(kinds: Iterable[SubjectKind], find: Find) -> None:
    """Let these kinds be commented on. find: kind, key and anchor → the subject, or None."""
    _FINDERS.update(dict.fromkeys(kinds, find))


def subject_at(kind: str, key: str, anchor: str = "") -> CommentSubject:
    """What a comment would be about. CurationError names the field that leads nowhere."""
    if kind not in _FINDERS:
        raise CurationError("kind", f"{kind!r:.40}; accepted: {', '.join(sorted(_FINDERS))}")
    for name, text, most in (("key", key, LONGEST_KEY), ("anchor", anchor, LONGEST_ANCHOR)):
        require_storable(name, text, most)
    found = _FINDERS[kind](kind, key, anchor)
    if found is None:
        place = f"{key!r:.80} {anchor}".strip()
        raise CurationError("key", f"{place}; accepted: the key of a {SubjectKind(kind).label}")
    return found


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """Where a comment stands: the subject, a part of it, and the comment that it answers."""

    kind: str
    key: str
    anchor: str = ""
    parent: int | None = None


def add_comment(place: CommentPlace, text: str, by: Any) -> Comment:
    """Store it and tell those it mentions, the authors of the subject, and whom it answers.

    Raises CurationError naming the field, and Forbidden for nobody.
    """
    if by is None or not by.is_authenticated:
        raise Forbidden("commenting needs a person who is logged in")
    said = text.strip().replace("\r\n", "\n")
    if not said:
        raise CurationError("text", f"is needed, of at most {LONGEST_COMMENT} characters")
    require_storable("text", said, LONGEST_COMMENT)
    subject, where = subject_at(place.kind, place.key, place.anchor), vars_of(place)
    with transaction.atomic():
        parent = None
        if place.parent is not None:
            rows = Comment.objects.filter(**where, retracts=None).select_related("parent")
            parent = rows.filter(pk=place.parent).first()
            if parent is None:
                raise CurationError("parent", f"{place.parent}; accepted: a comment on the same")
        top = parent.parent or parent if parent else None
        made: Comment = Comment.objects.create(**where, parent=top, text=said, by=by)
        if subject.note:
            subject.note(made)
        _tell(made, parent, subject)
    return made


def vars_of(place: CommentPlace | Comment) -> dict[str, str]:
    """The columns of the subject."""
    return {"kind": place.kind, "key": place.key, "anchor": place.anchor}


def retract(comment: Comment, by: Any) -> Comment:
    """Take an own comment back: who and when stay, its text is no longer shown.

    Raises Forbidden for a comment of somebody else, Conflict for one that is taken back already.
    """
    if comment.by_id != by.pk:
        raise Forbidden("a comment is taken back by who wrote it")
    try:
        with transaction.atomic():
            if comment.retracts_id is not None:
                raise Conflict("this is no comment, but the taking back of one")
            made: Comment = Comment.objects.create(**vars_of(comment), retracts=comment, by=by)
    except IntegrityError:
        raise Conflict("the comment is taken back already") from None
    return made


def mentioned(text: str) -> set[int]:
    """Keys of the active users that a text names as `@name`, of the first so many names."""
    names = dict.fromkeys(MENTION.findall(text))
    found = get_user_model().objects.filter(username__in=[*names][:MOST_MENTIONS], is_active=True)
    return set(found.values_list("pk", flat=True))


def _tell(made: Comment, answered: Comment | None, subject: CommentSubject) -> None:
    url = f"{subject.url}#comment-{made.pk}"
    short = " ".join(made.text.split())[:SHOWN]
    named = mentioned(made.text) - {made.by_id}
    others = set(subject.authors) | ({answered.by_id} if answered else set())
    who = made.by.get_username()
    told = Notification.objects
    campaign = subject.campaign
    words = f"{who} mentions you on {subject.name}: {short}"
    told.tell(named, NoticeKind.MENTION, words, url, campaign)
    rest = others - named - {made.by_id}
    words = f"{who} comments on {subject.name}: {short}"
    told.tell(rest, NoticeKind.COMMENT, words, url, campaign)


def _in_knowledge(kind: str, key: str, anchor: str) -> CommentSubject | None:
    """A value by its key, a lesson by its id; neither has parts."""
    if anchor:
        return None
    found: Spec | Lesson | None = None
    if kind == SubjectKind.SPEC and key.isascii() and key.isdigit() and len(key) < 10:
        found = Spec.objects.select_related("platform").filter(pk=int(key)).first()
    elif kind == SubjectKind.LESSON:
        try:
            found = Lesson.objects.filter(uuid=UUID(key)).first()
        except ValueError:
            return None
    if found is None:
        return None
    owner = found.proposed_by_id
    authors = frozenset() if owner is None else frozenset({owner})
    campaign = found.campaign if isinstance(found, Lesson) else None
    return CommentSubject(f"‘{found}’", found.get_absolute_url(), authors, campaign)


register((SubjectKind.SPEC, SubjectKind.LESSON), _in_knowledge)
