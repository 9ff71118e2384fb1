"""Every resource of a campaign over HTTP, on the realistic sample."""

import io
import json

import pandas
import pytest

from campaigns.models import Campaign, Evaluation, Round, Verdict
from tests.around import built_around
from tests.campaigns.api import test_workers
from tests.campaigns.sample import HOSTILE, build_sample
from tests.campaigns.swept import build_swept

pytestmark = pytest.mark.django_db
client_of = test_workers.client_of
LISTS = (
    *("campaigns", "rounds", "candidates", "evaluations", "verdicts", "events", "sweeps"),
    *("problems", "workers", "platforms", "documents", "specs", "experience", "lessons", "gaps"),
)


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    """Tests of an empty database stand before the first one that wants this."""
    with built_around(django_db_blocker, lambda: build_sample().pk) as key:
        yield key


@pytest.fixture
def sample(built):
    return Campaign.objects.get(pk=built)


@pytest.fixture
def reader(client_of):
    return client_of()


def rows(client, name, **asked):
    answer = client.get(f"/api/v1/{name}/", asked)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def table(client, address):
    answer = client.get(address, {"format": "csv"})
    return pandas.read_csv(io.BytesIO(b"".join(answer.streaming_content)))


def test_a_sweep_has_its_points(reader):
    campaign = build_swept(points=7)
    (row,) = rows(reader, "sweeps", campaign=campaign.pk)
    points = table(reader, f"/api/v1/sweeps/{row['id']}/points/")
    assert len(points) == row["tried"]
    assert json.loads(points["params"][0])
    knobs = reader.get(f"/api/v1/sweeps/{row['id']}/").json()["knobs"]
    knob = next(knob for knob in knobs if knob["default"] != "")
    name, value = f"knob.{knob['name']}", str(knob["default"])
    address = f"/api/v1/sweeps/{row['id']}/points/"
    kept = reader.get(address, {name: value}).json()["results"]
    assert kept
    assert {str(point["params"].get(knob["name"])) for point in kept} == {value}
    assert len(kept) < len(points)
    assert reader.get(address, {"knob.colour": "red"}).json()["field"] == "knob.colour"
    failed = reader.get(f"/api/v1/sweeps/{row['id']}/points/", {"outcome": "build_failed"})
    assert all(point["outcome"] == "build_failed" for point in failed.json()["results"])


def test_a_person_steers_a_campaign(client_of, monkeypatch):
    running = build_sample(rounds=3, running=True)
    monkeypatch.setattr("campaigns.api.campaigns.notify", lambda *a: None)
    address = f"/api/v1/campaigns/{running.pk}/"
    assert client_of().post(f"{address}pause/", content_type="application/json").status_code == 403
    client = client_of("change_campaign")
    paused = client.post(f"{address}pause/", content_type="application/json")
    assert (paused.status_code, paused.json()["pause_requested"]) == (200, True)
    resumed = client.post(f"{address}resume/", content_type="application/json")
    assert resumed.json()["pause_requested"] is False
    again = client.post(f"{address}resume/", content_type="application/json")
    assert (again.status_code, again.json()["status"]) == (409, 409)
    stopped = client.post(f"{address}stop/", content_type="application/json")
    assert stopped.json()["stop_requested"] is True
    assert Campaign.objects.get(pk=running.pk).stop_requested
    assert (
        client.post("/api/v1/campaigns/999/stop/", content_type="application/json").status_code
        == 404
    )


@pytest.mark.parametrize("name", LISTS)
def test_every_list_is_a_table_with_the_same_rows(reader, sample, name):
    first = reader.get(f"/api/v1/{name}/", {"page_size": 500}).json()
    found = table(reader, f"/api/v1/{name}/")
    assert len(found) == first["count"]
    key = "uuid" if "uuid" in found else "id"
    shown = [str(row[key]) for row in first["results"]]
    assert list(found[key].astype(str))[: len(shown)] == shown


@pytest.mark.parametrize("name", LISTS)
def test_every_row_of_a_list_has_an_address_of_its_own(reader, sample, name):
    for row in rows(reader, name, page_size="3"):
        key = row.get("uuid") or (row["slug"] if name == "platforms" else row["id"])
        one = reader.get(f"/api/v1/{name}/{key}/")
        assert one.status_code == 200
        assert one.headers["ETag"]


def test_a_campaign_has_its_target_and_its_result(reader, sample):
    found = reader.get(f"/api/v1/campaigns/{sample.pk}/").json()
    assert (found["problem"], found["platform"], found["state"]) == (
        "softmax", "h200-sxm", sample.state,
    )  # fmt: skip
    case = found["target"][0]
    assert case["floor_us"] > 0
    assert case["words"]
    assert found["incumbent_round"] == sample.incumbent.round.number


def test_what_people_left_comes_back_as_they_left_it(reader, sample):
    titles = [row["title"] for row in rows(reader, "rounds", page_size="500")]
    assert any(HOSTILE in title for title in titles)


def test_the_filters_are_those_of_the_pages(reader, sample):
    assert rows(reader, "campaigns", op="softmax", state="working", q="no such words") == []
    assert [row["id"] for row in rows(reader, "campaigns", platform="h200-sxm")] == [sample.pk]
    accepted = rows(reader, "rounds", campaign=sample.pk, verdict="accepted")
    assert {row["verdict"] for row in accepted} == {"accepted"}
    assert all(row["gain"]["low"] <= row["gain"]["gain"] for row in accepted if row["gain"])
    words = Verdict.objects.filter(word="rejected").count()
    assert len(rows(reader, "verdicts", word="rejected")) == words
    refused = reader.get("/api/v1/verdicts/", {"word": "fine"})
    assert (refused.status_code, refused.json()["field"]) == (400, "word")
    assert reader.get("/api/v1/rounds/", {"campaign": "x"}).json()["field"] == "campaign"
    assert rows(reader, "rounds", campaign=10**15) == []
    assert reader.get("/api/v1/rounds/", {"colour": "x"}).json()["field"] == "colour"


def test_a_round_has_its_hypothesis_and_a_verdict_its_gates(reader, sample):
    judged = Round.objects.filter(verdict__word="accepted", number__gt=1).first()
    found = reader.get(f"/api/v1/rounds/{judged.pk}/").json()
    assert found["hypothesis"]["strategy"]
    verdict = reader.get(f"/api/v1/verdicts/{judged.verdict.pk}/").json()
    assert verdict["gates"][0]["name"]
    assert verdict["cases"][0]["time_us"]["median"] > 0
    assert verdict["gain"]["pairs"] == judged.verdict.pairs


def test_a_candidate_comes_with_its_source(reader, sample):
    (row,) = rows(reader, "candidates", page_size="1")[:1]
    assert "source" not in row
    found = reader.get(f"/api/v1/candidates/{sample.incumbent_id}/").json()
    assert found["source"] == sample.incumbent.text
    assert found["digest"] == sample.incumbent.digest


def test_an_evaluation_has_cases_and_every_sample(reader, sample):
    evaluation = Evaluation.objects.filter(candidate=sample.incumbent, outcome="passed").first()
    address = f"/api/v1/evaluations/{evaluation.pk}/"
    found = reader.get(address).json()
    assert found["cases"][0]["correct"] is True
    cases = table(reader, f"{address}cases/")
    assert list(cases["case"]) == [case["case"] for case in found["cases"]]
    samples = table(reader, f"{address}samples/")
    assert set(samples["arm"]) <= {"candidate", "incumbent"}
    arm = samples[(samples["arm"] == "candidate") & (samples["case"] == cases["case"][0])]
    assert arm["time_us"].median() == pytest.approx(cases["time_us.median"][0])
    page = reader.get(f"{address}samples/", {"page_size": 2}).json()
    assert reader.get(page["next"]).json()["results"] != page["results"]
    assert reader.get("/api/v1/evaluations/999999/samples/").status_code == 404


def test_a_problem_has_its_files_and_cases(reader, sample):
    found = reader.get(f"/api/v1/problems/{sample.problem_id}/").json()
    assert "ref.py" in found["files"]
    cases = reader.get(f"/api/v1/problems/{sample.problem_id}/cases/").json()["results"]
    assert cases == found["cases"]


@pytest.mark.parametrize("name", ["campaigns", "rounds", "candidates", "verdicts", "evaluations"])
def test_more_rows_take_no_more_queries(reader, sample, name, django_assert_max_num_queries):
    with django_assert_max_num_queries(6):
        assert reader.get(f"/api/v1/{name}/", {"page_size": 500}).status_code == 200
