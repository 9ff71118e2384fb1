"""Addresses of the HTTP door, mounted at /api/v1/."""

from django.urls import path

from knowledge.api.specs import VERBS, LookupView, ReviewView, SpecsView

app_name = "api"
urlpatterns = [
    path("specs/", SpecsView.as_view(), name="specs"),
    path("specs/lookup", LookupView.as_view(), name="lookup"),
    *(
        path(f"specs/<int:pk>/{verb}/", ReviewView.as_view(verb=verb), name=f"spec_{verb}")
        for verb in VERBS
    ),
]
