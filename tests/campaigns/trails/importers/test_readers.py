"""Trails of the four source systems are read as they are: claims with places, and what is missing.

The trails are written afresh from the systems' schemas, each with the oddities of its own.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from campaigns.trails.importers.claims import System, TrailRefused
from campaigns.trails.importers.markdown_reader import sections, tables
from campaigns.trails.importers.trail import claimed_in, read_path, system_of

TRAILS = Path(__file__).parent / "trails"
SYSTEMS = {
    "atrex": System.ATREX,
    "skill": System.SKILL,
    "optimize": System.OPTIMIZE,
    "kernel_opt": System.KERNEL_OPT,
    "experiences": System.SKILL,
}


def claimed(name: str):
    return claimed_in(read_path(TRAILS / name).files)


def claim(one, field):
    return next(c for c in one.claims if c.field == field)


@pytest.mark.parametrize(("name", "system"), SYSTEMS.items())
def test_it_tells_who_wrote_a_trail(name, system):
    assert system_of(read_path(TRAILS / name).files) is system


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_claim_stands_where_it_says(name):
    files = read_path(TRAILS / name).files
    found = claimed_in(files)
    claims = [*found.claims, *found.tips, *(c for one in found.rounds for c in one.claims)]
    assert len(claims) > 20
    for one in claims:
        lines = files[one.path].splitlines()
        assert 1 <= one.line <= len(lines)
        if isinstance(one.value, str) and " · " not in one.value and "\n" not in one.value:
            around = " ".join(lines[one.line - 1 : one.line + 4])
            assert one.value.split()[0].strip("'") in around.replace("\\u00b1", "±"), one


def test_it_reads_versions_with_their_masks():
    found = claimed("atrex")
    rows = [(o.name, o.figure, o.status, o.kept, o.masked) for o in found.rounds]
    assert rows == [
        ("v0", 51.25, "PASS", True, False),
        ("v1", 45.0, "PASS", True, True),
        ("v2", None, "FAIL", False, False),
        ("v3", 45.0, "PASS", True, False),
    ]
    second = found.rounds[1]
    assert second.hypothesis == "Load sixteen bytes at a time"
    assert second.rationale.startswith("narrow loads")
    assert (second.unit, second.metric) == ("us", "latency")
    # A hash of digits alone was stored as a number by its own tool.
    assert claim(second, "git_commit_hash").value == 1234567890
    assert claim(second, "performance.comparison_with_previous.latency_delta").value == "-12 %"
    assert "performance.latency_us" in found.rounds[2].missing
    assert "git_commit_hash" in found.rounds[3].missing
    assert (found.platform, found.backend, found.operator) == ("MI300X", "Gluon", "softmax")
    assert {"incumbent", "stop reason"} <= {*found.missing}


def test_it_reads_folders_of_versions():
    found = claimed("skill")
    rows = [(o.name, o.figure, o.unit, o.status, o.kernel) for o in found.rounds]
    assert rows == [
        ("v0", 3.4769, "ms", "PASS", "v0/v0.cu"),
        ("v1", 0.4516, "ms", "PASS", "v1/v1.cu"),
        ("v2", 0.4516, "ms", "FAIL", "v2/v2.cu"),
    ]
    assert all(one.kept is None for one in found.rounds)
    first, second, third = found.rounds
    assert "hypothesis" not in first.missing
    assert second.hypothesis == "One block per row instead of one thread"
    assert second.rationale.endswith("and the lanes of a warp read a row apart")
    assert "rationale" in third.missing
    assert (found.incumbent, found.stop_reason) == ("v1", "max iterations")
    assert (found.platform, found.backend) == ("NVIDIA RTX A6000", "cuda")
    assert "caches warm" in second.convention


def test_it_reads_experiences_with_the_gains_that_they_claim():
    found = claimed("experiences")
    rows = [(o.name, o.figure, o.unit, o.status, o.line) for o in found.rounds]
    assert rows == [
        ("experience 1", 0.4516, "ms", "success", 17),
        ("experience 2", None, "ms", "failure", 35),
    ]
    first, second = found.rounds
    assert first.title == "softmax [cuda]: block_per_row{threads=256}"
    assert (first.gain.value, first.gain.line) == (7.7, 18)
    assert claim(first, "metrics_before.latency_ms").value == 3.4769
    assert second.gain is None
    assert {"optimization", "latency after", "speedup"} <= {*second.missing}
    told = [figure.words for figure in found.figures]
    assert told == ["experiences: 2 (1 failure, 1 success)", "largest claimed gain: 7.7×"]


def test_experiences_beside_versions_come_after_them():
    files = read_path(TRAILS / "skill").files
    (own,) = read_path(TRAILS / "experiences").files.values()
    found = claimed_in({**files, "experience/experiences.json": own})
    names = ["v0", "v1", "v2", "experience 1", "experience 2"]
    assert [one.name for one in found.rounds] == names
    assert found.rounds[3].path == "experience/experiences.json"


def test_a_time_comes_from_the_report_where_the_profile_is_lost(tmp_path):
    shutil.copytree(TRAILS / "skill", tmp_path / "run")
    (tmp_path / "run" / "v2" / "ncu_summary.md").unlink()
    third = claimed_in(read_path(tmp_path / "run").files).rounds[2]
    assert (third.figure, third.path, third.line) == (0.4515, "final_report.md", 7)
    assert "profile" in third.missing


def test_it_reads_rounds_with_their_corrections():
    found = claimed("optimize")
    rows = [(o.number, o.status, o.figure, o.kept) for o in found.rounds]
    assert rows == [
        (1, "BASELINE", 300.0, True),
        (2, "ACCEPTED", 310.071, True),
        (3, "ROLLBACK", 0.0, False),
        (4, "ROLLBACK", 309.9, False),
        (2, "ACCEPTED", 310.077, True),
        (5, "", None, None),
    ]
    assert found.rounds[4].amends == "logs/performance_trend.md:L6"
    assert found.rounds[0].unit == "TFLOPS"
    assert found.rounds[1].hypothesis.startswith("A tile of 256 columns")
    assert {"summary.md", "Fwd Avg", "hypothesis"} <= {*found.rounds[2].missing}
    assert found.rounds[2].kernel == "rounds/round-3/kernel_snapshot/gemm.py"
    assert {"row in the trend", "kernel_snapshot"} <= {*found.rounds[5].missing}
    assert (found.operator, found.backend, found.platform) == ("gemm_fp8", "TRITON", "MI355X")
    # A log that only grows names its best again and again; the last counts.
    assert found.incumbent == "round-2"
    assert found.stop_reason.startswith("T1 not set")
    assert "performance_target" in found.missing
    assert [tip.field.partition(": ")[2] for tip in found.tips] == [
        *("Context", "Signal", "Takeaway", "Applicability")
    ]


def test_it_reads_what_was_kept_and_the_last_regressions():
    found = claimed("kernel_opt")
    rows = [(o.name, o.status, o.figure, o.kept) for o in found.rounds]
    assert rows == [
        ("36373cc", "baseline", 41.2, True),
        ("9ab01ef", "keep", 38.45, True),
        ("77c4d02", "split", 37.9, True),
        ("1", "regression", 39.02, False),
        ("2", "regression", 38.6, False),
    ]
    assert found.incumbent == "77c4d02"
    assert found.stop_reason == "5 consecutive measured regressions"
    assert "gpu time" in found.rounds[2].missing
    assert "rounds that were tied or failed" in found.missing


WRONG = [
    ("atrex", "memory/v1.json", ('"PASS"', '"BANANA"'), r"memory/v1\.json:L31: correctness"),
    ("atrex", "memory/v1.json", ("45.0", '"abc"'), "performance.latency_us: 'abc'; accepted: a n"),
    ("atrex", "memory/v1.json", ('"v1"', '"v7"'), r"L2: version: 'v7'; accepted: v1"),
    ("atrex", "memory/v1.json", ("45.0", "NaN"), r"memory/v1\.json:L6: .*NaN"),
    ("atrex", "memory/v1.json", ("45.0", "1e999"), "no finite number"),
    ("atrex", "memory/v1.json", ('"masked": true', '"masked": "yes"'), "L3: masked: 'yes'"),
    ("atrex", "memory/v1.json", ('"v1",', '"v1"'), r"memory/v1\.json:L3: .*no JSON"),
    ("atrex", "memory/v1.json", ('"memory_bound"', '"\\u0000"'), "NUL or half a character"),
    ("skill", "v1/ncu_summary.md", ("0.4516 ms", "fast"), r"v1/ncu_summary\.md:L7: .*a number"),
    ("skill", "v1/ncu_summary.md", ("0.4516 ms", "451 us"), "the unit 'us'; accepted: ms"),
    ("experiences", "experiences.json", ('"success"', '"great"'), "L17: outcome: 'great'; acc"),
    ("experiences", "experiences.json", ("7.7", '"7.7x"'), r"L18: speedup: '7\.7x'; accepted: a n"),
    ("experiences", "experiences.json", ("[\n", "[7,\n"), "entry 1; accepted: a JSON object"),
    ("skill", "v1/hypothesis.txt", ("Hypothesis:", "Idea"), r"L1: .*accepted: lines that begin"),
    ("optimize", "logs/performance_trend.md", ("ROLLBACK", "MAYBE"), "L7: Status: 'MAYBE'; acc"),
    ("optimize", "logs/performance_trend.md", ("| 300.000 ", "| much "), "L5: .*'much'"),
    ("optimize", "logs/performance_trend.md", ("| As it is ", ""), "L5: a row of 9 cells"),
    ("optimize", "manifest.yaml", ("gemm_fp8", "!!python/name:os.system x"), "L2: target_op: the"),
    ("optimize", "manifest.yaml", ("gemm_fp8", "&a gemm"), "L2: an alias"),
    ("optimize", "manifest.yaml", ("gemm_fp8", "[a"), r"manifest\.yaml:L3: no YAML"),
    (
        "optimize",
        "manifest.yaml",
        ("iterations: 40", "iterations: many"),
        r"manifest\.yaml:L20: max_iterations: 'many'",
    ),
    ("optimize", "tips.md", ("- **Signal:**", "- Noise"), "L3: tip round-3 .* without Signal"),
    ("kernel_opt", "performance.md", ("| keep ", "| kept? "), r"performance\.md:L6: Status"),
    ("kernel_opt", "performance.md", ("| 38.45 ", "| quick "), "L6: us: 'quick'; accepted: a num"),
]


@pytest.mark.parametrize(("name", "path", "edit", "said"), WRONG)
def test_what_is_wrong_is_named_with_file_line_and_field(tmp_path, name, path, edit, said):
    folder = tmp_path / name
    shutil.copytree(TRAILS / name, folder)
    text = (folder / path).read_text()
    assert edit[0] in text
    (folder / path).write_text(text.replace(*edit, 1))
    with pytest.raises(TrailRefused, match=said) as error:
        claimed_in(read_path(folder).files)
    assert path in str(error.value)
    assert "accepted: " in str(error.value)


TREND = "logs/performance_trend.md"


def trend(head: str, *rows: str) -> dict[str, str]:
    """The campaign folder with this trend in place of its own."""
    marks = "|".join("---" for _ in head.split(" | "))
    text = "\n".join([f"| {head} |", f"|{marks}|", *(f"| {row} |" for row in rows)])
    return {**read_path(TRAILS / "optimize").files, TREND: text}


@pytest.mark.parametrize(
    ("head", "rows", "unit"),
    [
        ("Round | Status | Forward TFLOPS", ("1 | BASELINE | 400.5", "2 | ROLLBACK | 0"), "TFLOPS"),
        ("Round | Status | Forward GB/s", ("1 | BASELINE | 400.5", "2 | ROLLBACK | 0"), "GB/s"),
        ("Round | Status | Fwd Avg | Fwd Peak", ("1 | BASELINE | 400.5 | 410",), ""),
        (
            "Round | Status | Forward Time (ms) | Forward TFLOPS_stddev | Forward TFLOPS",
            ("1 | BASELINE | 0.5 | 2.5 | 400.5",),
            "TFLOPS",
        ),
        (
            "Round | Status | Fwd Avg | Bwd Avg | Combined Step TFLOPS",
            ("1 | BASELINE | 400.5 | - | -", "2 | ROLLBACK | - | - | -"),
            "",
        ),
    ],
)
def test_a_forward_only_trend_is_ranked_by_its_forward_column(head, rows, unit):
    first = claimed_in(trend(head, *rows)).rounds[0]
    assert (first.name, first.figure, first.unit) == ("round-1", 400.5, unit)
    assert "forward alone" in first.convention


def test_a_trend_without_a_speed_is_refused():
    with pytest.raises(TrailRefused, match=r"L1: .*one of Combined Step <unit>, Forward <unit> or"):
        claimed_in(trend("Round | Status | Joy", "1 | BASELINE | 4"))


def test_a_number_that_is_no_version_is_refused(tmp_path):
    shutil.copytree(TRAILS / "atrex", tmp_path / "run")
    (tmp_path / "run" / "memory" / "v1abc.json").write_text("{}")
    with pytest.raises(TrailRefused, match=r"v1abc\.json: the file's name; accepted: memory/v<N>"):
        claimed_in(read_path(tmp_path / "run").files)


def test_it_does_not_choose_between_two_systems(tmp_path):
    shutil.copytree(TRAILS / "atrex", tmp_path / "run")
    shutil.copy(TRAILS / "kernel_opt" / "performance.md", tmp_path / "run")
    files = read_path(tmp_path / "run").files
    with pytest.raises(TrailRefused, match=r"files of atrex-kernel-agent .*, kernel-opt .*source"):
        claimed_in(files)
    assert claimed_in(files, System.ATREX).system is System.ATREX
    with pytest.raises(TrailRefused, match="no file that tells who wrote this trail"):
        claimed_in({"notes.md": "nothing"})


def mutilated(text: str, dice: random.Random) -> str:
    """The text with a line lost, doubled, cut short, or with some characters in it."""
    lines = text.splitlines(keepends=True)
    place = dice.randrange(len(lines))
    line = lines[place]
    odd = dice.choice(["|", ":", "-", "{", "]", '"', "\\", "\u2028", "#", "`" * 3, "&a ", "1e999"])
    at = dice.randrange(len(line) + 1)
    lines[place] = dice.choice(["", line * 2, line[:at], line[:at] + odd + line[at:]])
    return "".join(lines)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_damaged_trail_is_read_or_refused_and_nothing_else(name):
    dice, files = random.Random(7), read_path(TRAILS / name).files
    outcomes = set()
    for _ in range(300):
        path = dice.choice(sorted(files))
        try:
            claimed_in({**files, path: mutilated(files[path], dice)}, SYSTEMS[name])
            outcomes.add("read")
        except TrailRefused as error:
            outcomes.add("refused" if "accepted: " in str(error) else str(error))
    assert outcomes == {"read", "refused"}


def test_what_is_fenced_is_no_table_and_a_long_line_no_prose():
    text = "# A\n\n```\n| a | b |\n|---|---|\n| 1 |\n```\n\n# " + " " * 1_000_000 + "x\n"
    assert tables("a.md", text) == []
    assert [one.title for one in sections(text)] == ["", "A"]


BARS = """# Correctness

| Field | Value |
|-------|-------|
| **Result** | **ALL PASS** |

| Tensor | Pass | Max |Δ| | Mean |Δ| |
|--------|:----:|--------:|---------:|
| y | ✓ | 1.0e-07 | 1.0e-08 |
"""


def test_a_bar_without_blanks_around_it_is_part_of_a_cell():
    (table,) = tables("a.md", BARS)[1:]
    assert table.head == ("Tensor", "Pass", "Max |Δ|", "Mean |Δ|")
    (row,) = table.rows
    assert (row.line, row.cells) == (9, ("y", "✓", "1.0e-07", "1.0e-08"))


def test_a_trail_with_bars_in_the_head_of_a_table_is_read():
    files = read_path(TRAILS / "skill").files
    (first, *_) = claimed_in({**files, "v0/correctness.md": BARS}).rounds
    assert (first.name, first.status, first.figure) == ("v0", "PASS", 3.4769)
