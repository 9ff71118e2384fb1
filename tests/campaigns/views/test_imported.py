"""Imported trails on their pages: claims with places, labelled as claims, escaped."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from campaigns.models import ImportedCampaign
from campaigns.steps.lifecycle.import_trail import import_trail, plan_import
from campaigns.trails.exporters.archive import packed
from campaigns.trails.importers.trail import TrailFiles, read_path, read_zip
from tests.campaigns.sample import HOSTILE

TRAILS = Path(__file__).parents[1] / "trails" / "importers" / "trails"
pytestmark = pytest.mark.django_db


def archive(name="optimize"):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for path, text in read_path(TRAILS / name).files.items():
            out.writestr(f"{name}/{path}", text)
    return SimpleUploadedFile(f"{name}.zip", made.getvalue(), "application/zip")


@pytest.fixture
def brought():
    return import_trail(plan_import(read_path(TRAILS / "optimize")))[0]


def test_it_imports_what_is_uploaded(page):
    answer = page.post("/c/imported/", {"trail": archive(), "import": "1"}, follow=True)
    row = ImportedCampaign.objects.get()
    assert answer.redirect_chain == [(row.get_absolute_url(), 302)]
    body = answer.content.decode()
    assert "is imported" in body
    assert "Claimed by kernel-optimize" in body
    assert "Nothing of this was measured or judged here" in body
    assert row.imported_by.get_username() == "alice"
    again = page.post("/c/imported/", {"trail": archive(), "import": "1"}, follow=True)
    assert "was there already, with the same content" in again.content.decode()
    assert ImportedCampaign.objects.count() == 1


def test_a_plan_stores_nothing(page):
    body = page.post("/c/imported/", {"trail": archive(), "plan": "1"}).content.decode()
    assert "a trail of kernel-optimize" in body
    assert "nothing is stored yet" in body
    assert not ImportedCampaign.objects.exists()


def test_a_plan_shows_what_experiences_claim_and_their_times_make_no_trend(page):
    path = TRAILS / "experiences"
    data = packed("run", {"experiences.json": (path / "experiences.json").read_text()})
    sent = {"trail": SimpleUploadedFile("a.zip", data), "plan": "1"}
    body = page.post("/c/imported/", sent).content.decode()
    assert "experiences: 2 (1 failure, 1 success)" in body
    assert "largest claimed gain: 7.7×" in body
    row, _ = import_trail(plan_import(read_path(path)))
    shown = page.get(row.get_absolute_url()).content.decode()
    assert "Trend of what is claimed" not in shown
    assert "0.4516 ms" in shown


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "trail: no .zip; accepted"),
        (
            {"trail": SimpleUploadedFile("a.json", b"{}")},
            "a.json: not recognised; accepted: a folder",
        ),
        ({"trail": SimpleUploadedFile("a.zip", b"x")}, "not a readable .zip"),
        ({"trail": SimpleUploadedFile("a.zip", b"x"), "source": "me"}, "source: &#x27;me&#x27;"),
    ],
)
def test_what_is_wrong_is_said_on_the_page(page, sent, said):
    answer = page.post("/c/imported/", sent)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_who_may_not_create_campaigns_may_only_read(viewer, brought):
    assert viewer.post("/c/imported/", {"trail": archive()}).status_code == 403
    body = viewer.get("/c/imported/").content.decode()
    assert brought.heading in body
    assert 'type="file"' not in body


def test_every_round_shows_its_claim_and_where_it_stands(page, brought):
    body = page.get(brought.get_absolute_url()).content.decode()
    for one in brought.rounds.all():
        place = reverse("imported_file", args=[brought.pk, one.path])
        assert f'href="{place}#L{one.line}">{one.path}:L{one.line}</a>' in body
    assert "310.077 TFLOPS" in body
    assert "amends logs/performance_trend.md:L6" in body
    assert "A tile of 256 columns halves the barriers" in body
    # Of six rounds one has no figure, and one a 0 that stands for a failed check.
    assert body.count('<circle class="claimed') == 4
    assert "performance_target" in body


def test_the_trend_of_its_claims_has_a_page_and_files(page, brought):
    there = f"{brought.get_absolute_url()}figures/claimed"
    assert f'href="{there}.svg"' in page.get(brought.get_absolute_url()).content.decode()
    assert "<figcaption" in page.get(f"{there}/").content.decode()
    assert "</svg>" in page.get(f"{there}.svg").content.decode()
    assert page.get(f"{there}.csv").content.decode().startswith("Attempt,Number,")


def test_a_round_has_all_of_its_claims(page, brought):
    one = brought.rounds.get(ordinal=2)
    body = page.get(reverse("imported_round", args=[brought.pk, 2])).content.decode()
    assert f"{len(one.claims)} claims" in body
    assert body.count("#L") >= len(one.claims)


def test_a_file_has_its_lines(page, brought):
    url = reverse("imported_file", args=[brought.pk, "logs/performance_trend.md"])
    body = page.get(url).content.decode()
    assert '<tr id="L6">' in body
    assert "fewer barriers" in body
    other = reverse("imported_file", args=[brought.pk, "nothing.md"])
    assert page.get(other).status_code == 404


def test_its_files_come_back_as_they_were(page, brought):
    answer = page.get(reverse("imported_archive", args=[brought.pk]))
    assert read_zip("a.zip", answer.content).digest == brought.digest


def test_what_others_wrote_stays_text(page):
    texts = {n: t.replace("Wider tile", HOSTILE) for n, t in
             read_path(TRAILS / "optimize").files.items()}  # fmt: skip
    row, _ = import_trail(plan_import(TrailFiles(HOSTILE, texts)))
    urls = [row.get_absolute_url(), reverse("imported_round", args=[row.pk, 2]), "/c/imported/"]
    for url in [*urls, reverse("imported_file", args=[row.pk, "logs/performance_trend.md"])]:
        body = page.get(url).content.decode()
        assert "<script>document" not in body
        assert "<img" not in body


def test_queries_do_not_grow_with_rows(page, brought, django_assert_max_num_queries):
    for name in ("atrex", "skill", "kernel_opt"):
        import_trail(plan_import(read_path(TRAILS / name)))
    with django_assert_max_num_queries(6):
        page.get("/c/imported/")
    with django_assert_max_num_queries(8):
        page.get(brought.get_absolute_url())
