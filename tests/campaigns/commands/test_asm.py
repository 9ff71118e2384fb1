"""`asm`: what a file is compiled to, how much of it an SM holds, and what it should be like."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Function, MachineCode, Resources
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.management import one_file
from campaigns.management.base_command import ExitCode
from campaigns.problems.shipped import SHIPPED
from tests.campaigns.commands.test_campaign import Service
from tests.products import thinned

KERNEL = Function(
    "softmax_rows",
    6,
    {"float32": 3, "global_load": 2, "global_store": 1},
    widest_load_bytes=16,
    widths={"global_load": {"16": 1, "4": 1}, "global_store": {"16": 1}},
    resources=Resources(40, spilled=0, stack_bytes=0, shared_bytes=0, threads=256),
    listing="2\tLDG.E.128 R4, [R2]\n1\tS2R R0, SR_TID.X\n0\tEXIT\n",
)
CODE = MachineCode("nvdisasm, sm_90a", (KERNEL,))
pytestmark = pytest.mark.django_db
SOURCE = str(SHIPPED / "softmax" / "v0.py")
TRITON = sorted(path.parent.name for path in SHIPPED.glob("*/v0.py"))


@pytest.fixture
def read(monkeypatch):
    """The command on softmax, where the compiler makes this code of each file in its turn."""

    def run(*options, codes=(CODE,), file=SOURCE):
        left, asked = list(codes), []

        class Told(Service):
            def evaluate(self, job, beat=None):
                asked.append(job)
                self.code = left.pop(0)
                return super().evaluate(job)

        monkeypatch.setattr(one_file, "EvaluatorService", Told)
        call_command("asm", file, "--problem", "softmax", *options)
        return asked

    return run


def test_ptx_is_listed_alone(read, capsys):
    ptx = MachineCode("PTX, sm_90a", (replace(KERNEL, listing="2\tld.global.f32 %f1, [%rd5]\n"),))
    (job,) = read("--ptx", codes=(ptx,))
    said = capsys.readouterr().out
    assert job.read_code == "ptx"
    assert "v0.py (PTX, sm_90a), with the arguments of 1024x1024\nsoftmax_rows\n" in said
    assert said.endswith("         ld.global.f32 %f1, [%rd5]\n")
    assert "registers" not in said


def refusal(read, *options, **more):
    with pytest.raises(CommandError) as refused:
        read(*options, **more)
    assert len(str(refused.value).splitlines()) == 1
    return refused.value.returncode, str(refused.value)


@pytest.mark.usefixtures("wiki_of_module")
class TestWithWiki:
    def test_r28_it_prints_kinds_widths_and_what_a_kernel_takes(self, read, capsys):
        (job,) = read("--case", "4096x4096")
        said = capsys.readouterr().out
        assert (job.device, job.target, [case.name for case in job.cases]) == (
            *("cpu", "sm_90a"),
            ["4096x4096"],
        )
        assert "v0.py (nvdisasm, sm_90a), with the arguments of 4096x4096\nsoftmax_rows\n" in said
        assert "6 instructions: float32 arithmetic 3, loads from global memory 2 (at most" in said
        assert "moves: loads from global memory 1 of 16 B and 1 of 4 B; stores to global" in said
        assert "takes: 40 registers a thread, 0 registers spilled, 0 B of stack a thread" in said

    def test_r29_it_names_limiter_next_step_and_the_lines_that_it_rests_on(self, read, capsys):
        read("--platform", "h200-sxm")
        said = capsys.readouterr().out
        assert "occupancy: 6 blocks, 48 of 64 warps fit (75%), limited by registers; " in said
        assert "32 registers a thread fit 8 blocks in place of 6" in said
        assert "what an SM of NVIDIA H200 SXM (h200-sxm) holds:" in said
        assert "  max_warps_per_sm: 64 warp <- <gpu-wiki>/docs/hardware/h200-sxm.md:L" in said

    def test_without_a_platform_it_is_the_first_of_the_target_by_name(self, read, capsys):
        read("--json")
        found = json.loads(capsys.readouterr().out)
        assert found["platform"] == "h100-nvl"
        assert found["functions"][0]["occupancy"]["limiter"] == "registers"
        assert {one["metric"] for one in found["cited"]} >= {"max_warps_per_sm"}

    def test_a_platform_alone_says_what_to_compile_for(self, read, capsys):
        (job,) = read("--platform", "mi300x")
        assert job.target == "gfx942"
        unknown = "max_workgroups_per_cu: UNKNOWN (gpu-wiki not found)"
        assert unknown in capsys.readouterr().out

    def test_a_platform_of_another_target_is_refused(self, read):
        said = refusal(read, "--platform", "mi300x", "--target", "sm_90a")
        assert said == (ExitCode.USAGE, "platform: mi300x is a gfx942, and not a sm_90a")

    def test_threads_of_a_block_are_given_where_the_code_has_them_not(self, read, capsys):
        used = Resources(40, shared_bytes=0)
        code = MachineCode("nvdisasm, sm_90a", (Function("k", 1, {"other": 1}, resources=used),))
        read(codes=[code])
        assert "occupancy: unknown: the code does not say how many" in capsys.readouterr().out
        read("--threads", "256", codes=[code])
        assert "occupancy: 6 blocks, 48 of 64 warps" in capsys.readouterr().out

    def test_a_target_of_no_platform_in_the_wiki_has_no_occupancy(self, read, capsys):
        read("--target", "sm_87")
        said = capsys.readouterr().out
        assert "  occupancy: UNKNOWN (gpu-wiki not found)" in said
        assert said.endswith("what an SM of a sm_87 holds: UNKNOWN (gpu-wiki not found)\n")


def test_r31_it_says_which_targets_are_met(read, capsys):
    read()
    said = capsys.readouterr().out
    assert "target met: spills, 0 " in said
    assert "target not met: wide_loads, 50 % of " in said
    assert "try tr.hints" in said


def test_it_lists_lines_of_the_source_with_their_instructions(read, capsys, tmp_path):
    file = tmp_path / "k.py"
    file.write_text("first = 1\nsecond = 2\n")
    read("--listing", file=str(file))
    assert (
        "     0 | (no line of the source)\n         EXIT\n"
        "     1 | first = 1\n         S2R R0, SR_TID.X\n"
        "     2 | second = 2\n         LDG.E.128 R4, [R2]\n"
    ) in capsys.readouterr().out
    read("--listing", "--json", file=str(file))
    lines = json.loads(capsys.readouterr().out)["functions"][0]["lines"]
    assert lines[0] == {"line": 2, "instruction": "LDG.E.128 R4, [R2]"}


def test_it_says_what_differs_from_another_file(read, capsys, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("pass\n")
    before = MachineCode("nvdisasm, sm_90a", (Function("k", 8, {"float32": 5, "integer": 3}),))
    now = MachineCode("nvdisasm, sm_90a", (Function("k", 6, {"float32": 5, "branch": 1}),))
    first, second = read("--against", str(other), codes=[now, before])
    assert (first.candidate.name, second.candidate.name) == ("v0.py", "other.py")
    said = capsys.readouterr().out
    assert said.endswith(
        "against other.py:\n  instructions 8 → 6\n  integers 3 → none\n  branches none → 1\n"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "foo"), "target: 'foo'; accepted: sm_80, sm_89, sm_90a, sm_100a, gfx942"),
        (("--case", "no"), "case: 'no'; accepted on gpu: 1024x1024"),
        (("--threads", "0"), "0; accepted: a whole number above zero"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_built(read, options, words):
    code, said = refusal(read, *options, codes=())
    assert code == ExitCode.USAGE
    assert words in said


def test_what_cannot_be_built_ends_with_the_compilers_words(read):
    code = MachineCode("nvdisasm, sm_90a", note="it could not be built: v0.py:3: error: no")
    said = refusal(read, codes=[code])
    assert said == (
        ExitCode.NOT_ACCEPTED,
        "v0.py: it could not be built: v0.py:3: error: no",
    )


@pytest.fixture(scope="module")
def compiling():
    with EvaluatorService() as running:
        yield running


@pytest.mark.judged
@pytest.mark.sentinel
@pytest.mark.parametrize("name", thinned(TRITON, one_in=5))
def test_r28_every_shipped_triton_kernel_is_read_for_both_vendors(
    compiling, monkeypatch, capsys, name
):
    monkeypatch.setattr(one_file, "EvaluatorService", lambda **_: nullcontext(compiling))
    # Of all cases together the largest may not fit on this host.
    case = min(load_problem(SHIPPED / name).cases_on("gpu"), key=lambda one: one.size).name
    for target in ("sm_90a", "gfx942"):
        given = [str(SHIPPED / name / "v0.py"), "--problem", name, "--case", case]
        call_command("asm", *given, "--target", target, "--json")
        found = json.loads(capsys.readouterr().out)
        assert found["target"] == target
        assert found["functions"], target
        for one in found["functions"]:
            # What is added to memory by atomics alone is not stored besides.
            assert one["kinds"].get("global_store") or one["kinds"].get("atomic")
            assert one["resources"]["registers"]
            assert one["resources"]["threads"]
        assert [one["name"] for one in found["targets"] if one["name"] == "spills"]
