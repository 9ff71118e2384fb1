"""What a person fills in to decide on a value or to answer a flag."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from knowledge.curation.errors import CurationError
from knowledge.models import Flag, FlagAnswer, Spec
from knowledge.specs.facts import Rank

REASON = "a reason is needed; it is kept in the history"
# Steps of curation name what is wrong in their own words; here is the field that asks for it.
FIELD_OF = {"lines": "first", "document": "doc"}


def add_refusal(form: forms.Form, error: CurationError) -> None:
    """Show a refusal at the field that it names, or above the form where there is none."""
    name = FIELD_OF.get(error.field, error.field)
    form.add_error(name if name in form.fields else None, error.message)


def why_field(*, required: bool = True) -> forms.CharField:
    """One reason, kept in the history."""
    return forms.CharField(
        label="Why" if required else "Why (optional)",
        required=required,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": REASON},
    )


class DecisionForm(forms.Form):
    """`seen` is the newest change that the page showed (`curation.seen`); a later is a conflict."""

    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, key: str, **kwargs: Any) -> None:
        super().__init__(data, auto_id=f"{key}-%s", **kwargs)
        self.key = key


class ApproveForm(DecisionForm):
    why = why_field(required=False)


class ReasonForm(DecisionForm):
    why = why_field()


class RetireForm(ReasonForm):
    """`successor`: which of the remaining values is preferred then."""

    successor = forms.ModelChoiceField(
        Spec.objects.none(),
        required=False,
        label="Preferred then",
        empty_label="choose one",
        error_messages={"invalid_choice": "accepted: a value of the list"},
    )
    field_order = ["seen", "successor", "why"]

    def __init__(self, data: Any = None, *, peers: Iterable[Spec] = (), **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        keys = [peer.pk for peer in peers]
        if keys:
            self.fields["successor"].queryset = Spec.objects.filter(pk__in=keys)  # type: ignore[attr-defined]
        else:
            del self.fields["successor"]


class RankForm(ReasonForm):
    rank = forms.ChoiceField(choices=[(rank.value, rank.value) for rank in Rank])
    field_order = ["seen", "rank", "why"]


class WaiveForm(DecisionForm):
    constraint = forms.CharField(max_length=40, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why it does not hold here",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": REASON},
    )


class ReciteForm(DecisionForm):
    """The lines of a newest text that hold the value; `rev` is the text that the page showed."""

    doc = forms.CharField(label="Document", max_length=200)
    rev = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    first = forms.IntegerField(label="First line", min_value=1, max_value=10**8)
    last = forms.IntegerField(label="Last line", min_value=1, max_value=10**8)
    why = why_field(required=False)

    @classmethod
    def starting_at(cls, flag: Flag, key: str) -> ReciteForm:
        """Prefilled with where the flag saw the text, else with where it stood."""
        citation = flag.spec.citation
        path = citation.revision.document.path if citation else ""
        initial: dict[str, Any] = {"doc": path, "first": flag.first_line, "last": flag.last_line}
        if flag.revision is not None:
            initial |= {"doc": flag.revision.document.path, "rev": flag.revision.short}
        return cls(key=key, initial=initial)


class ExplainForm(DecisionForm):
    answer = forms.ChoiceField(
        label="How can both rest on the same lines",
        choices=[(a.value, a.label) for a in (FlagAnswer.TYPO_FIX, FlagAnswer.MISREAD)],
        widget=forms.RadioSelect,
        error_messages={"required": "accepted: typo fix, or same line, misread before"},
    )
    why = why_field()
