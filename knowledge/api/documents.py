"""/api/v1/platforms/ and documents/: the products that are described, and the pages that do."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import QuerySet
from rest_framework import serializers

from knowledge.api.lists import ListView, OneView
from knowledge.lookup.documents import documents_with
from knowledge.models import Document, Platform, Revision


class PlatformSerializer(serializers.ModelSerializer):
    """One exact product. aliases: the names that drivers report."""

    aliases = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Platform
        fields = ("id", "slug", "name", "vendor", "arch", "kind", "target", "aliases")


class PlatformFilters(filters.FilterSet):
    vendor = filters.CharFilter("vendor")
    arch = filters.CharFilter("arch")
    kind = filters.CharFilter("kind")


class Platforms(ListView):
    """GET lists platforms."""

    queryset = Platform.objects.all()
    serializer_class = PlatformSerializer
    filterset_class = PlatformFilters
    order = "pk"


class OnePlatform(OneView):
    """GET one platform by its slug."""

    queryset = Platform.objects.all()
    serializer_class = PlatformSerializer
    lookup_field = "slug"


class DocumentSerializer(serializers.ModelSerializer):
    changed_at = serializers.DateTimeField()

    class Meta:
        model = Document
        fields = ("id", "path", "title", "origin", "withdrawn_at", "changed_at")


class RevisionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Revision
        fields = ("number", "sha256", "text", "created_at")


class WholeDocumentSerializer(serializers.ModelSerializer):
    """With its newest text."""

    latest = RevisionSerializer()

    class Meta:
        model = Document
        fields = ("id", "path", "title", "origin", "withdrawn_at", "latest")


class DocumentFilters(filters.FilterSet):
    q = filters.CharFilter(method="with_words", label="words in path, title or newest text")
    origin = filters.CharFilter("origin")
    path = filters.CharFilter("path")

    def with_words(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(pk__in=documents_with(text).order_by().values("pk"))


class Documents(ListView):
    """GET lists documents, without their texts."""

    queryset = documents_with("")
    serializer_class = DocumentSerializer
    filterset_class = DocumentFilters
    order = "pk"


class OneDocument(OneView):
    """GET one document with its newest text."""

    queryset = Document.objects.all()
    serializer_class = WholeDocumentSerializer
