"""Addresses of the campaigns' part of the HTTP door, mounted at /api/v1/."""

from django.urls import path

from campaigns.api.campaigns import Campaigns, Findings, Restart
from campaigns.api.workers import OnePassport, Workers

app_name = "campaigns_api"
urlpatterns = [
    path("campaigns/", Campaigns.as_view(), name="campaigns"),
    path("campaigns/<int:pk>/findings/", Findings.as_view(), name="findings"),
    path("campaigns/<int:pk>/restart/", Restart.as_view(), name="restart"),
    path("workers/", Workers.as_view(), name="workers"),
    path("workers/<int:pk>/passport/", OnePassport.as_view(), name="passport"),
]
