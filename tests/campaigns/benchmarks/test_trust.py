"""The same candidates through several evaluators: presented, kept apart, counted."""

import importlib.util
import subprocess
import sys
import sysconfig
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import torch

from campaigns.benchmarks.peers import ask as peers
from campaigns.benchmarks.peers import contained, kernelbench, sol, trust
from campaigns.benchmarks.peers.form import TURN, Form, Opinion, PeerAnswer, PeerTask, stand_in_for
from campaigns.benchmarks.peers.trust import answers_of
from campaigns.benchmarks.trick import TRICKS, every, read
from campaigns.devices.discover import Device, this_device
from campaigns.evaluator.contract.programs import CPP_BUILD as FLAGS
from campaigns.evaluator.contract.programs import cpp_compiler as compiler

CPU = this_device("cpu")
CARD = Device("gpu", "cuda:1", "NVIDIA H200", "h200", "sm_90a", 1, "GPU-1")


def trick(name):
    return read(TRICKS / name, TRICKS)


def task(name, folder):
    found = trick(name)
    return PeerTask(
        source=str(found.path),
        backend=found.backend,
        problem=str(found.problem),
        params=found.params,
        flags=found.flags,
        device="cpu",
        folder=str(folder),
        out=str(folder / "told.json"),
    )


def form(name):
    found = trick(name)
    return Form(str(found.problem), found.params)


def load_task(text):
    return msgspec.json.decode(text, type=PeerTask)


def write_answer(path, answer):
    path.write_bytes(msgspec.json.encode(answer))


def test_it_hands_a_task_over_unchanged(tmp_path):
    given = task("honest/cpp/fast_math.cpp", tmp_path)
    assert load_task(msgspec.json.encode(given)) == given


def test_it_draws_from_the_seed_that_the_evaluator_sets():
    found = form("honest/cpp/plain.cpp")
    torch.manual_seed(3)
    first = found.draw("cpu")[0]
    second = found.draw("cpu")[0]
    torch.manual_seed(3)
    again = found.draw("cpu")[0]
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert torch.equal(found.answer(first), 2 * first)


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("honest/triton/plain.py", None, None),
        ("honest/triton/large_int64.py", "it casts every input to one floating-point type", None),
        ("honest/cpp/two_outputs.cpp", "it compares one output", None),
    ],
)
def test_it_says_what_cannot_be_asked(name, ours, theirs):
    layout = form(name).layout
    assert kernelbench.no_form(layout) == ours
    assert sol.no_form(layout) == theirs


def test_it_gives_kernelbench_the_candidate_as_a_model(tmp_path):
    given = task("honest/triton/plain.py", tmp_path)
    source = kernelbench.model_source(given)
    assert source.startswith(given.text)
    namespace = {}
    exec(source.replace("@triton.jit", ""), namespace)
    # The kernel itself needs a GPU.
    namespace["run_kernel"] = lambda x, y, N: y.copy_(x * 2)
    x = torch.randn(200)
    assert torch.equal(namespace["ModelNew"]()(x), 2 * x)


def test_it_gives_kernelbench_the_reference_of_the_problem(tmp_path):
    namespace = {}
    source = kernelbench.REFERENCE.format(form=task("honest/triton/plain.py", tmp_path).form)
    exec(source, namespace)
    (x,) = namespace["get_inputs"]()
    assert torch.equal(namespace["Model"](*namespace["get_init_inputs"]())(x), 2 * x)


def test_it_keeps_a_cuda_candidate_whole_for_kernelbench(tmp_path):
    given = task("honest/cuda/plain.cu", tmp_path)
    source = kernelbench.model_source(given)
    namespace = {}
    exec(source.split("import torch.nn")[0], namespace)
    assert namespace["_source"] == given.text
    compile(source, "model", "exec")


def test_it_binds_a_compiled_candidate_for_sol(tmp_path):
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        pytest.skip("Python.h is not on this host; install python3-dev")
    given = task("honest/cpp/gather.cpp", tmp_path)
    found = form("honest/cpp/gather.cpp")
    wrapper = tmp_path / "wrapper.cpp"
    wrapper.write_text(sol.binding(given, found.layout))
    out = tmp_path / "benchmark_kernel.so"
    include = f"-I{sysconfig.get_paths()['include']}"
    command = [compiler(), *FLAGS, include, str(wrapper), given.source, "-o", str(out)]
    subprocess.run(command, check=True)
    spec = importlib.util.spec_from_file_location("benchmark_kernel", out)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs, (output,) = found.draw("cpu"), found.blank("cpu")
    module.entry(*inputs, output)
    assert torch.equal(output, found.answer(*inputs))


def test_it_states_the_problem_in_the_words_of_sol(tmp_path):
    given, found = task("honest/triton/plain.py", tmp_path), form("honest/triton/plain.py")
    stated = sol.definition(given, found)
    assert stated["inputs"] == {"x": {"shape": ["200"], "dtype": "float32"}}
    assert stated["outputs"] == {"y": {"shape": ["200"], "dtype": "float32"}}
    namespace = {}
    exec(stated["reference"], namespace)
    inputs = namespace["make_inputs"]({}, "cpu")
    assert torch.equal(namespace["run"](**inputs), 2 * inputs["x"])
    assert sol.workload(found)["tolerance"] == {"max_atol": 1e-6, "max_rtol": 1e-6}
    source = sol.solution(given, found)["sources"][0]["content"]
    assert source.startswith(given.text)
    compile(source, "candidate", "exec")


@pytest.mark.parametrize(
    ("evaluation", "answer", "gain"),
    [
        ({"status": "REWARD_HACK", "log": "patched"}, Opinion.FLAGGED, None),
        ({"status": "INCORRECT_NUMERICAL", "log": ""}, Opinion.REFUSED, None),
        ({"status": "PASSED", "performance": (2.0, 1.0, 0.5)}, Opinion.CORRECT, False),
        ({"status": "PASSED", "performance": (1.0, 2.0, 2.0)}, Opinion.CORRECT, True),
    ],
)
def test_it_reads_what_sol_says(evaluation, answer, gain):
    if times := evaluation.get("performance"):
        names = ("latency_ms", "reference_latency_ms", "speedup_factor")
        evaluation = evaluation | {"performance": dict(zip(names, times, strict=True))}
    said = sol._answer(evaluation)
    assert (said.opinion, said.gain) == (answer, gain)


class Result:
    def __init__(self, correctness, runtime, ref_runtime, **metadata):
        self.correctness, self.runtime, self.ref_runtime = correctness, runtime, ref_runtime
        self.metadata = metadata


@pytest.mark.parametrize(
    ("result", "errors", "answer", "gain"),
    [
        (None, [], Opinion.REFUSED, None),
        (Result(False, -1.0, 0.1), [], Opinion.REFUSED, None),
        (Result(True, 0.1, 0.2), [], Opinion.CORRECT, True),
        (Result(True, -1.0, 0.2), [], Opinion.CORRECT, False),
        (Result(True, 0.1, 0.2), ["Uses threading"], Opinion.FLAGGED, True),
        (Result(True, 0.1, 2.0, excessive_speedup=True), [], Opinion.FLAGGED, True),
    ],
)
def test_it_reads_what_kernelbench_says(result, errors, answer, gain):
    said = kernelbench._answer(result, errors)
    assert (said.opinion, said.gain) == (answer, gain)


@pytest.mark.judged
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("honest/cpp/plain.cpp", Opinion.CORRECT),
        ("cheats/cpp/shape_cache.cpp", Opinion.CORRECT),
        ("cheats/cpp/nan_everywhere.cpp", Opinion.REFUSED),
        ("cheats/cpp/exits.cpp", Opinion.DIED),
        ("honest/cpp/row_in_place.cpp", Opinion.NO_FORM),
    ],
)
def test_it_asks_the_plain_harness_in_a_process_of_its_own(name, answer, tmp_path):
    said = peers.ask(peers.PLAIN, trick(name), CPU, tmp_path / "turn")
    assert said.opinion is answer, said


def test_it_counts_a_harness_that_hangs(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "LIMIT_S", 4.0)
    said = peers.ask(peers.PLAIN, trick("cheats/cpp/hangs.cpp"), CPU, tmp_path / "turn")
    assert said.opinion is Opinion.HUNG


def test_it_takes_an_answer_from_a_process_that_does_not_end(monkeypatch, tmp_path):
    def run(command, **options):
        write_answer(Path(load_task(command[-1]).out), PeerAnswer(Opinion.CORRECT))
        return subprocess.CompletedProcess(command, 0, stdout=f"{contained.HUNG}\n")

    monkeypatch.setattr(peers.subprocess, "run", run)
    said = peers.ask(peers.PLAIN, trick("honest/cpp/thread_pool.cpp"), CPU, tmp_path / "turn")
    assert said.opinion is Opinion.CORRECT


def test_it_leaves_no_process_of_an_evaluation(tmp_path):
    mark = tmp_path / "pid"
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    open({str(mark)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        f"while not os.path.exists({str(mark)!r}): time.sleep(0.01)\n"
        "time.sleep(0.1)\n"
    )
    command = [sys.executable, "-m", contained.__name__, "20", str(tmp_path / "log")]
    done = subprocess.run(
        [*command, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "exit status 0"
    assert not Path(f"/proc/{mark.read_text()}").exists()


@pytest.mark.parametrize("written", ['{"answer": "corr', None])
def test_it_reads_only_what_was_written_whole(monkeypatch, tmp_path, written):
    def run(command, **options):
        if written:
            Path(load_task(command[-1]).out).write_text(written)
        Path(command[4]).write_text("")
        return subprocess.CompletedProcess(command, 0, stdout="SIGKILL\n")

    monkeypatch.setattr(peers.subprocess, "run", run)
    said = peers.ask(peers.PLAIN, trick("honest/cpp/plain.cpp"), CPU, tmp_path / "turn")
    assert said == PeerAnswer(Opinion.DIED, "SIGKILL")


def test_it_wants_a_checkout_of_the_peer(tmp_path):
    with pytest.raises(peers.PeerError, match=r"src/kernelbench/eval\.py: missing"):
        peers.at(peers.KERNELBENCH, tmp_path)


def test_it_asks_each_evaluator_about_each_candidate(monkeypatch, tmp_path):
    theirs = []

    def ask_them(command, *, env, **options):
        task = load_task(command[-1])
        theirs.append((task.device, env[TURN]))
        write_answer(Path(task.out), PeerAnswer(Opinion.CORRECT))
        return subprocess.CompletedProcess(command, 0, stdout="exit status 0\n")

    monkeypatch.setattr(trust, "ask_kopt", lambda *given: PeerAnswer(Opinion.REFUSED))
    monkeypatch.setattr(peers.subprocess, "run", ask_them)
    options = Namespace(
        device="cpu", kernelbench=None, sol=None, tricks=TRICKS, backend=["cpp"],
        only="cpp/plain", jobs=2, limit_s=60.0,
    )  # fmt: skip
    report = trust.measure_trust(options, lambda line: None)
    (row,) = report.tables[3].rows
    assert (row["candidate"], row["kopt"], row["do_bench"]) == ("cpp/plain", "refused", "correct")
    assert [device for device, _ in theirs] == ["cpu"]
    late = Namespace(**vars(options) | {"limit_s": -1.0})
    (row,) = trust.measure_trust(late, lambda line: None).tables[3].rows
    assert (row["kopt"], row["do_bench"]) == ("not run", "not run")


def test_a_peer_sees_one_card_and_waits_for_its_turn(monkeypatch, tmp_path):
    seen = []

    def run(command, *, env, **options):
        seen.append((env["CUDA_VISIBLE_DEVICES"], load_task(command[-1]).device, env[TURN]))
        return subprocess.CompletedProcess(command, 0, stdout=f"{contained.HUNG}\n")

    monkeypatch.setattr(peers.subprocess, "run", run)
    said = peers.ask(peers.PLAIN, trick("honest/triton/plain.py"), CARD, tmp_path / "turn")
    assert said.opinion is Opinion.HUNG
    # It takes the first card that it sees.
    assert seen == [("GPU-1", "cuda:0", str(tmp_path / "turn"))]


def named(name, words, honest=False, **more):
    return SimpleNamespace(name=name, honest=honest, words={"trick": words, **more})


REFUSED, NO_FORM = PeerAnswer(Opinion.REFUSED), PeerAnswer(Opinion.NO_FORM)
QUICK = PeerAnswer(Opinion.CORRECT, "", 1.0, 3.0, True)
SLOW = PeerAnswer(Opinion.CORRECT, "", 3.0, 1.0, False)
FLAGGED = PeerAnswer(Opinion.FLAGGED, "excessive speedup", 1.0, 30.0, True)
KERNELBENCH = SimpleNamespace(name="KernelBench", commit=lambda: "abc", packages=())
JUDGED = [
    (trick, {"kopt": ours, "KernelBench": theirs})
    for trick, ours, theirs in (
        (named("cpp/a", "lies"), REFUSED, QUICK),
        (named("cpp/b", "lies slowly"), REFUSED, SLOW),
        (named("cpp/c", "aims at kopt", aims="kopt"), REFUSED, QUICK),
        (named("cpp/d", "has no form"), REFUSED, NO_FORM),
        (named("cpp/e", "is suspected"), REFUSED, FLAGGED),
        (named("cpp/f", "is honest", honest=True), QUICK, FLAGGED),
        (named("cpp/g", "kills"), REFUSED, PeerAnswer(Opinion.DIED)),
    )
]


def test_it_spreads_kinds_evenly_and_keeps_what_hangs_for_the_end():
    tricks = [t for kind in ("cheats", "honest") for t in every(TRICKS, kind, "triton")]
    mixed = trust._mixed(tricks)
    assert sorted(t.name for t in mixed) == sorted(t.name for t in tricks)
    honest = sum(t.honest for t in tricks)
    assert sum(t.honest for t in mixed[: len(mixed) // 2]) == pytest.approx(honest / 2, abs=1)
    assert mixed[-1].name == "triton/hangs"


def test_it_leaves_out_what_was_not_asked_or_aims_elsewhere():
    assert len(answers_of(JUDGED, "kopt", honest=False)) == 6
    assert len(answers_of(JUDGED, "KernelBench", honest=False)) == 4


def test_it_writes_totals_and_a_line_per_candidate():
    report = trust.report_of(CPU, [KERNELBENCH], JUDGED)
    text = report.as_markdown()
    assert "credited: kopt 0 of 6, KernelBench 1 of 4." in text
    assert "| kopt | 6 | 0 | 0 | 0 | 0 | 1 | 0 |" in text
    assert "| KernelBench | 4 | 2 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| cpp/a | lies | refused | correct (3.00×) |" in text
    assert "| cpp/b | lies slowly | refused | correct (0.33×), no gain |" in text
    assert "| cpp/g | kills | refused | **died** |" in text
    assert "KernelBench: abc." in text
    assert "SOL-ExecBench: not run" in text
    assert text.index("cpp/c") > text.index("## Aimed at kopt") > text.index("cpp/b")


def test_it_stands_in_for_what_is_not_installed(monkeypatch):
    monkeypatch.delitem(sys.modules, "no_such_module_here", raising=False)
    assert stand_in_for("json", "no_such_module_here") == ["no_such_module_here"]
    assert sys.modules["no_such_module_here"].load_dotenv(1, two=2) is None
    assert not hasattr(sys.modules["no_such_module_here"], "__file__")
    assert stand_in_for("no_such_module_here") == []
    monkeypatch.delitem(sys.modules, "no_such_module_here")
