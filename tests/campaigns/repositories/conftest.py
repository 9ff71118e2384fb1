"""The people of the page tests."""

from tests.campaigns.views.conftest import engineer, page, viewer

__all__ = ["engineer", "page", "viewer"]
