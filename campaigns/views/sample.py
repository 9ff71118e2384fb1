"""Load the sample campaign, and remove it again: one click each."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.models import IllegalTransition
from campaigns.steps.lifecycle.create_campaign import CampaignRefused
from campaigns.steps.lifecycle.load_sample import SampleRefused, load_sample
from campaigns.steps.lifecycle.remove_sample import remove_sample
from campaigns.views.lookup import campaign_at, may_run
from knowledge.curation.errors import Forbidden

NOT_LOADED = (CampaignRefused, IllegalTransition, SampleRefused)


@may_run
@require_POST
def load(request: HttpRequest) -> HttpResponse:
    """To the sample, which is loaded where it is not there; home says why where it cannot be."""
    try:
        return redirect(load_sample(request.user))
    except NOT_LOADED as error:
        messages.error(request, f"The sample is not loaded: {error}")
    return redirect("home")


@may_run
@require_POST
def remove(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Delete it for good; any other campaign says that it is kept."""
    campaign = campaign_at(campaign_id)
    try:
        remove_sample(campaign, request.user)
    except Forbidden as error:
        raise PermissionDenied(str(error)) from None
    except SampleRefused as error:
        messages.error(request, str(error))
        return redirect(campaign)
    messages.success(request, "The sample is removed, with all of its rows.")
    return redirect("home")
