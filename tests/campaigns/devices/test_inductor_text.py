"""What Inductor writes for a reference comes out of its box as text, whatever that one does."""

import pytest

from campaigns.devices import problem_code
from campaigns.devices.problem_code import inductor_text
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError
from tests.evaluator.small import REF, write_problem

SIZES = Case("n4096", {"N": 4096}), Case("n64", {"N": 64})
ENTRY = "def reference("
# Writes into every file that its process has open, the one of its answer too.
FORGES = """
import os
for fd in range(3, 200):
    try:
        os.pwrite(fd, {data}, 0)
    except OSError:
        pass
os._exit(0)
"""


@pytest.fixture
def text_of(tmp_path):
    def ask(ref, target=""):
        return inductor_text(write_problem(tmp_path, ref=ref), *SIZES, target)

    return ask


def within(line):
    """The reference with a line of its own before it computes."""
    head, name, rest = REF.partition(ENTRY)
    signature, _, body = rest.partition(":\n")
    return f"{head}{name}{signature}:\n    {line}\n{body}"


@pytest.mark.parametrize(("target", "made"), [("", "cpp_pybinding"), ("sm_90a", "@triton.jit")])
def test_it_is_text_for_a_cpu_and_without_a_gpu_for_one(text_of, target, made):
    # What it prints goes nowhere, and a child of it goes with the box.
    found = text_of(within("import os; os.fork() or os._exit(print('{', flush=True))"), target)
    assert made in found.text
    assert [name for name, _ in found.inputs] == ["x", "y", "N"]
    # The size is an argument, and no literal.
    assert "4096L" not in found.text


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("import os; os._exit(0)", "its process ended"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("if x.sum() > 0: x = x + 1", "Inductor"),
    ],
)
def test_a_reference_that_it_makes_nothing_of_is_refused(text_of, line, why):
    with pytest.raises(ProblemError, match=why):
        text_of(within(line))


def test_one_without_an_end_is_ended(text_of, monkeypatch):
    monkeypatch.setattr(problem_code, "LIMIT_S", 9.0)
    with pytest.raises(ProblemError, match="no answer in 9 s"):
        text_of(within("while True: pass"))


@pytest.mark.parametrize(
    "data",
    [
        "b'nonsense'",
        """b'{"answer": {"text": "", "inputs": [["a b", "float32"]]}}' """,
        """b'{"answer": {"text": "' + b'x' * 70000 + b'", "inputs": []}}' """,
        """b'{"answer": {"text": "' + b'x' * (3 << 20) + b'", "inputs": []}}' """,
    ],
)
def test_an_answer_that_is_forged_is_read_strictly(text_of, data):
    with pytest.raises(ProblemError, match=r"no answer of ours|process ended"):
        text_of(FORGES.format(data=data))
