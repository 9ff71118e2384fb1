"""Addresses of what the team has learned, mounted at /x/, and of the search."""

from django.urls import path

from knowledge.models import BatchKind
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
from knowledge.views.experience.lesson import lesson, lesson_step
from knowledge.views.experience.lesson_new import lesson_edit, lesson_new
from knowledge.views.experience.lessons import lessons
from knowledge.views.experience.search import search
from knowledge.views.experience.strategies import strategies, strategy
from knowledge.views.experience.track import track
from knowledge.views.imports import batch, decide, imports

__all__ = ["search"]

app_name = "experience"
LEARNED: dict[str, str] = {"kind": BatchKind.EXPERIENCE}
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
    path("imports/", imports, LEARNED, name="imports"),
    path("imports/<int:number>/", batch, LEARNED, name="import"),
    *(
        path(
            f"imports/<int:number>/{step}/", decide, LEARNED | {"step": step}, name=f"import_{step}"
        )
        for step in ("answer", "confirm", "drop", "undo")
    ),
    path("export.json", export_json, name="export_json"),
    path("export.csv", export_csv, name="export_csv"),
    path("export.md", export_md, name="export_md"),
]
