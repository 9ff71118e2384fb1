"""One form for every report: Markdown for people, the same rows as JSON."""

import json
from argparse import Namespace

import pytest

from campaigns.benchmarks.harness import (
    BenchmarkError,
    BenchReport,
    ReportTable,
    option,
    require,
    times_row,
    versions,
)
from campaigns.devices.discover import this_device


def test_it_writes_question_date_device_versions_command_verdict_and_tables():
    rows = [{"what": "a", "µs": 12.34567, "n": 1200, "samples": (1.0, 2.5), "other": None}]
    finished = BenchReport(
        title="Speed",
        question="How quick?",
        device=this_device("cpu"),
        verdict="Quick.",
        tables=[ReportTable("Times", rows, ["One run."]), ReportTable("Losses", [])],
        notes=["Alone."],
        command="python manage.py bench speed",
        measured_at="today",
        seconds=61.4,
        versions={"torch": "2", "python": "3"},
    )
    assert finished.as_markdown() == (
        "# Speed\n\n"
        "- question: How quick?\n- found: Quick.\n- measured: today, in 61 s\n"
        f"- device: {this_device('cpu').name}\n- command: `python manage.py bench speed`\n"
        "- versions: python 3, torch 2\n\n"
        "Alone.\n\n## Times\n\nOne run.\n\n"
        "| what | µs | n | samples | other |\n|---|--:|--:|---|---|\n"
        "| a | 12.35 | 1,200 | 1 2.5 | – |\n\n## Losses\n\nNone.\n"
    )
    data = json.loads(json.dumps(finished.as_data()))
    assert data["tables"]["Times"][0]["µs"] == 12.34567
    assert (data["verdict"], data["held"], data["tables"]["Losses"]) == ("Quick.", True, [])


def test_it_names_the_versions_of_what_matters():
    found = versions(this_device("cpu"), "django", "no-such-package")
    assert found["django"]
    assert found["no-such-package"] == "missing"
    assert {"python", "cores", "load at the end"} <= set(found)


def test_an_option_says_its_default_once():
    assert option("--n", default=3)[1]["help"] == "default: 3"
    assert option("--n", default=3, help="of each")[1]["help"] == "of each; default: 3"
    assert option("--n", default=3, help="folder; default: ours")[1]["help"].count("default") == 1


@pytest.mark.parametrize(
    ("given", "limits", "words"),
    [(0, (1, None), "--most-s 0: 1 or more is"), (9, (1, 8), "--most-s 9: 1 to 8 is accepted")],
)
def test_it_refuses_what_is_out_of_range(given, limits, words):
    with pytest.raises(BenchmarkError, match=words):
        require(Namespace(most_s=given), most_s=limits)


def test_times_need_two_of_them():
    assert times_row("read", [1.0])["median ms"] is None
    assert times_row("read", [1.0, 3.0], "under 5")["median ms"] == 2.0
