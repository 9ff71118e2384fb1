"""The sheet of one platform, as a page, as JSON and as CSV."""

import csv
import io
import json
from html import unescape

import pytest

from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Platform, Spec, SpecChange
from tests.knowledge.conftest import BANDWIDTH, SOURCE, TDP

X1 = "/w/p/x-1/"
LATER = "2999-01-01"


def page_of(viewer, path=X1, **asked):
    return unescape(viewer.get(path, asked).content.decode())


def test_it_shows_every_value_with_its_citation(viewer, shipped):
    page = page_of(viewer, "/w/p/h200-sxm/")
    short = Spec.objects.filter(platform__slug="h200-sxm")[0].citation.revision.short
    assert f'href="/w/docs/docs/hardware/h200-sxm.md?rev={short}#L23"' in page
    assert "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23" in page
    shown = Spec.objects.approved().filter(platform__slug="h200-sxm").count()
    assert page.count('class="citation"') == shown > 30


def test_the_quote_needs_neither_a_mouse_nor_a_script(viewer, wiki):
    page = page_of(viewer)
    assert f'title="{BANDWIDTH}"' in page
    assert f'<pre class="quote">{BANDWIDTH}</pre>' in page


def test_it_shows_unknown_values_and_how_to_obtain_them(viewer, wiki):
    page = page_of(viewer)
    assert "how to obtain: ask them" in page
    assert "how to obtain: add a sourced line for sm_count" in page


def test_it_leaves_retired_values_out(viewer, wiki):
    Spec.objects.filter(metric="tdp").update(state="retired")
    assert ">700<" not in page_of(viewer)


def test_it_marks_proposals_as_in_no_use(viewer, wiki):
    Spec.objects.filter(metric="tdp").update(state="proposed")
    values, waiting = page_of(viewer).split('id="waiting"')
    assert ">700<" not in values
    assert ">700<" in waiting
    assert "proposed, not in use" in waiting


def test_it_puts_the_preferred_value_before_its_rivals(viewer, shipped):
    page = page_of(viewer, "/w/p/h100-sxm5-80gb/")
    places = [page.index(f">{shown}</td>") for shown in ("66.9", "67", "60")]
    assert places == sorted(places)
    assert '<span class="muted">also:</span>' in page


def test_a_flag_stands_on_its_row(viewer, wiki, page_text):
    text = page_text(BANDWIDTH, TDP.replace("700", "750"))
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    page = page_of(viewer)
    row = page[page.index(f'id="spec-{Spec.objects.get(shown="700 W").pk}"') :].split("</tr>")[0]
    assert 'data-cite-state="changed"' in row
    assert "flag: changed" in row


def test_it_keeps_what_a_roofline_needs_and_one_class_of_evidence(viewer, wiki):
    assert ">700<" not in page_of(viewer, need="roofline")
    assert "No value of this platform passes the filter" in page_of(viewer, evidence="measured")


def test_it_shows_a_day_that_has_passed_and_says_so(viewer, wiki, page_text):
    day = f"{SpecChange.objects.first().at:%Y-%m-%d}"
    page = page_of(viewer, asof=day)
    assert f"As approved at the end of {day} (UTC)" in page
    assert ">4.8<" in page
    empty = page_of(viewer, asof="2020-02-29")
    assert "Nothing of this platform was approved" in empty
    assert ">4.8<" not in empty


@pytest.mark.parametrize(
    "asked",
    [
        {"asof": "yesterday"},
        {"asof": "2026-13-01"},
        {"asof": "2026-02-30"},
        {"asof": "20260101"},
        {"asof": LATER},
        {"asof": "\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661"},
        {"evidence": "hearsay"},
        {"need": "luck"},
    ],
)
def test_it_says_what_it_accepts(viewer, wiki, asked):
    ((name, typed),) = asked.items()
    answer = viewer.get(X1, asked)
    page = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert f'id="e-{name}"' in page
    assert f"‘{typed}’; accepted:" in page
    assert f'aria-describedby="e-{name}"' in page
    assert "accepted" in viewer.get("/w/p/x-1.json", asked).json()["errors"][name]
    assert viewer.get("/w/p/x-1.csv", asked).status_code == 400


def test_json_and_csv_have_the_rows_of_the_page(viewer, shipped):
    for asked in ({}, {"need": "roofline"}, {"evidence": "documented"}):
        page = viewer.get("/w/p/h100-sxm5-80gb/", asked).context["sheet"]
        data = viewer.get("/w/p/h100-sxm5-80gb.json", asked).json()["rows"]
        table = viewer.get("/w/p/h100-sxm5-80gb.csv", asked)
        lines = list(csv.DictReader(io.StringIO(table.content.decode())))
        shown = [(r.metric, r.spec and r.spec.value) for r in (*page.rows, *page.waiting)]
        assert [(r["metric"], r["value"]) for r in data] == shown
        read = [(r["metric"], float(r["value"]) if r["value"] else None) for r in lines]
        assert read == shown


def test_the_csv_loses_no_digit_and_escapes(viewer, wiki, page_text):
    line = f'- l2_size: 0.1 MiB | {SOURCE} | note=a "quoted", long note'
    take_files({"docs/hardware/x-1.md": page_text(BANDWIDTH, line)}, ImportOptions(vouched=True))
    table = viewer.get("/w/p/x-1.csv").content.decode()
    row = next(r for r in csv.DictReader(io.StringIO(table)) if r["metric"] == "l2_size")
    assert float(row["value"]) == Spec.objects.get(metric="l2_size").value
    assert row["note"] == 'a "quoted", long note'
    assert row["citation_state"] == "ok"


def test_the_json_says_what_is_in_doubt(viewer, wiki, page_text):
    text = page_text(BANDWIDTH, TDP.replace("700", "750"))
    take_files({"docs/hardware/x-1.md": text, "README.md": "# Index\n"}, ImportOptions())
    rows = json.loads(viewer.get("/w/p/x-1.json").content)["rows"]
    row = next(r for r in rows if r["shown"] == "700 W")
    assert (row["citation"]["state"], row["flags"]) == ("changed", ["changed"])


@pytest.mark.parametrize("path", ["/w/p/x-2/", "/w/p/x-2.json", "/w/p/x-2.csv"])
def test_it_does_not_know_other_platforms(viewer, wiki, path):
    assert viewer.get(path).status_code == 404


def test_only_who_may_propose_is_offered_to(viewer, admin_client, wiki):
    assert "Propose a value" not in page_of(viewer)
    assert "Propose a value" in page_of(admin_client)


def test_it_needs_the_same_queries_for_any_number_of_values(
    viewer, shipped, django_assert_num_queries
):
    # session, user, platform, specs, citations, flags, drift, newest texts, two for permissions
    with django_assert_num_queries(10):
        viewer.get("/w/p/h100-sxm5-80gb/", {"evidence": "documented"})


def test_it_asks_each_missing_question_once(viewer, wiki):
    rows = viewer.get(X1).context["sheet"].rows
    asked = [(row.metric, tuple(row.qualifiers.items())) for row in rows if row.spec is None]
    assert ("peak_fp8_tensor_dense", ()) in asked
    assert len(asked) == len(set(asked))


def test_a_gap_leads_to_its_own_question(admin_client, wiki):
    Platform.objects.filter(slug="x-1").update(kind="cpu")
    page = page_of(admin_client)
    assert "&metric=matmul_throughput&qualifiers=dtype%3Dfloat32" in page
    form = admin_client.get("/w/propose/?platform=x-1&qualifiers=dtype%3Dfloat32").content.decode()
    assert 'value="dtype=float32"' in form


@pytest.mark.parametrize("name", ["x-1", "X%201", 'X%20"1"', "x%0A1"])
@pytest.mark.parametrize("ending", ["csv", "json", "md"])
def test_a_file_is_called_by_the_slug_whatever_name_was_asked_for(viewer, wiki, name, ending):
    answer = viewer.get(f"/w/p/{name}.{ending}")
    assert answer.status_code == 200
    if ending == "json":
        assert answer.json()["platform"] == "x-1"
    else:
        assert f'filename="x-1.{ending}"' in answer.headers["Content-Disposition"]
