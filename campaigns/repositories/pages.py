"""The pages of repositories: list, one, its rounds, the two forms, and what was kept as files."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.lineage.git import LineageError
from campaigns.models import EvaluationState, Submitter
from campaigns.records.device_waits import no_worker_told
from campaigns.reports.diff import DiffMark
from campaigns.repositories.api import (
    RepositorySerializer,
    WholeRepositoryRoundSerializer,
    WholeRepositorySerializer,
)
from campaigns.repositories.hand_in import (
    HEAD,
    LARGEST_PATCH,
    LONGEST,
    HandedChange,
    RepositoryRefused,
    add_bundle,
    hand_in_change,
)
from campaigns.repositories.models import Repository, RepositoryRound, result_of
from campaigns.repositories.own_repository import OwnRepository
from campaigns.repositories.rounds import notify_next_round, stop_repository
from campaigns.repositories.sheet import line_of, sheet_of, summaries_of
from campaigns.rules.harness.description import LONGEST_TEXT
from campaigns.rules.stop.ladder import MENDABLE
from campaigns.views.lookup import download, may_change, may_run, wants_fragment
from knowledge.models import Platform
from knowledge.views.formats import list_file, record_file


def repository_at(key: int) -> Repository:
    return get_object_or_404(Repository.objects.select_related("platform", "created_by"), pk=key)


LARGEST_BUNDLE = 64 << 20
CODE = {"rows": 14, "class": "mono", "spellcheck": "false"}
EXAMPLE = """name = "rows"
build = "make"                     # optional
rebuild = ["kernels/*"]            # what needs the build again
test = "python -m pytest tests"    # optional
benchmark = "python tests/bench.py"

[table]
csv = "results.csv"                # "-": what the benchmark prints
metric = "us"
better = "lower"
correct = "err"
accept = "== 0"
classes = ["dtype", "width"]       # its config classes
score = "geomean"                  # or total, or worst

[files]
change = ["kernels/*"]             # what a round may change
"""


class RepositoryForm(forms.Form):
    bundle = forms.FileField(
        label="Repository", help_text="a bundle: git bundle create repository.bundle HEAD"
    )
    revision = forms.CharField(
        label="Revision", required=False, max_length=200, help_text=f"default: {HEAD}"
    )
    platform = forms.ModelChoiceField(
        label="Platform", queryset=Platform.objects.none(), to_field_name="slug"
    )
    harness = forms.CharField(
        label="Harness",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({**CODE, "rows": 20}),
        help_text="how it builds, tests and times itself, as TOML",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.auto_id = "bring-%s"
        platform = self.fields["platform"]
        assert isinstance(platform, forms.ModelChoiceField)
        # Those on which something could ever run: a worker of theirs was seen.
        platform.queryset = Platform.objects.filter(workers__isnull=False).distinct()
        platform.empty_label = None

    def clean_bundle(self) -> Any:
        found = self.cleaned_data["bundle"]
        if found.size > LARGEST_BUNDLE:
            raise forms.ValidationError(f"accepted: at most {LARGEST_BUNDLE >> 20} MiB")
        return found


class ChangeForm(forms.Form):
    title = forms.CharField(label="Title", max_length=LONGEST["title"])
    change = forms.CharField(
        label="Change",
        max_length=LONGEST["change"],
        widget=forms.Textarea({"rows": 2}),
        help_text="the one thing that differs from the incumbent",
    )
    rationale = forms.CharField(
        label="Why it should help",
        max_length=LONGEST["rationale"],
        widget=forms.Textarea({"rows": 3}),
    )
    target = forms.ChoiceField(label="Config class that is to gain", required=False)
    repairs = forms.TypedChoiceField(
        label="Repairs",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="a round that failed, of which this is another try",
    )
    patch = forms.CharField(
        label="Patch",
        max_length=LARGEST_PATCH,
        strip=False,
        widget=forms.Textarea(CODE),
        help_text="what git diff prints against the incumbent",
    )

    def __init__(self, *arguments: Any, row: Repository, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.auto_id = "change-%s"
        rounds = list(row.rounds.all())
        result = result_of(rounds[0]) if rounds else None
        classes = [(one.name, one.name) for one in result.classes] if result else []
        failed = [
            (one.number, f"round {one.number}: {one.title}")
            for one in rounds[1:]
            if one.state == EvaluationState.DONE and one.reason in MENDABLE
        ]
        for name, choices in (("target", classes), ("repairs", failed)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "all" if name == "target" else "none"), *choices]


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def new_repository(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST brings a repository and queues its baseline."""
    if request.method != "POST":
        form = RepositoryForm(initial={"harness": EXAMPLE})
        return render(request, "campaigns/repositories/new.html", {"form": form})
    form = RepositoryForm(request.POST, request.FILES)
    if form.is_valid():
        said = form.cleaned_data
        try:
            row = add_bundle(
                said["bundle"].chunks(),
                said["harness"].replace("\r\n", "\n"),
                said["platform"],
                source=f"upload {said['bundle'].name}",
                revision=said["revision"] or HEAD,
                by=request.user,
            )
            return _gone_on(request, row, row)
        except RepositoryRefused as error:
            fields = {"repository": "bundle", "files.change": "harness"}
            form.add_error(fields.get(error.field, error.field), error.message)
    return render(request, "campaigns/repositories/new.html", {"form": form}, status=422)


@may_change
@require_http_methods(["GET", "HEAD", "POST"])
def new_change(request: HttpRequest, key: int) -> HttpResponse:
    """GET shows the form; POST hands a change in, which is the next round."""
    row, status = repository_at(key), 200
    if request.method == "POST":
        form, status = ChangeForm(request.POST, row=row), 422
        if form.is_valid():
            patch = form.cleaned_data["patch"].replace("\r\n", "\n")
            handed = HandedChange(**form.cleaned_data | {"patch": patch})
            name = request.user.get_username()
            try:
                made = hand_in_change(row, handed, Submitter.PERSON, name, request.user)
                return _gone_on(request, row, made)
            except RepositoryRefused as error:
                form.add_error(error.field if error.field in form.fields else None, error.message)
    else:
        form = ChangeForm(row=row, initial={"repairs": request.GET.get("repairs")})
    context = {"form": form, "repository": row}
    return render(request, "campaigns/repositories/change.html", context, status=status)


def _gone_on(
    request: HttpRequest, row: Repository, made: Repository | RepositoryRound
) -> HttpResponse:
    """Have a worker notified, say where none is alive, and show what was made."""
    notify_next_round(row)
    if warning := no_worker_told(row, "repository"):
        messages.warning(request, warning)
    return redirect(made)


PER_PAGE = 50
COLUMNS = "title platform state gain.gain gain.low gain.high gain.pairs created_at"
FILES = {
    "patch": lambda own, row: own.patch(row.base, row.head),
    "bundle": lambda own, row: own.bundle(row.base, row.branch),
}


@require_safe
def repositories(request: HttpRequest) -> HttpResponse:
    """All of them, the newest first."""
    rows = (
        Repository.objects.select_related("platform")
        .annotate(tried=Count("rounds"))
        .order_by("-pk")
    )
    if file := list_file(request, "repositories", rows, RepositorySerializer, COLUMNS):
        return file
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "summaries": summaries_of(page)}
    return render(request, "campaigns/repositories/list.html", context)


@require_safe
@vary_on_headers("HX-Request")
def repository(request: HttpRequest, key: int) -> HttpResponse:
    """One repository; for htmx its changing part alone."""
    found = repository_at(key)
    if file := record_file(request, f"repository-{key}", found, WholeRepositorySerializer):
        return file
    sheet = sheet_of(found)
    context = {"sheet": sheet, "summary": sheet, "repository": sheet.repository}
    part = "rounds.html" if wants_fragment(request) else "repository.html"
    return render(request, f"campaigns/repositories/{part}", context)


@require_safe
@vary_on_headers("HX-Request")
def repository_round(request: HttpRequest, key: int, number: int) -> HttpResponse:
    """One round; for htmx its result alone."""
    rows = RepositoryRound.objects.select_related("repository__platform", "worker", "repairs")
    row = get_object_or_404(rows, repository=key, number=number)
    name = f"repository-{key}-round-{number}"
    if file := record_file(request, name, row, WholeRepositoryRoundSerializer):
        return file
    context = {
        "line": line_of(row),
        "round": row,
        "repository": row.repository,
        "metric": row.repository.described.metric,
        "can_repair": row.reason in MENDABLE and not row.is_baseline,
    }
    if wants_fragment(request):
        return render(request, "campaigns/repositories/result.html", context)
    context["patch"] = [_patch_line(line) for line in row.patch.splitlines()]
    return render(request, "campaigns/repositories/round.html", context)


def _patch_line(line: str) -> dict[str, str]:
    is_change = not line.startswith(("+++", "---"))
    mark = {"+": DiffMark.ADDED, "-": DiffMark.REMOVED}.get(line[:1]) if is_change else None
    return {"text": line, "mark": str(mark or DiffMark.SAME)}


@require_safe
def kept_file(request: HttpRequest, key: int, kind: str) -> HttpResponse:
    """What was kept, as a patch for `git am` or a bundle for `git fetch`."""
    row = repository_at(key)
    if row.head == row.base:
        raise Http404(f"repository {key}: no round has been kept")
    try:
        data = FILES[kind](OwnRepository(row.pk), row)
    except LineageError as error:
        messages.error(request, str(error))
        return redirect(row)
    return download(data, f"{row.title}.{kind}", "application/octet-stream")


@may_change
@require_POST
def stop(request: HttpRequest, key: int) -> HttpResponse:
    """Try no more of it."""
    row = repository_at(key)
    if stop_repository(row, request.user):
        messages.success(request, "Stopped. What was kept stays on its branch.")
    return redirect(row)


urlpatterns = [
    path("", repositories, name="repositories"),
    path("new", new_repository, name="new_repository"),
    path("<int:key>/", repository, name="repository"),
    path("<int:key>/change", new_change, name="repository_change"),
    path("<int:key>/stop", stop, name="repository_stop"),
    path("<int:key>/r/<int:number>/", repository_round, name="repository_round"),
    *(
        path(f"<int:key>/kept.{kind}", kept_file, {"kind": kind}, name=f"repository_{kind}")
        for kind in FILES
    ),
]
