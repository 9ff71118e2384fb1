"""The page of a problem: the version of a campaign, and a shipped one that no campaign has."""

import pytest
from django.urls import reverse

from campaigns.models import Case, Problem
from campaigns.problems.shipped import shipped_problems


def test_it_shows_cases_classes_tolerance_reference_and_v0(page, sample):
    body = page.get(sample.problem.get_absolute_url()).content.decode()
    for case in sample.problem.cases.all():
        assert f'data-case="{case.name}"' in body
    for name in ("problem.toml", "ref.py", *sample.problem.backends.values()):
        assert f'id="file-{name}"' in body
    assert sample.problem.digest in body
    assert reverse("campaign", args=[sample.pk]) in body


def test_a_campaign_and_the_form_lead_to_it(page, sample):
    address = sample.problem.get_absolute_url()
    assert f'href="{address}"' in page.get(reverse("campaign", args=[sample.pk])).content.decode()
    form = page.get("/c/new", {"problem": "softmax"}).content.decode()
    assert 'href="/p/softmax/"' in form


@pytest.mark.parametrize("name", [spec.name for spec in shipped_problems()])
def test_it_shows_a_shipped_problem_and_stores_nothing(page, db, name):
    before = Problem.objects.count()
    answer = page.get(reverse("problem_by_name", args=[name]))
    assert 'id="file-ref.py"' in answer.content.decode()
    assert Problem.objects.count() == before


def test_it_knows_no_other_problem(page, sample):
    assert page.get(reverse("problem_by_name", args=["no-such"])).status_code == 404
    assert page.get(reverse("problem", args=[10**6])).status_code == 404


def test_it_shows_hostile_text_as_text(page, db):
    evil = "<script>alert(1)</script>"
    made = Problem.objects.create(
        slug="evil", digest="0" * 64, title=evil, op=evil, dtype=evil, summary=evil,
        files={evil: evil, "ref.py": f"# {evil}"}, backends={evil: evil},
        tolerance={"atol": None, "rtol": 1e-3}, config_class=["N"],
    )  # fmt: skip
    Case.objects.create(problem=made, name=evil, params={"N": evil}, ordinal=0)
    answer = page.get(made.get_absolute_url())
    assert answer.status_code == 200
    assert evil not in answer.content.decode()
    # The form knows shipped problems only.
    assert "New campaign" not in answer.content.decode()


def test_it_sends_strangers_to_the_login(client, db):
    answer = client.get(reverse("problem_by_name", args=["softmax"]))
    assert answer.status_code == 302
    assert "/login/" in answer.headers["Location"]
