"""What a person fills in for a new token."""

from __future__ import annotations

from django import forms

from knowledge.curation.tokens import LONGEST_NAME, MOST_DAYS, USUAL_DAYS
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
