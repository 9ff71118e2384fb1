"""The list of campaigns."""

import io
import json
import re
import zipfile
from html import unescape

import pytest
from django.core.management import call_command
from django.utils import timezone

from campaigns.models import ArchivedCampaign, Round
from campaigns.records.review_queue import OURS, waiting_in_all
from campaigns.records.series import accepted
from campaigns.reports.sheet import campaign_sheet
from campaigns.rules.wording import share
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from tests.campaigns.sample import build_sample
from tests.campaigns.steps import cast


def test_it_teaches_when_it_is_empty(page):
    body = page.get("/c/").content.decode()
    assert "No campaigns yet" in body
    assert "manage.py campaign new" in body
    assert "<table" not in body


def test_it_shows_best_share_and_verdicts(page, sample):
    body = page.get("/c/").content.decode()
    assert sample.title in body
    assert "10 / 10" in body
    assert "5 accepted" in body
    sheet = campaign_sheet(sample, timezone.now())
    assert f">{share(sheet.share)}</data> of {sheet.target.roof_words}</span>" in body


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("backend=cuda", True),
        ("backend=cpp", False),
        ("op=softmax&state=done", True),
        ("state=working", False),
        ("state=draft", False),
        ("platform=h200-sxm&q=row", True),
        ("q=nothing-like-it", False),
        ("q=%00row&op=soft%00max", True),
        ("sort=name&page=77", True),
        ("sort=evil;drop", True),
    ],
)
def test_it_filters_by_what_the_address_says(page, sample, query, is_found):
    body = page.get(f"/c/?{query}").content.decode()
    assert (f'data-campaign="{sample.pk}"' in body) is is_found


def test_it_shows_the_columns_that_the_address_names(page, sample):
    columns = page.get("/c/?cols=owner,best").context["bar"].columns
    assert [column.name for column in columns.shown] == ["owner", "best"]
    body = page.get("/c/?cols=gain&cols=dtype").content.decode()
    assert "Gain over v0" in body
    assert "float32" in body
    assert "Share of its limit" in body  # in the picker alone
    assert "Rounds judged</th>" not in body


def test_it_names_a_column_that_there_is_not(page, sample):
    body = page.get("/c/?cols=evil%3Cb%3E,best&q=%00").content.decode()
    assert "No column “evil&lt;b&gt;”. There are: best" in body
    assert "Verdicts</th>" not in body


@pytest.fixture
def archived(page, sample):
    """What the page said when the sample was archived."""
    return page.post("/c/archive?backend=cuda&view=", {"c": [sample.pk]}, follow=True)


def test_the_archived_are_out_of_sight_unless_asked_for(page, sample, running, archived):
    assert archived.redirect_chain == [("/c/?backend=cuda&view=", 302)]
    row = f'data-campaign="{sample.pk}"'
    assert row not in archived.content.decode()
    assert row in page.get("/c/?state=archived").content.decode()
    assert page.get("/c/?state=archived").context["facets"]["backend"] == [("cuda", "cuda")]
    assert sample.pk not in [line.campaign.pk for line in page.get("/").context["finished"]]
    palette = page.get(f"/palette?q={sample.title[:9]}").content.decode()
    assert f'href="/c/{sample.pk}/"' not in palette
    assert b"state=archived" in page.get(f"/c/{sample.pk}/").content


def test_nothing_of_an_archived_campaign_waits_or_is_listed(page, sample, running, capsys):
    def waits():
        kept = Round.objects.filter(campaign=running).values_list("pk", flat=True)
        return [one for one in waiting_in_all() if one.kind in OURS and one.key not in kept]

    assert len(waits()) > 2
    assert accepted().filter(round__campaign=sample).exists()
    page.post("/c/archive", {"c": sample.pk})
    assert waits() == []
    assert not accepted().filter(round__campaign=sample).exists()
    assert not page.get("/").context["finished"]
    for options, key in (((), running.pk), (("--archived",), sample.pk)):
        call_command("campaign", "list", "--json", *options)
        assert [row["campaign"] for row in json.loads(capsys.readouterr().out)] == [key]


def test_archiving_is_offered_to_be_undone_and_both_are_in_the_audit(page, sample, archived):
    body = archived.content.decode()
    offer = re.search(r'id="toast".*?action="([^"]+)"', body)
    assert "1 campaign archived." in body
    page.post(unescape(offer[1]))
    assert not ArchivedCampaign.objects.exists()
    last = sample.events.order_by("pk").values_list("kind", "by__username")
    assert [*last][-2:] == [("archived", "alice"), ("unarchived", "alice")]
    assert b'id="toast"' not in page.get("/c/").content


def test_what_runs_is_not_archived(page, sample, running):
    answer = page.post("/c/archive", {"c": [sample.pk, running.pk]}, follow=True)
    body = answer.content.decode()
    assert f"Campaign {running.pk}: is" in body
    assert "stop it first" in body
    assert [row.campaign_id for row in ArchivedCampaign.objects.all()] == [sample.pk]


@pytest.mark.parametrize("said", [{}, {"c": ["x"]}, {"c": ["1", "\0"]}, {"c": ["9" * 40]}])
def test_it_says_what_may_be_archived(page, sample, said):
    answer = page.post("/c/archive", said)
    assert answer.status_code == 400
    assert b"accepted: 1 to 50" in answer.content
    assert not ArchivedCampaign.objects.exists()


def test_the_ticked_come_as_one_file(page, sample, running):
    answer = page.get("/c/trails.zip", {"c": [sample.pk, running.pk]})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="trails.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as whole:
        assert sorted(name.split("_")[0] for name in whole.namelist()) == [
            *sorted(str(each.pk) for each in (sample, running))
        ]
        held = whole.read(next(name for name in whole.namelist() if name[0] == str(sample.pk)[0]))
    assert held[:2] == b"PK"
    assert page.get("/c/trails.zip").status_code == 400
    assert page.get("/c/trails.zip", {"c": range(11)}).status_code == 400


def test_archiving_needs_the_right_to_change(viewer, sample):
    assert viewer.post("/c/archive", {"c": [sample.pk]}).status_code == 403
    assert b'id="archive"' not in viewer.get("/c/").content


def test_where_all_are_archived_it_says_so(page, sample, running, archived):
    assert b"Every campaign is archived" not in page.get("/c/").content
    ArchivedCampaign.objects.create(campaign=running)
    assert b"Every campaign is archived" in page.get("/c/?view=").content


def test_the_api_archives_and_brings_back(page, sample, running):
    address = f"/api/v1/campaigns/{sample.pk}/"
    for _ in range(2):
        answer = page.post(f"{address}archive/")
        assert answer.status_code == 200
        assert answer.json()["archived_at"]
    for query, keys in {"": [running.pk], "?archived=true": [sample.pk]}.items():
        listed = page.get(f"/api/v1/campaigns/{query}").json()["results"]
        assert [row["id"] for row in listed] == keys
    assert page.post(f"{address}unarchive/").json()["archived_at"] is None
    refused = page.post(f"/api/v1/campaigns/{running.pk}/archive/")
    assert refused.status_code == 409
    assert sample.events.filter(kind__in=("archived", "unarchived")).count() == 2


def test_it_says_when_the_filters_leave_nothing(page, sample):
    body = page.get("/c/?q=nothing-like-it").content.decode()
    assert "No campaign matches these filters" in body
    assert "<table" not in body


def test_it_gives_the_results_alone_to_htmx(page, sample):
    answer = page.get("/c/?backend=cuda", headers={"HX-Request": "true"})
    body = answer.content.decode()
    assert body.lstrip().startswith('<section class="panel" id="results"')
    assert "HX-Request" in answer.headers["Vary"]


def test_it_asks_as_many_queries_for_many_as_for_one(
    page, engineer, sample, django_assert_num_queries
):
    page.get("/c/")  # reads the closed rounds
    with django_assert_num_queries(11):
        page.get("/c/")
    for _ in range(2):
        build_sample(rounds=2, owner=engineer)
    page.get("/c/")
    with django_assert_num_queries(11):
        page.get("/c/")


def test_a_draft_is_not_at_work(page, tmp_path):
    platform = cast.make_platform()
    made = create_campaign(Wish(cast.write_problem(tmp_path), platform.slug, "cpp"))
    assert f'data-campaign="{made.pk}"' in page.get("/c/?state=draft").content.decode()
    assert f'data-campaign="{made.pk}"' not in page.get("/c/?state=working").content.decode()


def test_it_says_what_a_campaign_does_in_words(page, running):
    body = page.get("/c/").content.decode()
    assert ">measuring<" in body
    assert ">validate<" not in body
