"""One round: verdict, hypothesis, gates, diff, cases, log, environment."""

import re

import msgspec
import pytest
from django.core.management import load_command_class
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.evaluator.contract import CaseReport, Timer, Timing
from campaigns.records.cases import dispatch_of, measured_case
from campaigns.views.round_tabs import TABS
from tests.campaigns.sample import HOSTILE
from tests.campaigns.views.conftest import round_address, whole_campaign, whole_round

NAMES = ("round", "round_diff", "round_source")
# Queries of a tab, with those of the session.
MOST_QUERIES = 25


def open_round(page, campaign, number, name="round", **query):
    """name: of an address, or a tab."""
    if name in TABS:
        return page.get(round_address(campaign, number, name), query)
    return page.get(reverse(name, args=[campaign.pk, number]), query)


@pytest.mark.parametrize("number", range(1, 11))
def test_it_opens_every_kind_of_round(page, sample, number):
    for name in (*NAMES, *TABS):
        assert open_round(page, sample, number, name).status_code == 200
    body = open_round(page, sample, number, view="split", ctx="99", w="0").content.decode()
    assert f'data-round="{number}" data-verdict="' in body


def test_it_opens_a_round_that_is_being_measured(page, running):
    body = open_round(page, running, 4).content.decode()
    assert "No verdict yet" in body
    assert "its measurement is under way (step: burst)" in body


@pytest.mark.parametrize("number", [5, 7])
@pytest.mark.parametrize("name", NAMES)
def test_it_shows_hostile_text_as_text(page, sample, number, name):
    body = open_round(page, sample, number, name).content.decode()
    body += whole_round(page, sample, number)
    assert HOSTILE not in body
    assert "<img" not in body
    assert "&lt;img src=//evil.example" in body


def test_it_shows_gates_with_numbers_limits_and_citation(page, sample):
    body = open_round(page, sample, 8).content.decode()
    assert 'data-gate="plausibility"' in body
    assert "14.6 µs is below the physical floor 28.0 µs" in body
    assert "not judged" in body
    assert 'data-cite-state="ok">memory_bandwidth: 4.8 TB/s' in body


def test_r21_it_shows_the_bucket_of_a_round(page, sample):
    body = open_round(page, sample, 2).content.decode()
    assert 'data-bucket="K1">K1: work within the kernel' in body
    assert 'data-gate="transfer"' in body
    assert "data-bucket" not in open_round(page, sample, 1).content.decode()


def test_it_shows_expected_beside_measured(page, sample):
    body = open_round(page, sample, 2).content.decode()
    assert "time down by 60 %" in body
    assert "61 % less time against round 1" in body
    assert 'data-borne="confirmed"' in body
    assert 'data-borne="refuted"' in open_round(page, sample, 5).content.decode()
    assert 'data-borne="undecided"' in open_round(page, sample, 7).content.decode()
    assert "data-borne" not in open_round(page, sample, 1).content.decode()


def test_it_lists_the_worst_case_first_with_intervals(page, sample):
    answer = open_round(page, sample, 5, "cases")
    assert [case.name for case in answer.context["cases"]] == ["1024x1024", "4096x4096"]
    body = answer.content.decode()
    assert "regressed beyond the guard" in body
    # Its two cases, and the class of each.
    assert body.count("data-ci-low") == 4
    assert re.findall(r'data-class="([^"]+)"', body) == ["D=1024", "D=4096"]


def test_it_shows_no_classes_where_nothing_was_compared(page, sample):
    assert "data-class" not in open_round(page, sample, 1, "cases").content.decode()
    assert "data-class" not in open_round(page, sample, 7, "cases").content.decode()


def test_it_shows_every_candidate_of_a_sweep(page, sample):
    body = open_round(page, sample, 3, "log").content.decode()
    assert "one hypothesis, 3 sources" in body
    source = open_round(page, sample, 3, "round_source", candidate="2").content.decode()
    assert "THREADS = 1024" in source
    assert open_round(page, sample, 3, "round_source", candidate="9").status_code == 404
    assert open_round(page, sample, 3, "round_source", candidate="x").status_code == 404


def test_it_hands_out_the_source_as_text_alone(page, sample):
    answer = open_round(page, sample, 2, "round_source", raw="1")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="round-2.cu"'
    assert answer.content.decode().startswith("// Row softmax: one block")


def test_it_shows_commands_that_the_command_line_takes(page, sample):
    evaluate, show = (c for _, c in open_round(page, sample, 10, "reproduce").context["commands"])
    assert "--backend cuda --against round-6.cu --case 1024x1024" in evaluate
    words = evaluate.split()
    parser = load_command_class("campaigns", "evaluate").create_parser("manage.py", "evaluate")
    found = parser.parse_args(words[3:])
    assert (found.problem, found.backend) == ("softmax", "cuda")
    assert found.case == ["1024x1024", "4096x4096"]
    parser = load_command_class("campaigns", "round").create_parser("manage.py", "round")
    assert parser.parse_args(show.split()[3:]).round == 10


def test_it_links_to_its_neighbours(page, sample):
    first, last = (open_round(page, sample, n).context for n in (1, 10))
    assert (first["before"], first["after"]) == (None, 2)
    assert (last["before"], last["after"]) == (9, None)


@pytest.mark.parametrize("against", ["incumbent", "previous", "baseline", "2"])
def test_it_compares_with_what_the_address_says(page, sample, against):
    answer = open_round(page, sample, 6, "round_diff", against=against)
    rival = {"incumbent": 3, "previous": 5, "baseline": 1, "2": 2}[against]
    assert answer.context["rival"].round.number == rival


@pytest.mark.parametrize("against", ["../etc", "9" * 5000, "²", "-1"])
def test_it_says_404_to_a_rival_that_can_not_be(page, sample, against):
    assert open_round(page, sample, 6, "round_diff", against=against).status_code == 404


@pytest.mark.parametrize("against", ["previous", "999999999"])
def test_it_shows_no_diff_where_there_is_no_such_rival(page, sample, against):
    assert open_round(page, sample, 1, "round_diff", against=against).context["diff"] is None


def test_it_passes_over_numbers_of_absurd_length(page, sample):
    many = "9" * 5000
    assert open_round(page, sample, 2, ctx=many).context["ctx"] == 3
    assert open_round(page, sample, 2, "round_diff", ctx=many).context["ctx"] == 3
    assert open_round(page, sample, 3, "round_source", candidate=many).status_code == 404
    assert page.get(f"/c/{sample.pk}/r/{many}/").status_code == 404
    assert page.get(f"/c/{many}/").status_code == 404


def test_it_says_when_only_the_flags_changed(page, sample):
    body = open_round(page, sample, 4).content.decode()
    assert "The source is identical; the compiler flags differ" in body


def test_each_tab_asks_few_queries(page, sample):
    counts = dict.fromkeys(TABS, 0)
    for tab in TABS:
        with CaptureQueriesContext(connection) as asked:
            open_round(page, sample, 3, tab)
        counts[tab] = len(asked)
    assert max(counts.values()) <= MOST_QUERIES


def test_it_says_that_a_plain_loop_was_timed():
    timing = Timing((40.0,) * 10, 8, 1, Timer.LOOP, 20.0, (20.0,) * 10)
    report = CaseReport("c", True, 5, candidate=timing, incumbent=timing)
    row = msgspec.to_builtins(measured_case(report))
    assert row["time_us"]["median"] == 20.0
    case = {"name": "c", "facts": report, "result": {}, "target": {}, "share": None}
    body = render_to_string("campaigns/partials/cases.html", {"cases": [case], "against": "v0"})
    assert "timed as a plain loop" in body


@pytest.mark.parametrize("name", ["round_tab", "report", "report_file"])
def test_it_assigns_a_change_to_its_parts(page, sample, name):
    accepted = sample.rounds.filter(verdict__word="accepted").order_by("-number").first()
    args = [sample.pk, accepted.number, "profile"] if name == "round_tab" else [sample.pk]
    found = page.get(reverse(name, args=args)).content.decode()
    rows = found.split('id="attribution"')[1].split("</section>")[0]
    for case in sample.cases:
        cells = rows.split(f'data-attribution="{case}"')[1].split("</tr>")[0]
        assert cells.count("→") == 5
        assert 'data-label="Mostly in">kernel' in cells


def split_by(round_, when, **runs):
    """Make a stored round a dispatch split, as `campaigns.steps.rounds.propose` writes it."""
    stored = {"when": when, "taken": list(runs)[-1:], "runs": runs, "pair": ["a", "b"]}
    round_.split = stored
    return round_


def test_r19_it_says_which_class_runs_which_kernel(page, sample):
    body = open_round(page, sample, 5, "cases").content.decode()
    assert re.findall(r'data-runs="(\d+)"', body) == ["5"]
    assert "No dispatch split: every class runs the kernel of" in body
    assert "A dispatch split" not in body
    found = split_by(sample.rounds.get(number=6), f"D ≥ {HOSTILE}", **{"D=1024": 1, HOSTILE: 3})
    context = {"dispatch": dispatch_of(found), "campaign": sample}
    shown = render_to_string("campaigns/partials/dispatch.html", context)
    assert re.findall(r'data-runs="(\d+)"', shown) == ["1", "3"]
    assert shown.count("specialised</span>") == 1
    assert reverse("round", args=[sample.pk, 3]) in shown
    assert HOSTILE not in shown


def test_r19_the_campaign_says_so_of_its_incumbent(page, sample):
    body = whole_campaign(page, sample)
    number = sample.incumbent.round.number
    assert "Kernel of each class" in body
    assert set(re.findall(r'data-runs="(\d+)"', body)) == {str(number)}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"nodes": 24}, "bursts of 8 calls, 24 nodes in their graph"),
        ({"cpu_us": 76.0}, "a call takes 76.0 µs of CPU time on 1.9 cores"),
    ],
)
def test_it_says_of_what_a_burst_consisted_and_what_a_call_used(told, said):
    timing = Timing((40.0,) * 10, 8, 1, Timer.GRAPH, **told)
    case = {"name": "c", "facts": CaseReport("c", True, 5, candidate=timing), "result": {}}
    case |= {"target": {}, "share": None}
    body = render_to_string("campaigns/partials/cases.html", {"cases": [case], "against": "v0"})
    assert said in body


def test_an_unknown_tab_is_404_and_names_the_others(page, sample):
    answer = page.get(f"/c/{sample.pk}/r/2/nonsense/")
    assert answer.status_code == 404
    assert page.get(f"/c/{sample.pk}/r/2/overview/").status_code == 404
