"""Webhooks: the addresses that are told what happens.

An address may hold somebody's key, so leads alone see them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.api.serializers import WebhookSerializer
from campaigns.models import HookKind, Webhook
from campaigns.steps.safe_post import LONGEST
from campaigns.steps.webhooks import add_webhook, end_webhook
from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.people import is_lead
from knowledge.forms.decide import add_refusal
from knowledge.views.actions import refused
from knowledge.views.formats import list_file

PER_PAGE = 50
HEAD = "url kinds by created_at ended_at answer"


def leads_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view that the role lead alone opens."""

    @wraps(view)
    def guarded(request: HttpRequest, **named: Any) -> HttpResponse:
        if not is_lead(request.user):
            raise PermissionDenied("webhooks need the role lead")
        return view(request, **named)

    return guarded


class WebhookForm(forms.Form):
    url = forms.CharField(
        max_length=LONGEST, label="Address", help_text="https, on the public network"
    )
    kinds = forms.MultipleChoiceField(
        choices=HookKind.choices, widget=forms.CheckboxSelectMultiple, label="Tell it when"
    )


@leads_only
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """GET lists them; POST adds one, whose secret is in this one answer only."""
    if request.method != "POST":
        rows = Webhook.objects.select_related("by")
        file = list_file(request, "webhooks", rows, WebhookSerializer, HEAD)
        return file or _page(request, WebhookForm())
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            site = request.build_absolute_uri("/")
            made = add_webhook(**form.cleaned_data, site=site, by=request.user)
        except CurationError as error:
            add_refusal(form, error)
        except Conflict as error:
            return refused(request, error, request.path)
        else:
            return _page(request, WebhookForm(), made=made, status=201)
    return _page(request, form, status=422)


def _page(request: HttpRequest, form: WebhookForm, status: int = 200, **more: Any) -> HttpResponse:
    rows = Webhook.objects.select_related("by")
    context = {"form": form, "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))}
    return render(request, "campaigns/out/webhooks.html", context | more, status=status)


@leads_only
@require_POST
def stop_webhook(request: HttpRequest, key: int) -> HttpResponse:
    """Tell it no more."""
    found = get_object_or_404(Webhook, pk=key)
    if end_webhook(found):
        messages.success(request, "Ended: this address is told no more.")
    return redirect("webhooks")
