"""A person's own tokens: what there is, a new one shown once, and taking one back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from knowledge.curation.errors import CurationError
from knowledge.curation.tokens import (
    LONGEST_NAME,
    MOST_DAYS,
    USUAL_DAYS,
    new_token,
    revoke,
    tokens_of,
)
from knowledge.forms.decide import add_refusal
from knowledge.models.token import Scope


class TokenForm(forms.Form):
    name = forms.CharField(max_length=LONGEST_NAME, label="What it is for")
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, scope.label) for scope in Scope if scope != Scope.READ],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="What it may do beside reading",
    )
    days = forms.IntegerField(
        min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS, label="Days until it expires"
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """GET lists them; POST makes one, whose text is in this one answer only."""
    if request.method != "POST":
        return _page(request, TokenForm())
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            made, text = new_token(request.user, **form.cleaned_data)
        except CurationError as error:
            add_refusal(form, error)
        else:
            return _page(request, TokenForm(), made=made, text=text)
    return _page(request, form, status=422)


@require_POST
def revoke_token(request: HttpRequest, key: str) -> HttpResponse:
    """Take one of the person's own tokens back."""
    try:
        gone = revoke(tokens_of(request.user), key)
    except CurationError as error:
        raise Http404(str(error)) from None
    messages.success(request, f"Revoked: {gone.name}.")
    return redirect("tokens")


def _page(request: HttpRequest, form: TokenForm, status: int = 200, **more: Any) -> HttpResponse:
    context = {"form": form, "rows": tokens_of(request.user), **more}
    return render(request, "knowledge/tokens.html", context, status=status)
