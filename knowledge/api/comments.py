"""/api/v1/comments/: what people say on a record; agents read it, and write none."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as fields
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.lists import ListView, Rows, Selected
from knowledge.api.view import RowView
from knowledge.curation.comment import CommentPlace, add_comment, retract, subject_at
from knowledge.curation.errors import CurationError
from knowledge.lookup.listing import FilterError
from knowledge.lookup.threads import Said, thread_of
from knowledge.models import Comment, SubjectKind

WRITTEN = ("kind", "key", "anchor", "parent", "text")
FOR_PEOPLE = "people comment: log in with a session"


class CommentSerializer(fields.Serializer):
    """anchor: a case or a line such as "L12". text: "" of one that was taken back."""

    id = fields.IntegerField()
    kind = fields.ChoiceField(SubjectKind.values)
    key = fields.CharField()
    anchor = fields.CharField()
    parent = fields.IntegerField(allow_null=True)
    text = fields.CharField()
    by = fields.CharField()
    at = fields.DateTimeField()
    retracted_at = fields.DateTimeField(allow_null=True)


class NewCommentSerializer(fields.Serializer):
    """key: such as "12/3" for round 3 of campaign 12, its cases and its diff."""

    kind = fields.ChoiceField(SubjectKind.values)
    key = fields.CharField()
    anchor = fields.CharField(required=False)
    parent = fields.IntegerField(required=False, allow_null=True)
    text = fields.CharField(help_text="plain text; `@name` tells a person")


class CommentList(ListView):
    """What is said on one subject.

    GET lists it, `?kind=&key=` both needed; a round's list has its cases and its diff as well.
    POST adds a comment; no token may.
    """

    serializer_class = CommentSerializer
    filter_backends = [Selected]
    names = ("kind", "key")
    choices = {"kind": list(SubjectKind.values)}
    queryset = Comment.objects.none()
    for_people = FOR_PEOPLE

    def rows(self, **path: Any) -> Rows:
        for name in self.names:
            if name not in self.wanted:
                raise FilterError(name, "is needed")
        try:
            # A case and a line of a diff are parts of a round, which tells of all of them.
            kind, key = self.wanted["kind"], self.wanted["key"]
            parts = (SubjectKind.CASE.value, SubjectKind.DIFF.value)
            subject_at(SubjectKind.ROUND if kind in parts else kind, key)
        except CurationError as error:
            raise FilterError(error.field, error.message) from None
        return thread_of(kind, key).all

    def records(self, rows: Any) -> list[dict[str, Any]]:
        return [said.facts for said in rows]

    @extend_schema(request=NewCommentSerializer, responses={201: CommentSerializer})
    def post(self, request: Request) -> Response:
        made = add_comment(_place(body := self.body()), body["text"], request.user)
        return Response(CommentSerializer(Said(made).facts).data, 201)


class RetractComment(RowView):
    """POST takes an own comment back; who and when stay."""

    queryset = Comment.objects.none()
    serializer_class = CommentSerializer
    for_people = FOR_PEOPLE

    @extend_schema(request=None, responses=CommentSerializer)
    def post(self, request: Request, pk: int) -> Response:
        found = get_object_or_404(Comment.objects.select_related("by"), pk=pk)
        made = retract(found, request.user)
        return Response(CommentSerializer(Said(found, made.at).facts).data)


def _place(body: dict[str, Any]) -> CommentPlace:
    """Where the comment goes. CurationError names a field that is unknown or of another type."""
    for name, value in body.items():
        if name not in WRITTEN:
            raise CurationError(name, f"accepted: {', '.join(WRITTEN)}")
        if name == "parent":
            if value is not None and type(value) is not int:
                raise CurationError(name, "accepted: the id of a comment, or null")
        elif not isinstance(value, str):
            raise CurationError(name, "accepted: a text")
    for name in ("kind", "key", "text"):
        if name not in body:
            raise CurationError(name, "is needed, as a text")
    return CommentPlace(body["kind"], body["key"], body.get("anchor", ""), body.get("parent"))
