"""What a person fills in to propose a value: the facts, and the lines that hold them."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import Any

from django import forms

from knowledge.curation.propose import Proposal
from knowledge.forms.decide import why_field
from knowledge.models import Document, Platform, Spec
from knowledge.specs.cited import EvidenceClass, is_known
from knowledge.specs.facts import (
    QUALIFIER_VALUE,
    QUALIFIERS,
    FactsError,
    Rank,
    SourceKind,
    SpecFacts,
    check_address,
    named_values,
)
from knowledge.specs.metrics import MetricError, metric_named
from knowledge.specs.quantity import QuantityError

# The step of curation says what is wrong; here is the field of the page that asks for it.
FIELDS = {"value": "value", "cite": "doc", "document": "doc", "lines": "first", "facts": "__all__"}
MOST_LISTED = 30
HELP_VALUE = (
    "Number and unit as the source writes them: 4.8 TB/s. UNKNOWN where nobody says it, NONE where "
    "the source says that the part has none."
)
HELP_QUALIFIERS = f"key=value, with blanks between: dtype=float16. Keys: {', '.join(QUALIFIERS)}."
HELP_NOTE = (
    "Needed for UNKNOWN (how to obtain it), for NONE (how the source says that there is none) and "
    "for rank deprecated (why it is not used)."
)


def _one_of(words: type[StrEnum], empty: str, *, required: bool = True) -> forms.ChoiceField:
    """A choice whose errors list what is accepted."""
    accepted = f"accepted: {', '.join(words)}"
    return forms.ChoiceField(
        required=required,
        choices=[("", empty), *((word.value, word.value) for word in words)],
        error_messages={"required": accepted, "invalid_choice": f"'%(value)s'; {accepted}"},
    )


class PlatformField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in stubs only
    """A platform by its slug; the error lists those that there are."""

    def __init__(self) -> None:
        super().__init__(Platform.objects.all(), to_field_name="slug", empty_label="choose one")

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except forms.ValidationError:
            slugs = list(Platform.objects.values_list("slug", flat=True)[:MOST_LISTED])
            raise forms.ValidationError(
                f"'{value}' is no platform; accepted: {', '.join(slugs) or 'none yet'}"
            ) from None


class ProposeForm(forms.Form):
    """All of a proposal. `first` and `last` are picked in the source beside it."""

    platform = PlatformField()
    metric = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"list": "metrics"}))
    value = forms.CharField(label="Value with unit", max_length=80, help_text=HELP_VALUE)
    qualifiers = forms.CharField(required=False, max_length=200, help_text=HELP_QUALIFIERS)
    evidence = _one_of(EvidenceClass, "choose one")
    source_kind = _one_of(SourceKind, "choose one")
    source = forms.CharField(label="Source, its title", max_length=300)
    source_url = forms.CharField(
        label="Source, its address (optional)", required=False, max_length=500
    )
    note = forms.CharField(
        required=False,
        max_length=2000,
        help_text=HELP_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    rank = _one_of(Rank, "preferred where nothing else is, otherwise normal", required=False)
    why = why_field()
    doc = forms.CharField(
        label="Document",
        max_length=200,
        widget=forms.TextInput(attrs={"list": "documents"}),
        error_messages={
            "required": "no source is open; accepted: the path of a document, such as"
            " docs/hardware/h200-sxm.md, and lines of it"
        },
    )
    rev = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    first = forms.IntegerField(required=False, min_value=1, max_value=10**8)
    last = forms.IntegerField(required=False, min_value=1, max_value=10**8)
    replaces = forms.ModelChoiceField(
        Spec.objects.select_related("platform"),
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "there is no such value to replace"},
    )

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, auto_id="propose-%s", **kwargs)

    def clean_metric(self) -> str:
        name: str = self.cleaned_data["metric"]
        try:
            return metric_named(name).name
        except MetricError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_qualifiers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for word in self.cleaned_data["qualifiers"].split():
            key, _, value = word.partition("=")
            if key not in QUALIFIERS or not QUALIFIER_VALUE.fullmatch(value) or key in found:
                raise forms.ValidationError(
                    f"'{word}'; accepted: key=value once each, of {', '.join(QUALIFIERS)}"
                )
            found[key] = value
        return found

    def clean_source_url(self) -> str:
        address: str = self.cleaned_data["source_url"]
        try:
            check_address(address)
        except FactsError as error:
            raise forms.ValidationError(str(error)) from error
        return address

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        for name in ("value", "source", "note"):
            if "|" in said.get(name, "") or "\n" in said.get(name, ""):
                self.add_error(name, "accepted: one line without '|'")
        unknown = not is_known(said.get("value", ""))
        needs_note = unknown or said.get("rank") == Rank.DEPRECATED
        if needs_note and not said.get("note"):
            self.add_error("note", HELP_NOTE)
        if {"metric", "value", "qualifiers"} <= said.keys():
            self._clean_value_of_metric(said)
        if "doc" in said:
            self._clean_place(said)
        return said

    def _clean_value_of_metric(self, said: dict[str, Any]) -> None:
        """Number, unit and hedges, at once with everything else that is wrong."""
        known = (EvidenceClass.DOCUMENTED, SourceKind.VENDOR, "any source")
        try:
            SpecFacts(
                said["metric"],
                said["value"],
                *known,
                qualifiers=said["qualifiers"],
                note="any note",
            )
        except FactsError as error:
            self.add_error(error.field or "value", str(error))
        except (MetricError, QuantityError) as error:
            self.add_error("value", str(error))

    def _clean_place(self, said: dict[str, Any]) -> None:
        """One picked line is both ends; a document that changed must be opened again first."""
        document = Document.objects.filter(path=said["doc"]).first()
        if document is None:
            near = Document.objects.values_list("path", flat=True)[:MOST_LISTED]
            self.add_error("doc", f"no document '{said['doc']}'; accepted: {', '.join(near)}")
            return
        if said.get("rev") and not document.latest.sha256.startswith(said["rev"]):
            self.add_error("doc", "the document has changed since; accepted: its newest revision")
        picked = [line for line in (said.get("first"), said.get("last")) if line is not None]
        if not picked:
            if "first" not in self.errors and "last" not in self.errors:
                self.add_error("first", "no lines are picked; accepted: lines that hold the value")
            return
        said["first"], said["last"] = picked[0], picked[-1]
        if said["first"] > said["last"]:
            self.add_error("first", "accepted: a first line that is not after the last")

    def proposal(self) -> Proposal:
        """What was filled in; only of a valid form."""
        said = self.cleaned_data
        locator = f"L{said['first']}"
        if said["last"] != said["first"]:
            locator += f"-L{said['last']}"
        names = {field.name for field in fields(Proposal)} - {"cite"}
        cite = f"<gpu-wiki>/{said['doc']}:{locator}"
        return Proposal(cite=cite, **{name: said[name] for name in names})


def filled_from(facts: SpecFacts | Spec) -> dict[str, str]:
    """The facts as the form's fields hold them."""
    words = named_values(dict(sorted(facts.qualifiers.items())))
    names = ("metric", "evidence", "source_kind", "source", "source_url", "note")
    return {name: getattr(facts, name) for name in names} | {
        "value": facts.shown,
        "qualifiers": words,
    }
