"""The report, as a page and as one file."""

import io
import re
import zipfile

from django.urls import reverse

from tests.campaigns.sample import HOSTILE
from tests.campaigns.views.conftest import whole_round

LINK = re.compile(r'(?:src|href|action)="([^"]*)"')


def test_it_tells_every_round_with_gates_and_diff(page, sample):
    body = page.get(reverse("report", args=[sample.pk])).content.decode()
    for number in range(1, 11):
        assert f'id="round-{number}"' in body
    assert "From v0 to the incumbent" in body
    assert HOSTILE not in body


def test_r21_it_takes_the_gain_apart_into_what_reaches_real_use(page, sample):
    for name in ("report", "report_file"):
        body = page.get(reverse(name, args=[sample.pk])).content.decode()
        told = re.search(r'<p data-audit="">(.*?)</p>', body)[1]
        assert (
            "The product of the rounds&#x27; gains over v0 is 3.35×, the final gain 3.35× faster"
            in told
        )
        for part in ("S_real", "W_real", "R_real"):
            assert f"({part})</th>" in body


def test_r21_while_nothing_is_measured_against_v0_no_product_is_told(page, running):
    body = page.get(reverse("report", args=[running.pk])).content.decode()
    assert "There is no final gain yet to compare" in body
    assert "S_real" not in body


def test_it_is_one_file_that_asks_for_nothing(page, sample):
    answer = page.get(reverse("report_file", args=[sample.pk]))
    body = answer.content.decode()
    assert answer.headers["Content-Disposition"].endswith('.html"')
    assert "<script" not in body
    assert "<link" not in body
    assert "<img" not in body
    assert "@import" not in body
    assert set(re.findall(r"url\((.)", body)) <= {"#"}
    assert HOSTILE not in body
    for tag in ("src", "action"):
        assert not re.search(rf'<[^>]*\s{tag}=["\']', body)


def test_it_links_inside_the_file_to_places_that_exist(page, sample):
    body = page.get(reverse("report_file", args=[sample.pk])).content.decode()
    found = set(LINK.findall(body))
    assert {link for link in found if not link.startswith("#")} == set()
    wanted = {link[1:] for link in found}
    assert "round-10" in wanted
    assert wanted <= set(re.findall(r'id="([^"]+)"', body))


def test_every_row_of_numbers_in_the_file_links_or_can_be_linked_to(page, sample):
    body = page.get(reverse("report_file", args=[sample.pk])).content.decode()
    rows = re.findall(r"<tr[ >].*?</tr>", body, re.S)
    numbers = [row for row in rows if re.search(r'<td[^>]*class="num', row)]
    assert len(numbers) > 20
    assert [row for row in numbers if "<a " not in row and ' id="' not in row] == []


def test_it_reports_a_campaign_that_still_runs(page, running):
    body = page.get(reverse("report", args=[running.pk])).content.decode()
    assert "The campaign is still running" in body


def test_the_trail_is_one_archive_named_after_the_campaign(page, sample):
    answer = page.get(reverse("trail", args=[sample.pk]))
    assert answer.headers["Content-Type"] == "application/zip"
    name = f"softmax_cuda_h200-sxm_{sample.created_at:%Y%m%d}"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert f"{name}/rounds/round-10/summary.md" in packed.namelist()
    body = page.get(reverse("report", args=[sample.pk])).content.decode()
    assert reverse("trail", args=[sample.pk]) in body


def test_a_round_comes_as_a_folder_that_runs_elsewhere(page, sample):
    answer = page.get(reverse("reproducer", args=[sample.pk, 6]))
    assert answer.headers["Content-Disposition"].endswith('_round-6.zip"')
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        names = {name.partition("/")[2] for name in packed.namelist()}
    assert {"quick_test_bench.py", "bench.json", "README.md", "problem/ref.py"} <= names
    kernels = {name for name in names if "kernel_snapshot" in name}
    assert kernels == {f"rounds/round-{n}/kernel_snapshot/kernel.cu" for n in (3, 6)}
    assert page.get(reverse("reproducer", args=[sample.pk, 11])).status_code == 404
    body = whole_round(page, sample, 6)
    assert reverse("reproducer", args=[sample.pk, 6]) in body
