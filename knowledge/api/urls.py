"""Addresses of the HTTP door, mounted at /api/v1/."""

from django.urls import path

from knowledge.api.comments import CommentList, RetractComment
from knowledge.api.experience import (
    ExperienceView,
    GapsView,
    LessonsView,
    OneExperienceView,
    OneGapView,
    OneLessonView,
    RecommendView,
    SearchView,
)
from knowledge.api.problems import no_such_address
from knowledge.api.schema import SchemaView, docs_page
from knowledge.api.specs import (
    VERBS,
    Documents,
    LookupView,
    OneDocument,
    OnePlatform,
    OneSpecView,
    Platforms,
    ReviewView,
    SpecsView,
)

__all__ = ["docs_page", "no_such_address"]

app_name = "api"
urlpatterns = [
    path("schema", SchemaView.as_view(), name="schema"),
    path("platforms/", Platforms.as_view(), name="platforms"),
    path("platforms/<str:slug>/", OnePlatform.as_view(), name="platform"),
    path("documents/", Documents.as_view(), name="documents"),
    path("documents/<int:pk>/", OneDocument.as_view(), name="document"),
    path("specs/", SpecsView.as_view(), name="specs"),
    path("specs/<int:pk>/", OneSpecView.as_view(), name="spec"),
    path("specs/lookup", LookupView.as_view(), name="lookup"),
    *(
        path(f"specs/<int:pk>/{verb}/", ReviewView.as_view(verb=verb), name=f"spec_{verb}")
        for verb in VERBS
    ),
    path("experience/", ExperienceView.as_view(), name="experience"),
    path("experience/<uuid:uuid>/", OneExperienceView.as_view(), name="one_experience"),
    path("lessons/", LessonsView.as_view(), name="lessons"),
    path("lessons/<uuid:uuid>/", OneLessonView.as_view(), name="one_lesson"),
    path("gaps/", GapsView.as_view(), name="gaps"),
    path("gaps/<uuid:uuid>/", OneGapView.as_view(), name="one_gap"),
    path("comments/", CommentList.as_view(), name="comments"),
    path("comments/<int:pk>/retract/", RetractComment.as_view(), name="retract_comment"),
    path("search", SearchView.as_view(), name="search"),
    path("recommend/", RecommendView.as_view(), name="recommend"),
]
