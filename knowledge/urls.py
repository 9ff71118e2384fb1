"""Addresses of the wiki, mounted at /w/."""

from django.urls import path

from knowledge.views import document, home, platform

app_name = "knowledge"
urlpatterns = [
    path("", home.home, name="home"),
    path("p/<slug:slug>/", platform.sheet, name="platform"),
    path("docs/<path:path>", document.document, name="document"),
]
