"""A curator allows an assumed ceiling for a draft: one small form on the campaign's page."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.models import IllegalTransition
from campaigns.steps.lifecycle.set_target import PlaceholderRefused, allow_placeholder
from campaigns.views.campaign import campaign_page
from campaigns.views.lookup import campaign_at
from knowledge.curation.errors import Forbidden


@require_POST
def placeholder(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Store it, or show the page again with the message at its field and the input kept."""
    found = campaign_at(campaign_id)
    said = {name: request.POST.get(name, "") for name in ("question", "value", "reason")}
    try:
        allow_placeholder(found, by=request.user, **said)
    except Forbidden as error:
        raise PermissionDenied(str(error)) from error
    except IllegalTransition as error:
        messages.error(request, str(error))
    except PlaceholderRefused as error:
        form = {**said, "errors": {error.field: error.message}}
        return campaign_page(request, found, {"placeholder_form": form}, status=422)
    else:
        messages.success(request, "The placeholder is stored, labelled with your name and reason.")
    return redirect("campaign", found.pk)
