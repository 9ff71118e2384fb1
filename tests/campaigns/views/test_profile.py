"""What limits a round's kernel, on its page: class, findings, counters, beside another round's."""

from __future__ import annotations

import csv
import io

from django.urls import reverse

from campaigns.models import Evidence
from tests.campaigns.views.conftest import round_address


def tab(page, sample, number, name="profile", **query):
    return page.get(round_address(sample, number, name), query)


def text(page, sample, number, name="profile", **query):
    return tab(page, sample, number, name, **query).content.decode()


def test_r25_it_says_first_what_limits_the_kernel_and_by_which_numbers(page, sample):
    html = text(page, sample, 1)
    assert "Limited by its launch" in html
    assert "Its blocks fill" in html
    assert "softmax_naive" in html
    assert "Round 1 was limited by its launch." in text(page, sample, 2)


def test_r26_each_finding_has_its_numbers_and_what_helps(page, sample):
    html = text(page, sample, 1)
    first, second = html.index('data-finding="small_grid"'), html.index("uncoalesced_loads")
    assert first < second
    assert reverse("experience:strategy", args=["cu.coalesce"]) in html
    assert "64 blocks" in html
    assert "never add them up" in html


def test_r24_every_counter_has_unit_and_meaning_and_can_be_looked_for(page, sample):
    html = text(page, sample, 2, q="sector")
    found = html[html.index('id="every"') :]
    assert 'data-metric="load_sectors"' in found
    assert 'data-metric="sm_pct"' not in found
    assert "No counter has that" in text(page, sample, 2, q="<none>")


def test_it_is_compared_with_any_other_round(page, sample):
    html = text(page, sample, 2)
    assert "+67 points" in html  # sm_pct, 2.62 % to 69.8 %
    assert "points" not in text(page, sample, 2, against="none")
    assert "Round 6" in text(page, sample, 2, against="6")
    for odd in ("0", "99", "x", "-1", "²", "9" * 30):
        assert tab(page, sample, 2, against=odd).status_code == 200


def test_the_counters_can_be_taken_along(page, sample):
    response = tab(page, sample, 2, raw="1")
    assert response.headers["Content-Type"] == "text/csv"
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert any("sm__throughput.avg.pct_of_peak_sustained_elapsed" in row for row in rows)


def test_no_profile_evidence_is_said(page, sample):
    html = text(page, sample, 4)
    assert "No profile evidence" in html
    assert "data-finding" not in html


def test_counted_bytes_stand_beside_those_of_the_formula(page, sample):
    html = text(page, sample, 2)
    assert "by the problem's formula" in html
    assert "never moved" not in html
    roofline = page.get(f"/c/{sample.pk}/figures/roofline/", {"case": "4096x4096"})
    assert "by the bytes that DRAM moved" in roofline.content.decode()


def test_a_formula_that_counters_contradict_is_flagged_on_its_problem(page, running):
    sample = running
    address = reverse("problem", args=[sample.problem_id])
    assert "data-doubts" not in page.get(address).content.decode()
    facts = {"profile": {"contradicts": "1 <MB> counted"}}
    own = {"incumbent": sample.rounds.get(number=1).chosen, "after": 99, "sessions": 1}
    Evidence.objects.create(campaign=sample, facts=facts, **own)
    assert (
        "Counters contradict its bytes: 1 &lt;MB&gt; counted" in page.get(address).content.decode()
    )
    # The newest counts: a formula can be mended, and a file of one campaign may be wrong.
    newer = {"facts": {"profile": {"contradicts": ""}}, **own, "after": 98}
    Evidence.objects.create(campaign=sample, **newer)
    assert "data-doubts" not in page.get(address).content.decode()


def test_r31_machine_code_has_targets_resources_and_lines(page, sample):
    html = text(page, sample, 2, "code")
    assert "2 of 5 targets met" in html
    assert "Registers a thread" in html
    assert "What changed since round 1" in html
    assert f"{reverse('round_source', args=[sample.pk, 2])}#L" in html
    assert "LDG.E" in html


def test_a_comparison_tells_what_limits_each(page, sample):
    html = page.get(reverse("compare", args=[sample.pk, 1, 2])).content.decode()
    found = html[html.index("What limits it") :]
    assert "mixed: compute alu and memory dram" in found
    assert "it has 64 of the blocks that 132 SMs need" in found
    assert "202 MB" in found
    assert "sm_pct" in found


def test_programs_read_the_same(page, sample, running):
    def profile(number):
        chosen = sample.rounds.get(number=number).chosen_id
        return page.get(f"/api/v1/candidates/{chosen}/").json()["profile"]

    found = profile(1)
    assert found["limit"] == "launch"
    assert next(iter(found["findings"])) == "small_grid"
    assert found["counters"]["grid"] == 64
    assert profile(4) is None
    evidence = page.get(f"/api/v1/campaigns/{running.pk}/").json()["evidence"]
    assert {"1024x1024", "limit", "metric:dram_pct"} <= set(evidence)
