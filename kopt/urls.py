"""Addresses: accounts and the two apps."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("w/", include("knowledge.urls")),
    path("api/v1/", include("knowledge.api.urls")),
    path("api/v1/", include("campaigns.api.urls")),
    path("", include("campaigns.urls")),
]
