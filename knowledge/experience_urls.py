"""Addresses of what the team has learned, mounted at /x/, and of the search."""

from django.urls import path

from knowledge.views.experience.disagreements import disagreement, disagreements
from knowledge.views.experience.entry import STEPS, change_entry, entry
from knowledge.views.experience.gaps import gap_answer, gap_close, gaps
from knowledge.views.experience.home import (
    effects_csv,
    export_csv,
    export_json,
    export_md,
    home,
    places_csv,
)
from knowledge.views.experience.import_page import (
    answer_import,
    confirm,
    drop,
    import_page,
    undo,
)
from knowledge.views.experience.imports import imports
from knowledge.views.experience.lesson import lesson, lesson_step
from knowledge.views.experience.lesson_new import lesson_edit, lesson_new
from knowledge.views.experience.lessons import lessons
from knowledge.views.experience.search import search
from knowledge.views.experience.strategies import strategies, strategy
from knowledge.views.experience.track import track

__all__ = ["search"]

app_name = "experience"
urlpatterns = [
    path("", home, name="home"),
    path("effects.csv", effects_csv, name="effects_csv"),
    path("places.csv", places_csv, name="places_csv"),
    path("e/<uuid:key>/", entry, name="entry"),
    *(
        path(f"e/<uuid:key>/{verb}", change_entry, {"verb": verb}, name=f"{verb}_entry")
        for verb in STEPS
    ),
    path("t/<int:pk>/", track, name="track"),
    path("lessons/", lessons, name="lessons"),
    path("lessons/new/", lesson_new, name="lesson_new"),
    path("lessons/<uuid:key>/", lesson, name="lesson"),
    path("lessons/<uuid:key>/edit/", lesson_edit, name="lesson_edit"),
    path("lessons/<uuid:key>/<slug:step>/", lesson_step, name="lesson_step"),
    path("strategies/", strategies, name="strategies"),
    path("strategies/<str:slug>/", strategy, name="strategy"),
    path("gaps/", gaps, name="gaps"),
    path("gaps/<int:pk>/answer/", gap_answer, name="gap_answer"),
    path("gaps/<int:pk>/close/", gap_close, name="gap_close"),
    path("disagreements/", disagreements, name="disagreements"),
    path("disagreements/<int:pk>/", disagreement, name="disagreement"),
    path("imports/", imports, name="imports"),
    path("imports/<int:pk>/", import_page, name="import"),
    path("imports/<int:pk>/answer/", answer_import, name="import_answer"),
    path("imports/<int:pk>/confirm/", confirm, name="import_confirm"),
    path("imports/<int:pk>/drop/", drop, name="import_drop"),
    path("imports/<int:pk>/undo/", undo, name="import_undo"),
    path("export.json", export_json, name="export_json"),
    path("export.csv", export_csv, name="export_csv"),
    path("export.md", export_md, name="export_md"),
]
