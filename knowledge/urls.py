"""Addresses of the wiki, mounted at /w/; and those of tokens and comments, for kopt/urls.py."""

from django.urls import path

from knowledge.models import BatchKind
from knowledge.views import (
    compare,
    decide,
    document,
    home,
    imports,
    platform,
    propose,
    review,
    spec,
    specs,
)
from knowledge.views.comments import comment, retract_comment
from knowledge.views.tokens import revoke_token, tokens

__all__ = ["comment", "retract_comment", "revoke_token", "tokens"]

app_name = "knowledge"
FILES = ("json", "csv", "md")
WIKI: dict[str, str] = {"kind": BatchKind.WIKI}
urlpatterns = [
    path("", home.home, name="home"),
    path("p/<str:slug>/", platform.sheet, name="platform"),
    *(
        path(f"p/<str:slug>.{end}", platform.sheet_file, {"ending": end}, name=f"platform_{end}")
        for end in FILES
    ),
    path("specs/", specs.specs, name="specs"),
    path("compare/", compare.compare_platforms, name="compare"),
    *(
        path(f"compare.{end}", compare.compare_file, {"ending": end}, name=f"compare_{end}")
        for end in FILES
    ),
    path("s/<int:pk>/", spec.spec, name="spec"),
    *(
        path(f"s/<int:pk>/{step}/", decide.decide, {"step": step}, name=step)
        for step in decide.STEPS
    ),
    path("flags/<int:pk>/recite/", decide.recite, name="recite"),
    path("flags/<int:pk>/explain/", decide.explain, name="explain"),
    path("propose/", propose.propose, name="propose"),
    path("review/", review.review, name="review"),
    path("imports/", imports.imports, WIKI, name="imports"),
    path("imports/<int:number>/", imports.batch, WIKI, name="batch"),
    *(
        path(
            f"imports/<int:number>/{step}/",
            imports.decide,
            WIKI | {"step": step},
            name=f"batch_{step}",
        )
        for step in ("confirm", "drop", "undo")
    ),
    path("export.zip", home.export, name="export"),
    path("docs/", document.documents, name="documents"),
    path("docs/<path:path>", document.document, name="document"),
]
