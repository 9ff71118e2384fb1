"""Addresses of the campaign pages, grouped by the object under the address."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
