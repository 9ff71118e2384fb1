"""Handing in a candidate: the form, its place in the queue, and its round until the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.submissions import SubmissionSerializer
from campaigns.models import Campaign, Evaluation, Submission, Submitter
from campaigns.proposers.base import MetricDirection
from campaigns.proposers.evidence import is_counter
from campaigns.proposers.handed_in import (
    BUCKETS,
    LARGEST_SOURCE,
    NEEDED,
    HandedIn,
    SubmissionRefused,
)
from campaigns.proposers.situation import facts_about
from campaigns.records.campaigns import target_of
from campaigns.records.device_waits import no_worker_of
from campaigns.records.submissions import awaited_repair, closed_to
from campaigns.reports.diff import diff
from campaigns.reports.proposers import submission_sheet
from campaigns.reports.rows import some_rows
from campaigns.rules.search_log import SearchSource
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.rules.verdict.expectation import DOWN
from campaigns.steps.notify import AGAIN, notify
from campaigns.steps.rounds.submit import measure_again, mend, submit
from campaigns.views.controls import warn_of_no_worker
from campaigns.views.lookup import campaign_at, may_change, round_at, wants_fragment
from campaigns.views.round import round_page
from knowledge.curation.errors import Forbidden
from knowledge.models import Strategy
from knowledge.views.formats import record_file

METRIC = "time per call"
EDITOR = {"rows": "24", "class": "editor mono", "spellcheck": "false", "wrap": "off"}


def _text(label: str, help_text: str = "", rows: int = 0, **attrs: str) -> forms.CharField:
    """A text that the step judges, so that page, command and API refuse the same."""
    widget = forms.Textarea({"rows": rows, **attrs}) if rows else forms.TextInput(attrs)
    return forms.CharField(
        label=label, help_text=help_text, widget=widget, required=False, strip=False
    )


class CandidateForm(forms.Form):
    """The fields of `HandedIn`, and a file instead of the text."""

    source = _text("Source", "starts as a copy of the incumbent's source")
    upload = forms.FileField(
        label="Or a file", required=False, help_text="its text takes the place of the source above"
    )
    flags = _text("Compiler flags", "such as -O3 -march=native; starts as those of the incumbent")
    title = _text("Title", "the idea in a few words")
    change = _text("Change", "what the source does differently", rows=2)
    rationale = _text("Why it should help", rows=3)
    evidence = forms.MultipleChoiceField(
        label="Evidence about the incumbent that it rests on",
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    counter = forms.ChoiceField(
        label="Or a counter of its profile", required=False, help_text="optional"
    )
    metric = _text("Expected metric", "what should move", list="metrics")
    direction = forms.ChoiceField(
        label="Expected direction", choices=[(way, way) for way in MetricDirection], required=False
    )
    amount = _text("Expected amount", "as a share, such as 8%")
    risks = _text("Risks", "optional; what may go wrong", rows=2)
    bucket = forms.ChoiceField(
        label="Bucket",
        choices=[(bucket, f"{bucket}: {bucket.words}") for bucket in BUCKETS],
        required=False,
    )
    strategy = _text("Strategy", "optional; its name in the catalogue", list="strategies")
    searched = _text(
        "Search log",
        f"optional; one step a line: source | query | found. Sources: {', '.join(SearchSource)}",
        rows=3,
    )

    needed = frozenset(NEEDED)  # the step refuses what lacks one; the page marks them

    def __init__(self, *arguments: Any, facts: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.auto_id = "hand-%s"
        self.fields["source"].widget = forms.Textarea(EDITOR)
        for name in self.needed.difference(("evidence",)):  # of which one box is enough
            self.fields[name].widget.attrs["required"] = True
        evidence = self.fields["evidence"]
        assert isinstance(evidence, forms.MultipleChoiceField)
        counters = [(name, words) for name, words in facts.items() if is_counter(name)]
        evidence.choices = [(name, words) for name, words in facts.items() if not is_counter(name)]
        if counters:
            self.fields["counter"].choices = [("", "none"), *counters]  # type: ignore[attr-defined]
        else:
            del self.fields["counter"]


@may_change
@require_http_methods(["GET", "HEAD", "POST"])
def hand_in(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """GET shows the form with the incumbent's source; POST hands it in, or keeps what was typed."""
    found = campaign_at(campaign_id)
    facts = facts_about(found)
    if request.method == "POST":
        form, candidate = _read(request, facts)
        made = _submit(request, found, form, candidate)
        if made is not None:
            messages.success(request, "Your candidate is handed in.")
            warn_of_no_worker(request, found)
            return redirect(made)
    else:
        best = found.incumbent
        code = {"source": best.text, "flags": " ".join(best.flags)} if best else {}
        usual = {"metric": METRIC, "direction": DOWN, "bucket": BUCKETS[0]}
        form = CandidateForm(initial=code | usual, facts=facts)
    closed = "" if request.method == "POST" else closed_to(found, ProposerKind.PERSON)
    context = {
        "campaign": found,
        "form": form,
        "closed": closed,
        "no_worker": no_worker_of(found) if closed else "",
        "incumbent": found.incumbent,
        "strategies": Strategy.objects.filter(backend__in=("", found.backend)),
        "metrics": (METRIC,),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "campaigns/submit/hand_in.html", context, status=status)


def _read(request: HttpRequest, facts: Mapping[str, str]) -> tuple[CandidateForm, HandedIn | None]:
    """The form as it was sent, with the text of an upload as its source; None where it has none."""
    sent, upload = request.POST.copy(), request.FILES.get("upload")
    wrong = ""
    if upload is not None:
        try:
            # One byte more than is accepted, so that a longer file is refused and not read whole.
            sent["source"] = upload.read(LARGEST_SOURCE + 1).decode()
        except UnicodeDecodeError as error:
            wrong = f"{upload.name}: {error.reason}; accepted: text in UTF-8"
    form = CandidateForm(sent, facts=facts)
    form.full_clean()
    if wrong:
        form.add_error("upload", wrong)
        return form, None
    names = ("title", "change", "rationale", "metric", "direction", "amount", "risks", "strategy")
    return form, HandedIn(
        source=sent.get("source", ""),
        bucket=sent.get("bucket", ""),
        evidence=(*sent.getlist("evidence"), *filter(None, (sent.get("counter"),))),
        flags=sent.get("flags"),
        searched=tuple(sent.get("searched", "").splitlines()),
        file_name=upload.name or "" if upload is not None else "",
        **{name: sent.get(name, "") for name in names},
    )


def _submit(
    request: HttpRequest, found: Campaign, form: CandidateForm, candidate: HandedIn | None
) -> Submission | None:
    """The row; None where it was refused, which the form then says at the field."""
    if candidate is None:
        return None
    try:
        name = request.user.get_username()
        made = submit(found, candidate, Submitter.PERSON, name, request.user)
    except Forbidden as error:
        raise PermissionDenied(str(error)) from error
    except SubmissionRefused as error:
        for field, message in error.all:
            if field not in form.fields:
                form.add_error(None, f"This campaign {message}")
            elif field not in form.errors:
                form.add_error(field, message)
        return None
    notify(found, AGAIN)
    return made


@may_change
@require_POST
def repair(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """Take a repair of the round's wrong candidate; what is refused is shown as it was typed."""
    found = round_at(campaign_at(campaign_id), number)
    source, flags = request.POST.get("source", ""), request.POST.get("flags", "")
    given = None if "none" in request.POST else HandedIn(source=source, flags=flags)
    try:
        mend(found.campaign, given, Submitter.PERSON, request.user.get_username(), request.user)
    except SubmissionRefused as error:
        return round_page(request, found, {"source": source, "flags": flags, "error": str(error)})
    notify(found.campaign, AGAIN)
    done = "It is judged as it failed." if given is None else "Your repair is handed in."
    messages.success(request, done)
    return redirect("round", campaign_id, number)


@may_change
@require_POST
def again(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """Have a closed round's candidate measured once more; its place in the queue, or why not."""
    found = campaign_at(campaign_id)
    who = (Submitter.PERSON, request.user.get_username(), request.user)
    try:
        made = measure_again(found, number, *who)
    except SubmissionRefused as error:
        messages.error(request, str(error))
        return redirect("round", campaign_id, number)
    notify(found, AGAIN)
    return redirect(made)


@require_safe
@vary_on_headers("HX-Request")
def submission(request: HttpRequest, campaign_id: int, key: int) -> HttpResponse:
    """The page while it waits, else a redirect to its round; for htmx the place in the queue."""
    campaign = campaign_at(campaign_id)
    found = get_object_or_404(
        campaign.submissions.select_related("against__round", "campaign"), pk=key
    )
    if file := record_file(request, f"submission-{key}", found, SubmissionSerializer):
        return file
    sheet, live = submission_sheet(found), wants_fragment(request)
    if sheet.round is not None:
        if not live:
            return redirect("round", campaign_id, sheet.round.number)
        target = reverse("round", args=[campaign_id, sheet.round.number])
        return HttpResponse(headers={"HX-Redirect": target})
    context = {"campaign": campaign, "sheet": sheet, "submission": found}
    if live:
        return render(request, "campaigns/submit/place.html", context)
    context["diff"] = diff(found.against.text, found.text, found.file_name, context=3, space=True)
    return render(request, "campaigns/submit/submission.html", context)


@require_safe
def round_result(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """For htmx alone; the whole page for whoever opens it."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    if not wants_fragment(request):
        return redirect("round", campaign_id, number)
    if hasattr(found, "verdict"):
        return HttpResponse(headers={"HX-Refresh": "true"})
    newest = Evaluation.objects.filter(candidate__round=found).order_by("-pk")
    context = {
        "campaign": campaign,
        "round": found,
        "row": some_rows(campaign, [number], target_of(campaign))[number],
        "no_worker": no_worker_of(campaign),
        "awaited": awaited_repair(campaign),
        "measured": newest.select_related("candidate", "worker").first(),
    }
    return render(request, "campaigns/submit/round_result.html", context)
