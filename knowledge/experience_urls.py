"""Addresses of what the team has learned, mounted at /x/, and of the search."""

from django.urls import path

from knowledge.models import BatchKind
from knowledge.views.experience.disagreements import disagreement, disagreements
from knowledge.views.experience.entry import STEPS, change_entry, entry
from knowledge.views.experience.gaps import gap_answer, gap_close, gaps
from knowledge.views.experience.home import WRITERS, chart_csv, export, home
from knowledge.views.experience.lessons import lesson, lesson_edit, lesson_new, lesson_step, lessons
from knowledge.views.experience.search import search
from knowledge.views.experience.strategies import strategies, strategy, track
from knowledge.views.imports import batch, decide, imports

__all__ = ["search"]

app_name = "experience"
LEARNED: dict[str, str] = {"kind": BatchKind.EXPERIENCE}
urlpatterns = [
    path("", home, name="home"),
    *(
        path(f"{name}.csv", chart_csv, {"name": name}, name=f"{name}_csv")
        for name in ("effects", "places")
    ),
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
    *(path(f"export.{end}", export, {"ending": end}, name=f"export_{end}") for end in WRITERS),
]
