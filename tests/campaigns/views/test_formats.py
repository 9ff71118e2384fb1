"""`?format=` of every page: the same rows as JSON, CSV and Markdown, and 400 for any other."""

import io
import json
import re

import pandas
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import URLPattern, get_resolver, reverse

from campaigns.models import (
    Campaign,
    ImportedCampaign,
    ImportedRound,
    Problem,
    Submission,
    Webhook,
)
from campaigns.repositories.models import Repository, RepositoryRound
from campaigns.urls import FIGURES
from knowledge.models import (
    Batch,
    Disagreement,
    Document,
    Experience,
    Gap,
    Lesson,
    Platform,
    Spec,
    Strategy,
    TrackRecord,
)
from tests.campaigns.repositories.projects import ROWS_HARNESS
from tests.campaigns.sample import HOSTILE

FILES = ("json", "csv", "md")
KINDS = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}
# Pages that list and show nothing of their own, each with the reason.
HTML_ONLY = {
    "login": "a form",
    "home": "an inbox over lists that have files",
    "figures": "drawings, each with its .csv",
    **{f"{of}_figure": "a drawing; its .csv is beside it" for of in FIGURES},
    "me": "a person's own page; the API has the tokens, and feeds have the news",
    "notification": "leads to what it is about",
    "tokens": "one's own keys, which no file should hold",
    "new_campaign": "a form",
    "new_problem": "a form",
    "import_problem": "a form",
    "hand_in": "a form",
    "new_repository": "a form",
    "repository_change": "a form",
    "knowledge:propose": "a form",
    "experience:lesson_new": "a form",
    "experience:lesson_edit": "a form",
    "round_diff": "a drawing of two sources, which the candidates' records have",
    "round_source": "a drawing of one source; ?raw=1 is the file",
    "round_result": "a part of the round's page",
    "campaign_tab": "a part of the campaign's page, whose record has it",
    "round_tab": "a part of the round's page, whose record has it",
    "decide_round": "a form",
    "decide_result": "a form",
    "review_count": "a number beside a link",
    "review_next": "leads to the next one of the queue, which has files",
    "jobs": "a live view of the evaluations that the API lists",
    "palette": "a list of links",
    "shortcuts": "a list of keys",
    "sweep_panel": "a part of the round's page",
    "share": "a list of addresses, each of which is a file",
    "imported_file": "a drawing of one file; the .zip has it",
}
# These are documents themselves: the text as it was stored, which their own importer reads.
EXPORTS = ("experience:home", "knowledge:document")
# Their own door has their formats, or they are files themselves.
ELSEWHERE = ("admin/", "api/")
FILE_NAMES = (
    ".zip",
    ".svg",
    ".atom",
    ".json",
    ".csv",
    ".md",
    ".html",
    ".bundle",
    ".patch",
    "healthz",
)
# The sample has none: tests/campaigns/views/test_sweep.py.
NOT_HERE = ("sweep", "series_entry", "confirm_mail")
# They take POST alone; Django answers 405.
POSTED = 405


def routes(patterns=None, before="", space=""):
    """Each address that has a name: (name, its route)."""
    for one in patterns or get_resolver().url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLPattern):
            if one.name:
                yield f"{space}{one.name}", route
        else:
            inner = f"{one.namespace}:" if one.namespace else ""
            yield from routes(one.url_patterns, route, space + inner)


def pages():
    for name, route in routes():
        is_file = route.endswith(FILE_NAMES) or name.endswith("_figure_file")
        if not route.startswith(ELSEWHERE) and not is_file:
            yield name, route


@pytest.fixture
def keys(sample, running):
    return keys_of(sample, running)


def keys_of(sample, running):
    """Something of every kind: what a route calls it → its key."""
    entry = Experience.objects.first()
    lesson = Lesson.objects.create(takeaway=HOSTILE, signal="=1+1", source="person")
    claims = ImportedCampaign.objects.create(digest="d", system="kopt", name="theirs")
    ImportedRound.objects.create(campaign=claims, ordinal=1, name="v1", path="v1.md", line=1)
    code = Repository.objects.create(
        title="rows", source="here", harness=ROWS_HARNESS, branch="kopt", platform=sample.platform
    )
    RepositoryRound.objects.create(
        repository=code, number=1, title="Baseline", state="queued", kind="person"
    )
    handed = Submission.objects.create(
        campaign=running,
        against=running.incumbent,
        kind="person",
        name="alice",
        text="int main;",
        hypothesis=running.rounds.get(number=2).hypothesis | {"title": HOSTILE},
    )
    return {
        "campaign_id": sample.pk,
        "number": 2,
        "first": 1,
        "second": 2,
        "submission": reverse("submission", args=[running.pk, handed.pk]).lstrip("/"),
        "problem_id": Problem.objects.get().pk,
        "p/name": "softmax",
        "webhooks/key": Webhook.objects.create(url="x", site="y", kinds=[], nonce="n").pk,
        "imported/key": claims.pk,
        "ordinal": 1,
        "repositories/key": code.pk,
        "repositories/number": 1,
        "w/slug": Platform.objects.get(slug="h200-sxm").slug,
        "w/s/pk": Spec.objects.first().pk,
        "docs/path": Document.objects.first().path,
        "e/key": entry.uuid,
        "t/pk": TrackRecord.objects.first().pk,
        "lessons/key": lesson.uuid,
        "strategies/slug": Strategy.objects.first().slug,
        "gaps": Gap.objects.create(question="Why?").pk,
        "disagreements/pk": Disagreement.objects.create(first=entry, lesson=lesson).pk,
        "w/imports/number": Batch.objects.create(kind="wiki", origin="x").pk,
        "x/imports/number": Batch.objects.create(kind="experience", origin="x").pk,
    }


def filled(name, route, keys):
    """The address of a route with the key that fits its place best."""
    route = keys.get(name, route)
    while "<" in route:
        start, end = route.index("<"), route.index(">")
        part = route[start + 1 : end].rpartition(":")[2]
        places = [k for k in keys if k.rpartition("/")[2] == part]
        above = f"/{route[:start]}"
        fits = [k for k in places if "/" not in k or f"/{k.rpartition('/')[0]}/" in above]
        # Without a key it has to be one that takes POST alone, and looks for nothing.
        key = keys[max(fits, key=len)] if fits else 1
        route = f"{route[:start]}{key}{route[end + 1 :]}"
    return f"/{route}"


def test_every_page_answers_in_every_format_or_says_why_not(page, engineer, keys):
    User.objects.filter(pk=engineer.pk).update(is_superuser=True)
    asked = {"w/compare/": {"p": ["h200-sxm", "h100-sxm5-80gb"]}, "search/": {"q": "softmax"}}
    asked |= {"c/<int:campaign_id>/compare": {"r": [1, 2]}}
    asked |= {"c/compare": {"c": list(Campaign.objects.values_list("pk", flat=True))}}
    seen = set()
    for name, route in pages():
        if name in NOT_HERE:
            continue
        address = filled(name, route, keys)
        if page.head(address).status_code == POSTED:
            continue
        for file in FILES:
            answer = page.get(address, {**asked.get(route, {}), "format": file})
            kind = answer.headers["Content-Type"]
            if name in HTML_ONLY:
                assert answer.status_code != 200 or not kind.startswith("text/html"), name
                seen.add(name)
                continue
            assert answer.status_code == 200, (name, address, answer.content[:300])
            assert kind.startswith(KINDS[file]), (name, address, kind)
            text = answer.content.decode()
            read(file, text)
            assert file != "md" or name in EXPORTS or HOSTILE not in text, (name, address)
    assert seen == set(HTML_ONLY)


def read(file, text):
    if file == "json":
        assert isinstance(json.loads(text), dict)
    elif file == "csv":
        pandas.read_csv(io.StringIO(text))
    else:
        assert text.startswith("#") or "\n# " in text or text


def test_an_unknown_format_names_what_is_accepted(page, sample):
    for address in ("/c/", f"/c/{sample.pk}/", "/w/specs/", "/search/", "/tokens/"):
        answer = page.get(address, {"format": "xml\0"})
        assert answer.status_code == 400
        assert "accepted: html, json, csv, md" in answer.content.decode()
    assert page.get("/c/", {"format": "html"}).headers["Content-Type"].startswith("text/html")
    said = page.get("/tokens/", {"format": "json"})
    assert (said.status_code, said.json()["field"]) == (400, "format")


@pytest.mark.parametrize(
    ("address", "api"),
    [
        ("/c/{campaign}/", "/api/v1/campaigns/{campaign}/"),
        ("/c/{campaign}/r/5/", "/api/v1/rounds/{round}/"),
        ("/w/s/{spec}/", "/api/v1/specs/{spec}/"),
        ("/workers/", "/api/v1/workers/"),
        ("/c/", "/api/v1/campaigns/"),
        ("/w/specs/?q=h200", "/api/v1/specs/?q=h200&page_size=500"),
        ("/x/gaps/", "/api/v1/gaps/"),
    ],
)
def test_json_is_the_record_of_the_api(page, sample, keys, address, api):
    known = {
        "campaign": sample.pk,
        "round": sample.rounds.get(number=5).pk,
        "spec": keys["w/s/pk"],
    }
    asked, _, query = address.format(**known).partition("?")
    shown = page.get(f"{asked}?{query}&format=json").json()
    told = page.get(api.format(**known)).json()
    if "results" in told:
        assert sorted(map(str, shown["results"])) == sorted(map(str, told["results"]))
    else:
        assert shown == told


def test_all_files_have_the_rows_of_the_filter_in_its_order(page, sample):
    address = reverse("rounds", args=[sample.pk])
    asked = {"verdict": "accepted", "sort": "gain"}
    records = page.get(address, {**asked, "format": "json"}).json()["results"]
    table = pandas.read_csv(
        io.BytesIO(page.get(address, {**asked, "format": "csv"}).content),
        float_precision="round_trip",
    )
    text = page.get(address, {**asked, "format": "md"}).content.decode()
    assert [row["number"] for row in records] == list(table["round"])
    assert [row["gain"]["gain"] for row in records if row["number"] > 1] == [
        gain for gain in table.gain if gain == gain
    ]
    assert str(table.gain.dtype) == "float64"
    lines = text.splitlines()[4:]
    assert len(lines) == len(records)
    for line, row in zip(lines, records, strict=True):
        assert f"/r/{row['number']}/)" in line
        assert row["gain"] is None or str(row["gain"]["gain"]) in line


def table(page, address, **asked):
    answer = page.get(address, {**asked, "format": "csv"})
    return pandas.read_csv(io.BytesIO(answer.content), float_precision="round_trip")


def said(capsys, *words):
    call_command(*map(str, words), "--json")
    return json.loads(capsys.readouterr().out)


def test_page_files_and_command_line_list_the_same_values(page, sample, capsys):
    """UX check 20: the same rows in the same order, and every digit."""
    words, there = "bandwidth h200", reverse("knowledge:specs")
    asked = {"q": words, "state": "approved"}
    records = page.get(there, {**asked, "format": "json"}).json()["results"]
    found, body = table(page, there, **asked), page.get(there, asked).content.decode()
    shown = [(row["id"], row["value"]) for row in records]
    assert re.findall(r'<tr id="spec-(\d+)">', body) == [str(key) for key, _ in shown]
    listed = said(capsys, "spec", "list", "--search", words, "--state", "approved")
    for rows in (listed, found.to_dict("records")):
        assert [(row["id"], row["value"]) for row in rows] == shown
    assert pandas.api.types.is_numeric_dtype(found["value"])


def test_page_files_and_command_line_tell_one_gain_of_two_rounds(page, sample, capsys):
    """UX check 20."""
    there = reverse("compare", args=[sample.pk, 3, 6])
    names = ("delta", "ci-low", "ci-high", "n", "baseline")
    mark = " ".join(f'data-{name}="([^"]+)"' for name in names)
    *shown, pairs, baseline = re.search(mark, page.get(there).content.decode()).groups()
    data = page.get(there, {"format": "json"}).json()["gains"][0]
    told = said(capsys, "round", "compare", sample.pk, 3, 6)["gain"]
    rows = table(page, there)
    whole = rows[rows["case"] == "all cases"].iloc[0]
    for name, number in zip(("gain", "low", "high"), map(float, shown), strict=True):
        assert told[name] == data[name] == whole[name] == number
    assert told["pairs"] == data["pairs"] == int(pairs)
    assert baseline == "round 3"
    assert "× faster" in page.get(there, {"format": "md"}).content.decode()


def test_a_page_links_to_its_files_with_its_filter(page, sample):
    shown = page.get(reverse("rounds", args=[sample.pk]), {"verdict": "accepted"}).content.decode()
    assert '<a href="?verdict=accepted&amp;format=csv">CSV</a>' in shown
    assert 'id="files"' not in page.get("/tokens/").content.decode()


def test_a_filter_that_nothing_can_have_is_refused_in_the_files_own_words(page, sample):
    for address, field in (
        ("/w/specs/?state=x", "state"),
        ("/x/lessons/?state=x", "state"),
        ("/x/strategies/?vendor=x", "vendor"),
        ("/search/?n=7", "n"),
    ):
        said = page.get(f"{address}&format=json")
        assert (said.status_code, said.json()["field"]) == (400, field)
        assert page.get(f"{address}&format=csv").content.startswith(f"{field}: ".encode())


def test_a_viewer_reads_them_and_nobody_else_does(viewer, client, sample):
    assert viewer.get("/c/?format=json").status_code == 200
    assert client.get("/c/?format=json").status_code == 302
