"""Each format is read from a small golden file, to the drafts that it stands for."""

from pathlib import Path

import pytest

from knowledge.experience.readers.drafts import judge
from knowledge.experience.readers.optimisation_log import shape_of, strategy_and_params
from knowledge.experience.readers.recognise import read_files
from knowledge.experience.readers.spellings import BOTTLENECKS, architecture, nearest_of, our_name
from knowledge.experience.terms import AttemptLabel, Bottleneck

GOLDEN = Path(__file__).parents[1] / "golden"
TIPS = "historical/gfx950/grouped_gemm_fp8/triton/tips.md"


def read(*names):
    return read_files({name: (GOLDEN / name).read_text() for name in names})


def test_the_log_of_the_second_system():
    found = read("experiences.json")
    assert (found.formats, found.faults) == (["experiences.json"], [])
    gemm, softmax, mha = found.attempts
    assert gemm.names == {
        "op": "gemm", "dtype": "", "backend": "cuda", "platform": "sm_86",
        "bottleneck": "memory", "strategy": "two-tiles-a-barrier",
    }  # fmt: skip
    assert gemm.values["params"] == {"tiles": 2}
    # From the latencies; its own speedup was rounded to 1.02.
    assert gemm.values["gain"] == pytest.approx(0.7068 / 0.6911 - 1)
    assert gemm.values["label"] == AttemptLabel.SMALL
    assert softmax.values["shapes"] == [{"N": 4096, "D": 4096}]
    assert softmax.values["label"] == AttemptLabel.REGRESSION
    assert softmax.values["metrics"]["before"]["memory_sol"] == 93.72
    assert softmax.values["external"] == "experiences.json 2 v3"
    assert mha.values["gain"] == pytest.approx(0.71)
    assert "rounded" in mha.values["notes"]
    assert mha.values["shapes"] == [{"M": 1024, "N": 1024, "K": 64}]


def test_what_stands_in_the_log_twice_is_taken_once():
    (left,) = read("experiences.json").left_out
    assert left.place == "experiences.json:L24"
    assert left.why == "recorded twice: it says the same as L2"


def test_the_tips_of_the_third_system():
    found = read(TIPS)
    kept, undone, cache = found.lessons
    scope = {"platform": "gfx950", "op": "grouped_gemm_fp8", "backend": "triton"}
    assert [lesson.names for lesson in found.lessons] == [scope] * 3
    assert (kept.line, kept.avoid, undone.avoid) == (5, False, True)
    assert kept.applicability == "Not where the kernel spills\nor where it needs all registers."
    assert cache.cached
    assert not kept.cached


# As people write them down: headings with what stands below, bullets in bold, no form.
FREE = """# gfx950, gemm: tips

Append here, one for each round.

## Wide loads pay off where rows are long

- Observation: loads of 16 bytes took 27 % less.
- Rule: ask for them where a row has 4096 elements.

```
# no heading
```

## Compiler
Two quirks.

### Registers
They run out early.
- **A second accumulator spills.** It costs 24 registers
  and gains nothing.
- **Two stages** are enough: three gain 0.1 %. More is noise.

## Dead ends
- Keep the quantised weight keyed on `(id, version)`.

### 2026-01-01 round-4 — ACCEPTED
- Context: a persistent kernel
- Signal: 2 % faster
- Takeaway: one program a core
- Applicability: large rows

## Caches
- Keep the scales keyed on `(id, version)`.
"""


def test_tips_without_a_form_are_lessons_by_heading_or_by_bullet():
    found = read_files({"t/gfx950/gemm/triton/tips.md": FREE})
    assert not found.faults
    told = [(one.line, one.avoid, bool(one.cached), one.takeaway) for one in found.lessons]
    assert told == [
        (5, False, False, "Wide loads pay off where rows are long"),
        # Also what stands above a deeper heading, and above the first bullet.
        (14, False, False, "Compiler"),
        (17, False, False, "Registers"),
        (19, False, False, "A second accumulator spills."),
        (21, False, False, "Two stages are enough:"),
        (23, True, False, "Dead ends"),
        (26, False, False, "one program a core"),
        (32, False, True, "Caches"),
    ]
    wide, compiler, _, spills, *_ = found.lessons
    assert compiler.signal == "Two quirks."
    assert wide.signal.startswith("- Observation: loads of 16 bytes")
    assert "# no heading" in wide.signal
    assert spills.signal == "It costs 24 registers\nand gains nothing."
    assert spills.context == "Tips of gfx950, gemm, triton: Compiler / Registers"
    assert spills.names == {"platform": "gfx950", "op": "gemm", "backend": "triton"}


def test_other_markdown_has_no_lessons_without_a_form():
    assert not read_files({"notes.md": FREE.partition("### 2026")[0]}).lessons


def test_tips_away_from_their_folders_say_their_scope_themselves():
    found = read_files({"tips.md": (GOLDEN / TIPS).read_text()})
    assert found.lessons[0].names["platform"] == "gfx950"
    assert found.lessons[0].names["backend"] == "TRITON"


def test_an_anti_strategy_of_the_first_system_is_a_lesson_to_avoid():
    (lesson,) = read("anti.json").lessons
    assert lesson.avoid
    assert lesson.takeaway == "Do not split short rows"
    assert lesson.signal.startswith("The second launch cost more")
    assert "D<=1024" in lesson.applicability
    assert lesson.names == {
        "op": "layer_norm", "backend": "triton", "platform": "hopper",
        "bottleneck": "launch-overhead",
    }  # fmt: skip


def test_a_strategy_with_a_measured_gain_is_an_attempt():
    record = (GOLDEN / "anti.json").read_text().replace('"anti-strategy"', '"strategy"')
    measured = '"raw": {"effect": {"parent_geomean_us": 12.0, "new_geomean_us": 10.0}}'
    (attempt,) = read_files({"r.json": record.replace('"raw": {}', measured)}).attempts
    assert attempt.values["gain"] == pytest.approx(0.2)
    assert attempt.names["strategy"] == "split-row"


def test_what_did_not_work_in_the_third_system():
    line = (
        '{"round": 4, "direction": "Larger tiles", "reason": "no gain", "modified_files": ["k.py"]}'
    )
    path = "agent/workspace/gemm_triton_mi355x_20260420/verified_ineffective.jsonl"
    (attempt,) = read_files({path: f"{line}\n"}).attempts
    assert attempt.values["label"] == AttemptLabel.TIE
    assert attempt.names["op"] == "gemm"
    assert attempt.names["platform"] == "mi355x"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "[1]", "not recognised; accepted: experiences.json, knowledge records"),
        ("a.json", '{"schema": "kopt-unknown"}', "not recognised"),
        ("experiences.json", '[\n{"kernel": "mm"}\n]', "experiences.json:L2: outcome: ''"),
        ("experiences.json", '[{"kernel":\n "mm", "outcome": "success",\n "speedup": "1.2"}]',
         "experiences.json:L3: speedup: accepted: a number or null"),
        ("experiences.json", '[{"outcome": "success", "speedup": NaN}]', "NaN is no JSON number"),
        ("experiences.json", '[{"outcome": "success", "speedup": 1e999}]', "a finite number"),
        ("experiences.json", '[{"outcome": "success", "notes": "a\\u0000b"}]',
         "notes: it holds a NUL"),
        ("experiences.json", '[{"outcome": "success", "notes": "\\ud800"}]',
         "notes: it holds half"),
        ("experiences.json", '[{"outcome": "success", "colour": 1}]', "colour: unknown field"),
        ("experiences.json", "[\n{\n", "L3: no JSON at line 3"),
        ("experiences.json", '[{"outcome": "success", "id": 1, "id": 2}]', "stands twice"),
        ("experiences.json", "[" * 99 + "]" * 99, "nested too deep"),
        ("tips.md", "### 2026-01-01 round-2 — ACCEPTED\n- Context: a\n", "L1: signal: is missing"),
        ("tips.md", "\n### 2026-01-01 round-2 — KEPT\n", "L2: outcome: 'KEPT'; accepted: ACCEPTED"),
        ("x/verified_ineffective.jsonl", '{"direction": "a"}\n{"round": 1}\n',
         "L2: direction: is missing"),
        ("a.csv", "uuid,label,strategy,colour\n", "L1: colour: unknown column"),
        ("a.csv", "uuid,label,strategy,gain\n,tie,x,fast\n", "L2: gain: 'fast'"),
        ("a.csv", "uuid,label,strategy\n,tie\n", "L2: accepted: as many cells"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_line_and_field(name, text, said):
    found = read_files({name: text})
    assert said in str(found.faults[0])
    assert found.rows <= 1


def test_every_spelling_of_the_real_logs_is_known():
    spelled = ("memory", "memory-bound", "memory_bound", "compute-bound", "latency-bound",
               "occupancy-bound", "grid_anomaly",
               "resource", "launch", "stall", "unknown")  # fmt: skip
    assert all(our_name("bottleneck", name) for name in spelled)
    assert set(BOTTLENECKS) == {each.value for each in Bottleneck}
    assert our_name("op", "GEMM") == our_name("op", "mm") == "matmul"
    assert our_name("op", "layer_norm") == our_name("op", "ln") == "layernorm"
    assert our_name("op", "bmm") == "batched_matmul"
    assert our_name("dtype", "bf16") == "bfloat16"
    assert our_name("op", "—") == ""
    assert our_name("op", "frobnicate") is None
    assert nearest_of("op", "grouped_gemm_fp8")[0] == "grouped_gemm"
    assert [architecture(name) for name in ("SM_90a", "sm90", "gfx942", "H100")] == [
        "sm_90", "sm_90", "gfx942", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("M=1024,K=512,N=256", {"M": 1024, "K": 512, "N": 256}),
        ("N=4096 D=128", {"N": 4096, "D": 128}),
        ("1024x512", {"d0": 1024, "d1": 512}),
        ("large", {}),
    ],
)
def test_sizes_in_free_text(text, shape):
    assert shape_of(text) == shape


def test_parameters_in_braces():
    assert strategy_and_params("tile{M=16, order=row}") == ("tile", {"M": 16, "order": "row"})
    assert strategy_and_params("Pad by {x") == ("Pad by {x", {})


@pytest.mark.parametrize(
    ("stated", "gain", "label", "noted"),
    [
        ("success", 0.10, "success", False),
        ("success", 0.016, "micro", False),  # R12: 1 to 2 %
        ("success", 0.005, "tie", True),
        ("neutral", 0.03, "small", True),
        ("failure", -0.04, "regression", False),
        ("failure", 0.30, "incorrect", True),  # only a wrong answer fails with such a gain
        ("failure", None, "tie", False),
        ("incorrect", 0.5, "incorrect", False),
    ],
)
def test_the_label_is_computed_and_another_claim_is_noted(stated, gain, label, noted):
    """R12 and R37."""
    found, note = judge(stated, gain)
    assert (found.value, bool(note)) == (label, noted)
