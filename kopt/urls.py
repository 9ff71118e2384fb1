"""Addresses: accounts and the two apps."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from knowledge.experience_urls import search

urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("w/", include("knowledge.urls")),
    path("x/", include("knowledge.experience_urls")),
    path("search/", search, name="search"),
    path("api/v1/", include("knowledge.api.urls")),
    path("api/v1/", include("campaigns.api.urls")),
    path("", include("campaigns.urls")),
]
