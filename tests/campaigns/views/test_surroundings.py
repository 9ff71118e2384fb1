"""The round page tells what went on around its measurements, and which of them were void."""

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Moment, Report
from campaigns.management.facts import round_facts, round_text
from campaigns.models import Evaluation, Verdict
from campaigns.reports.case_table import busy_words, seen_table
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.take_passport import take_passport
from campaigns.steps.worker import note_host
from tests.campaigns.rules.builders import case, report, timing
from tests.campaigns.steps import cast


class Drifting(cast.Judge):
    """A judge under whom the first measurement of every candidate of round 2 drifts."""

    def evaluate(self, job, beat=None):
        found = super().evaluate(job, beat)
        if job.read_code or job.counters:
            return found
        seen = tuple(
            Moment("one", block, others=0.1, load=1.0 + block, pressure=0.02) for block in range(6)
        )
        found = replace(found, surroundings=seen)
        if (
            "time 50" in job.candidate.text
            and sum("time 50" in j.candidate.text for j in self.jobs) == 1
        ):
            cases = tuple(map(self._moved, found.cases))
            return replace(found, cases=cases)
        return found

    def _moved(self, case):
        samples = case.incumbent.samples_us
        moved = tuple(1.4 * us if i >= 5 else us for i, us in enumerate(samples))
        return replace(case, incumbent=replace(case.incumbent, samples_us=moved))


@pytest.fixture
def run(db, monkeypatch, tmp_path):
    """Run a campaign with one candidate under that judge; a passport first, if wanted."""
    cast.set_the_scene(monkeypatch)
    script = cast.Script([["time 50"]])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: script)

    def go(judge, *, passport=False):
        bench = cast.make_bench(judge)
        if passport:
            take_passport("why", bench)
        campaign = cast.make_campaign(tmp_path, max_rounds=2)
        return run_here(campaign.pk, bench, lambda message: None)

    return go


def read(client, campaign, number=2, tab="surroundings/"):
    return client.get(f"/c/{campaign.pk}/r/{number}/{tab}").content.decode()


def test_it_shows_void_measurements_and_the_surroundings_of_the_one_that_counts(page, run):
    campaign = run(Drifting())
    html = read(page, campaign)
    panel = html[html.index('id="surroundings"') :]
    assert "1 measurement was void and was repeated" in panel
    assert "the incumbent&#x27;s own times moved (100 µs to 140 µs after 5 of 10 samples" in panel
    assert "<td>none yet</td>" in panel
    assert "<td>5</td>" in panel
    assert "CPUs used by others" in panel
    # What this host does not tell has no column.
    assert "Temperature" not in panel
    assert "2 measurements" not in read(page, campaign, 1)
    assert Evaluation.objects.exclude(void="").count() == 1


def test_the_command_line_tells_the_same(run):
    round_ = run(Drifting()).rounds.get(number=2)
    assert "void and repeated: Device or host did not stay the same: one:" in round_text(round_)
    facts = round_facts(round_)
    outcomes = facts["candidates"][0]["outcomes"]
    assert ["incumbent's own times" in one["void"] for one in outcomes[:2]] == [True, False]
    assert outcomes[1]["surroundings"][5]["load"] == 6.0
    assert facts["verdict"]["noise"]["words"].startswith("measured in round 1")


def test_it_says_which_noise_floor_the_verdict_stands_on(page, run):
    campaign = run(cast.Judge())
    noise = Verdict.objects.get(round__number=2).noise
    assert noise["passport"] is None
    words = "measured in round 1, v0 beside itself, because the worker has no noise passport"
    assert noise["words"] == words
    assert f">1 %</data>: {words}" in read(page, campaign)
    gates = {gate["name"]: gate for gate in Verdict.objects.get(round__number=2).gates}
    assert words in gates["samples"]["found"]
    first = Verdict.objects.get(round__number=1).noise["words"]
    assert first == "the least of 1 %, because the worker has no noise passport"


def test_it_names_the_passport_where_one_holds(page, run):
    campaign = run(cast.Judge(), passport=True)
    noise = Verdict.objects.get(round__number=2).noise
    assert noise["passport"] is not None
    assert noise["words"] == f"noise passport {noise['passport']} of tester, at 100 µs"
    assert noise["words"] in read(page, campaign)


def test_it_says_why_a_passport_was_not_used(page, run, monkeypatch):
    facts = {"driver": "old"}
    for step in (note_host, take_passport):
        monkeypatch.setattr(f"{step.__module__}.host_facts", lambda device: dict(facts))
    bench = cast.make_bench(cast.Judge())
    taken = take_passport("why", bench)
    bench.worker.versions = {**bench.worker.versions, "driver": "new"}
    bench.worker.save()
    campaign = run(cast.Judge())
    words = f"noise passport {taken.pk} is stale: driver was old and is new"
    assert words in Verdict.objects.get(round__number=2).noise["words"]
    assert words in read(page, campaign)


def test_it_says_that_nothing_was_looked_at(page, run):
    assert "Nothing was recorded" in read(page, run(cast.Judge()))


def test_its_columns_are_those_that_the_host_tells():
    seen = (
        Moment("4096x4096", 0, 1980.0, 41.0, 310.4, (), 0.0),
        Moment("4096x4096", 1, 1755.0, 43.0, 698.0, ("power cap",), 1.0),
    )
    found: Report = replace(report(case(timing([34.0]))), surroundings=seen)
    table = seen_table(found)
    assert table.columns == (
        *("Case", "After block", "Clock, MHz", "Temperature, °C"),
        *("Power, W", "Held down by", "Other processes"),
    )
    assert table.rows[1] == (*("4096x4096", "1", "1,755", "43"), *("698", "power cap", "1"))
    assert seen_table(replace(found, surroundings=())) is None
    assert seen_table(None) is None


def test_a_busy_host_is_told_in_one_line():
    busy = (Moment("4096x4096", 0, others=0.1), Moment("4096x4096", 1, others=3.9, pressure=0.4))
    told = busy_words(replace(report(case()), surroundings=busy))
    assert told == (
        "Busy host while this was measured: others used up to 3.9 CPUs, tasks waited for a CPU up "
        "to 40 % of the time."
    )
    quiet = (Moment("4096x4096", 0, others=0.1, pressure=0.02),)
    assert busy_words(replace(report(case()), surroundings=quiet)) == ""


def test_a_void_measurement_is_told_beside_the_verdict(page, run):
    html = read(page, run(Drifting()), tab="")
    beside = html[html.index('id="result"') : html.index('id="gates"')]
    assert "1 measurement was void and repeated." in beside
