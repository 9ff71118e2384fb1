"""Addresses of the HTTP door, mounted at /api/v1/."""

from django.urls import path

from knowledge.api.experience import (
    ExperienceView,
    GapsView,
    LessonsView,
    OneExperienceView,
    OneLessonView,
    RecommendView,
)
from knowledge.api.search import SearchView
from knowledge.api.specs import VERBS, LookupView, ReviewView, SpecsView

app_name = "api"
urlpatterns = [
    path("specs/", SpecsView.as_view(), name="specs"),
    path("specs/lookup", LookupView.as_view(), name="lookup"),
    *(
        path(f"specs/<int:pk>/{verb}/", ReviewView.as_view(verb=verb), name=f"spec_{verb}")
        for verb in VERBS
    ),
    path("experience/", ExperienceView.as_view(), name="experience"),
    path("experience/<uuid:key>/", OneExperienceView.as_view(), name="one_experience"),
    path("lessons/", LessonsView.as_view(), name="lessons"),
    path("lessons/<uuid:key>/", OneLessonView.as_view(), name="one_lesson"),
    path("gaps/", GapsView.as_view(), name="gaps"),
    path("search", SearchView.as_view(), name="search"),
    path("recommend/", RecommendView.as_view(), name="recommend"),
]
