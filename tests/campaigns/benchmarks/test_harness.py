"""One form for every report: Markdown for people, the same rows as JSON."""

import json

from campaigns.benchmarks.harness import BenchReport, Finished, ReportTable


def test_it_writes_date_device_versions_command_verdict_and_tables():
    rows = [{"what": "a", "µs": 12.34567, "n": 1200, "samples": (1.0, 2.5), "other": None}]
    report = BenchReport(
        title="Speed",
        device="a card",
        verdict="Quick.",
        tables=[ReportTable("Times", rows, ["One run."]), ReportTable("Losses", [])],
        versions={"torch": "2", "python": "3"},
        notes=["Alone."],
    )
    finished = Finished(report, "python manage.py bench speed", "today", 61.4)
    assert finished.as_markdown() == (
        "# Speed on a card\n\n"
        "Measured today in 61 s by `python manage.py bench speed`; python 3, torch 2.\n\n"
        "**Quick.**\n\nAlone.\n\n## Times\n\nOne run.\n\n"
        "| what | µs | n | samples | other |\n|---|--:|--:|---|---|\n"
        "| a | 12.35 | 1,200 | 1 2.5 | – |\n\n## Losses\n\nNone.\n"
    )
    data = json.loads(json.dumps(finished.as_data()))
    assert data["tables"]["Times"][0]["µs"] == 12.34567
    assert (data["verdict"], data["held"], data["tables"]["Losses"]) == ("Quick.", True, [])
