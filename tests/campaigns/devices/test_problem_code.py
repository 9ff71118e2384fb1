"""The program that asks a problem's code: it waits for the next order, and keeps nothing of one."""

import pytest

from campaigns.devices import problem_code
from campaigns.devices.problem_code import work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError
from tests.evaluator.small import REF, TOML

# A mark in what every order's process has from the program that it is forked from.
LEAVES_A_MARK = "assert not hasattr(torch, 'left')\ntorch.left = 1\n"
DRAWS = "return torch.rand(()).item(), 8 * N"


@pytest.fixture
def asked(tmp_path):
    """Operations of a problem with this reference; the first asks a program of its own."""

    def ask(ref):
        folder = tmp_path / "double"
        folder.mkdir(exist_ok=True)
        (folder / "v0.cpp").touch()
        (folder / "problem.toml").write_text(TOML)
        (folder / "ref.py").write_text(ref)
        return work_model(folder, [Case("n4096", {"N": 4096})])["n4096"][0]

    problem_code._end_waiting()
    return ask


def waiting():
    (one,) = problem_code._waiting
    return one._process


def test_one_program_answers_the_next_order_as_if_it_were_the_first(asked):
    ref = REF.replace("import torch\n", f"import torch\n{LEAVES_A_MARK}")
    assert asked(ref) == 4096
    program = waiting()
    assert asked(ref) == 4096
    assert waiting() is program


def test_random_numbers_of_two_orders_differ(asked):
    ref = REF.replace("return N, 8 * N", DRAWS)
    assert asked(ref) != asked(ref)


def test_another_is_started_for_one_that_ended(asked):
    asked(REF)
    waiting().kill()
    waiting().wait()
    assert asked(REF) == 4096


def test_another_is_started_for_another_sandbox(asked, settings):
    asked(REF)
    program = waiting()
    settings.KOPT_RUNNER_MIB = 3000
    assert asked(REF) == 4096
    assert waiting() is not program
    assert program.returncode is not None


def test_code_that_ends_its_process_is_told_and_the_program_goes_on(asked):
    with pytest.raises(ProblemError, match="its process ended"):
        asked("import os\nos._exit(3)\n")
    program = waiting()
    assert asked(REF) == 4096
    assert waiting() is program


def test_a_program_that_cannot_start_says_why(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(problem_code, "ROOT", tmp_path)
    with pytest.raises(ProblemError, match="No module named"):
        asked(REF)
    assert problem_code._waiting == []
