"""The exported trail: every format says what the pages say, and nothing that was not recorded."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
from django.utils import timezone

from campaigns.models import Commit
from campaigns.reports.sheet import campaign_sheet
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import change
from campaigns.trails.exporters import archive
from campaigns.trails.exporters.archive import trail_archive, trail_files, trail_name
from campaigns.trails.exporters.markdown import fenced, said
from campaigns.trails.importers.markdown_reader import tips_of
from tests.campaigns.sample import HOSTILE, build_sample

CELL = re.compile(r"(?<!\\)\|")


@pytest.fixture
def sample(db):
    return build_sample()


@pytest.fixture
def files(sample):
    return trail_files(sample)


def rows_of(text):
    """The cells of the first table, the head first."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    parts = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in lines]
    return [parts[0], *parts[2:]]


def test_it_has_every_file_that_somebody_knows(files):
    for name in (
        *("README.md", "baseline_report.md", "manifest.yaml", "performance.md", "bench.json"),
        *("final_report.md", "benchmark.md", "env_check.md", "tips.md", "quick_test_bench.py"),
        *("logs/optimize.md", "logs/performance_trend.md", "problem/ref.py", "best/kernel.cu"),
    ):
        assert files[name].strip(), name
    for number in range(1, 11):
        for name in ("summary.md", "kernel_snapshot/kernel.cu", "artifacts/verdict.json"):
            assert files[f"rounds/round-{number}/{name}"]
        for name in ("correctness.md", "ncu_summary.md", "kernel.cu"):
            assert files[f"v{number - 1}/{name}"]
        assert (f"plans/v{number - 1}_plan.md" in files) is (number > 1)
        assert (f"v{number - 1}/hypothesis.txt" in files) is (number > 1)


def test_the_bench_finds_the_source_of_every_round(files):
    known = json.loads(files["bench.json"])
    assert (known["best"], list(known["rounds"])) == (10, [str(n) for n in range(1, 11)])
    assert all(one["kernel"] in files for one in known["rounds"].values())
    assert files[known["rounds"]["10"]["kernel"]] == files["best/kernel.cu"]
    assert known["rounds"]["4"]["flags"] == ["-O3"]


def test_the_trend_agrees_with_the_pages(files, sample):
    sheet = campaign_sheet(sample, timezone.now())
    head, *rows = rows_of(files["logs/performance_trend.md"])
    assert head[7] == "Combined Step GB/s"
    assert [int(row[0]) for row in rows] == [row.number for row in sheet.rows]
    for cells, row in zip(rows, sheet.rows, strict=True):
        words = "BASELINE" if row.number == 1 else "ACCEPTED"
        assert cells[1] == (words if row.word is Word.ACCEPTED else "ROLLBACK")
        assert (cells[5], cells[6]) == ("-", "-")
        if row.time_us is None or row.word is Word.INVALID:
            assert (cells[3], cells[7], cells[8]) == ("-", "-", "—")
            continue
        moved = [
            sheet.target.cases[case].bytes / time_us / 1e3 for case, time_us in row.times.items()
        ]
        assert cells[3] == cells[7] == f"{geomean(moved):.3f}"
        assert cells[4] == f"{max(moved):.3f}"
        # The only one that was measured beside v0 and kept.
        gain = row.gain if row.number == 2 else None
        assert cells[8] == (f"{change(gain.gain)} (paired, n={gain.pairs})" if gain else "—")


def test_each_version_says_what_its_round_says(files, sample):
    sheet = campaign_sheet(sample, timezone.now())
    for row in sheet.rows:
        known = json.loads(files[f"memory/v{row.number - 1}.json"])
        assert known["version"] == f"v{row.number - 1}"
        assert known["masked"] is False
        assert known["performance"]["latency_us"] == row.time_us
        kept = row.word is Word.ACCEPTED
        assert known["quality_gate"]["result"] == ("PASS" if kept else "FAIL")
        assert known["quality_gate"]["failure_reason"] == ("" if kept else row.sentence)
        gain = known["performance"]["gain_over_incumbent"]
        assert gain == (row.gain and {**gain, "gain": row.gain.gain, "pairs": row.gain.pairs})
        verdict = json.loads(files[f"rounds/round-{row.number}/artifacts/verdict.json"])
        assert verdict["verdict"] == row.word.words
        assert verdict["sentence"] == row.sentence
    wrong = json.loads(files["memory/v6.json"])
    assert wrong["correctness"]["status"] == "FAIL"
    assert wrong["pitfalls_and_fixes"][0]["error_type"] == "accuracy"
    assert wrong["performance"]["tflops"] is None
    assert "| D=1024 | 1024x1024 | " in files["rounds/round-2/summary.md"]
    assert "By config class" not in files["rounds/round-7/summary.md"]


def test_r21_it_tells_what_reaches_real_use(files):
    assert "Bucket: K1: work within the kernel" in files["rounds/round-2/summary.md"].replace(
        "**", ""
    )
    assert "Transfer to real use" not in files["rounds/round-1/summary.md"]
    told = files["logs/optimize.md"]
    assert "Final gain: 3.35× faster [" in told
    assert "| kernel work | 2, " in told


def test_only_what_was_kept_is_in_the_performance_table(files, sample):
    _, *rows = rows_of(files["performance.md"])
    assert [row[2] for row in rows[:5]] == ["baseline", *["keep"] * 4]
    assert "Leave out the subtraction" not in files["performance.md"].split("## Stop summary")[0]
    assert "All 10 rounds are done." in files["performance.md"]
    # Faster is a negative change of the time there, and each names its pairs.
    assert all(re.match(r"-\d+\.\d % \(.*n=20 pairs\)", row[8]) for row in rows[1:5])


def test_kept_rounds_name_their_commits(files, sample):
    commits = {c.round.number: c for c in Commit.objects.filter(round__campaign=sample)}
    assert {*commits} == {1, 2, 3, 6, 10}
    for number in range(1, 11):
        told = json.loads(files[f"memory/v{number - 1}.json"])["git_commit_hash"]
        assert told == (commits[number].sha if number in commits else None)
    _, *rows = rows_of(files["performance.md"])
    assert [row[1] for row in rows[:5]] == [commits[n].short for n in sorted(commits)]


def test_the_manifest_is_yaml_that_json_can_read(files, sample):
    lines = [line.split(": ", 1) for line in files["manifest.yaml"].splitlines()]
    known = {name: json.loads(value) for name, value in lines}
    assert known["target_op"] == "softmax"
    assert known["target_shapes"]["1024x1024"] == {"N": 1024, "D": 1024}
    assert (known["max_iterations"], known["primary_metric"]) == (10, "GB/s")
    best = Commit.objects.get(round__campaign=sample, round__number=10)
    assert (known["git_commit"], known["git_branch"]) == (best.sha, best.branch)
    assert known["created"] == sample.created_at.isoformat(timespec="minutes")


def test_what_people_and_candidates_wrote_stays_text(files):
    for name, text in files.items():
        if name.endswith(".md"):
            assert "<script" not in text, name
            assert "<img" not in text, name
    assert "&lt;script>" in files["rounds/round-5/summary.md"]
    # Sources and logs are no Markdown and stay what they were.
    assert HOSTILE in files["rounds/round-5/artifacts/build.log"]


def test_the_readme_has_its_citations_as_the_wiki_writes_them(sample, files):
    cited = campaign_sheet(sample, timezone.now()).target.citations
    assert cited
    for one in cited:
        assert f"| `{one.citation}` |" in files["README.md"]
    assert "&lt;-" not in files["README.md"]


def test_a_bar_in_a_column_name_is_escaped(files):
    assert r"| largest \|error\| |" in files["v0/correctness.md"]


def test_the_same_records_make_the_same_bytes(sample):
    first = trail_archive(sample)
    assert trail_archive(sample) == first
    with zipfile.ZipFile(io.BytesIO(first)) as packed:
        assert packed.testzip() is None
        folder = trail_name(sample)
        assert all(name.startswith(f"{folder}/") for name in packed.namelist())


def test_a_campaign_that_still_runs_has_a_trail_of_what_is_closed(db):
    running = build_sample(rounds=3, running=True)
    files = trail_files(running)
    assert "rounds/round-3/summary.md" in files
    assert "rounds/round-4/summary.md" not in files
    assert "Not ended" in files["logs/optimize.md"]


def test_there_is_one_before_a_round_is_closed(sample):
    empty = replace(archive.trail_of(sample), rounds=())
    for written in archive.FORMATS.values():
        assert all(text for _, text in written.files(empty))


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a//b", "a/../b", ".git/config", "a b"])
def test_no_name_leads_out_of_the_archive(sample, monkeypatch, name):
    written = archive.TrailFormat(data=lambda trail: [(name, "")])
    monkeypatch.setattr(archive, "FORMATS", {"another": written})
    with pytest.raises(ValueError, match="can not be a file of an archive"):
        trail_files(sample)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a | b", r"a \| b"),
        ("<b>&amp;", "&lt;b>&amp;amp;"),
        ("a < b && c <- d", "a < b && c <- d"),
        (
            "x [copy: 4.2 TB/s <- <gpu-wiki>/docs/a-b.md:L11]; <i>",
            r"x \[`copy: 4.2 TB/s <- <gpu-wiki>/docs/a-b.md:L11`\]; &lt;i>",
        ),
        ("two\nlines\u202e", "two lines"),
        ("[x](y) `z` *w*", r"\[x\](y) \`z\` \*w\*"),
    ],
)
def test_it_escapes_what_markdown_would_read(text, written):
    assert said(text) == written


def test_no_source_closes_its_fence():
    lines = fenced("a\n````\nb", "cpp")
    assert (lines[0], lines[-1]) == ("`````cpp", "`````")


def test_r41_tips_have_four_fields_and_the_round_that_they_rest_on(sample, files):
    trail = archive.trail_of(sample)
    rounds = trail.tips
    tips = list(tips_of("tips.md", files["tips.md"]))
    assert 1 < len(rounds) <= 5
    assert len(tips) == 4 * len(rounds)
    by_field = {tip.field: tip.value for tip in tips}
    for one in rounds:
        name = f"round-{one.number} {'ACCEPTED' if one.is_kept else 'ROLLED BACK'}"
        assert by_field[f"{name}: Takeaway"] == one.word.told(one.sentence)
        assert by_field[f"{name}: Context"].startswith("softmax in cuda on NVIDIA H200 SXM; ")
        assert f"against round {one.against} " in by_field[f"{name}: Applicability"]
        assert by_field[f"{name}: Signal"]
    # What was wrong, cheated or fast beyond physics teaches nothing about speed.
    assert not {7, 8} & {one.number for one in rounds}


def test_a_decision_says_its_word_once(sample, files):
    for name in ("logs/optimize.md", "tips.md"):
        assert re.search(r":\*\* Accepted: \d", files[name])
        assert not re.search(r"(accepted|rejected|invalid): \1\b", files[name], re.IGNORECASE)


def test_tips_that_say_the_word_twice_are_read_as_well(files):
    once = files["tips.md"]
    twice = once.replace("** Accepted:", "** accepted: Accepted:")
    found = [[tip.field for tip in tips_of("tips.md", text)] for text in (once, twice)]
    assert once != twice
    assert found[0] == found[1]


def test_a_campaign_without_a_result_has_no_tips(sample):
    empty = replace(archive.trail_of(sample), rounds=())
    assert "N/A" in dict(archive.FORMATS["tips"].files(empty))["tips.md"]
