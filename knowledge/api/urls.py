"""Addresses of the HTTP door, mounted at /api/v1/."""

from django.urls import path

from knowledge.api.specs import VERBS, Lookup, Review, Specs

app_name = "api"
urlpatterns = [
    path("specs/", Specs.as_view(), name="specs"),
    path("specs/lookup", Lookup.as_view(), name="lookup"),
    *(
        path(f"specs/<int:pk>/{verb}/", Review.as_view(verb=verb), name=f"spec_{verb}")
        for verb in VERBS
    ),
]
