"""Addresses of the wiki, mounted at /w/; and the pages of a person's tokens."""

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
from knowledge.views.tokens import revoke_token, tokens

__all__ = ["revoke_token", "tokens"]

app_name = "knowledge"
WIKI: dict[str, str] = {"kind": BatchKind.WIKI}
urlpatterns = [
    path("", home.home, name="home"),
    path("p/<slug:slug>/", platform.sheet, name="platform"),
    path("p/<slug:slug>.json", platform.sheet_json, name="platform_json"),
    path("p/<slug:slug>.csv", platform.sheet_csv, name="platform_csv"),
    path("p/<slug:slug>.md", platform.sheet_md, name="platform_md"),
    path("specs/", specs.specs, name="specs"),
    path("compare/", compare.compare_platforms, name="compare"),
    path("compare.json", compare.compare_json, name="compare_json"),
    path("compare.csv", compare.compare_csv, name="compare_csv"),
    path("compare.md", compare.compare_md, name="compare_md"),
    path("s/<int:pk>/", spec.spec, name="spec"),
    path("s/<int:pk>/approve/", decide.approve, name="approve"),
    path("s/<int:pk>/return/", decide.give_back, name="return"),
    path("s/<int:pk>/resubmit/", decide.resubmit, name="resubmit"),
    path("s/<int:pk>/retire/", decide.retire, name="retire"),
    path("s/<int:pk>/rank/", decide.rank, name="rank"),
    path("s/<int:pk>/restore/", decide.restore, name="restore"),
    path("s/<int:pk>/waive/", decide.waive, name="waive"),
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
