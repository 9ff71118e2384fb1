"""Problems of other people's kinds, written afresh for these tests: each is read and judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.devices.problem_code import described_problem
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.import_.definitions import read_definition
from campaigns.problems.import_.draft import Given, ProblemDraft, as_read
from campaigns.problems.import_.gpu_mode import read_task
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.steps.problems import written_files
from tests.evaluator import small

EXAMPLES = Path(__file__).parent / "examples"
FOUND = sorted(
    path
    for pattern in ("kernel_bench/*.py", "definitions/*.json", "gpu_mode/*/task.yml")
    for path in EXAMPLES.glob(pattern)
)
# Those that `make test` has judged.
SAMPLE = ("causal_attention", "cross_entropy", "group_quantise", "conv_with_kind")
# Triton's interpreter computes bfloat16 wrongly, so nothing in it is judged without a GPU.
NOT_HERE = ("short_swiglu",)


def name_of(path: Path) -> str:
    return path.parent.name if path.suffix == ".yml" else path.stem


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def read(path: Path) -> ProblemDraft:
    if path.suffix == ".py":
        return propose(Given("", "", path.name, path.read_text()))
    if path.suffix == ".json":
        return read_definition(path.read_text(), text(path.with_suffix(".jsonl")))
    reference, submission = path.with_name("reference.py"), path.with_name("submission.py")
    return read_task(path.parent.name, path.read_text(), text(reference), text(submission))


@pytest.fixture(scope="module")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running


def test_there_are_examples_of_each_kind() -> None:
    kinds = [path.relative_to(EXAMPLES).parts[0] for path in FOUND]
    assert {kind: kinds.count(kind) for kind in {*kinds}} == {
        "kernel_bench": 20,
        "definitions": 10,
        "gpu_mode": 5,
    }
    assert {*SAMPLE} < {*map(name_of, FOUND)}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=name_of(path),
            marks=[pytest.mark.sentinel] if name_of(path) in SAMPLE else [],
        )
        for path in FOUND
    ],
)
def test_it_is_read_and_its_reference_passes_as_the_first_kernel(
    path: Path, service: EvaluatorService, tmp_path: Path
) -> None:
    draft, place = read(path), tmp_path / "first"
    place.mkdir()
    case = load_problem(written_files(written(draft), place)).cases[0]
    draft = as_read(draft, described_problem(place / "problem", case)["arguments"])
    folder = written_files(written(draft), tmp_path)
    spec = load_problem(folder)
    kernel = Source("v0.py", (folder / "v0.py").read_text())
    job = small.job(
        folder,
        tmp_path,
        kernel,
        backend="triton",
        target="sm_90a",
        timed=False,
        cases=tuple(case.case for case in spec.cases),
    )
    report = service.evaluate(job)
    wanted = Outcome.NOT_JUDGED if name_of(path) in NOT_HERE else Outcome.PASSED
    assert report.outcome is wanted, f"{report.reason}\n{report.build_log}"
