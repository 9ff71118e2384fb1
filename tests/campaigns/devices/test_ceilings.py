"""Ceilings: the probe, the choice, the file and the document."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, replace

import pytest

from campaigns.evaluator import host
from campaigns.evaluator.ceilings import choice, cpu, gpu
from campaigns.evaluator.ceilings import cpu as cpu_matmul
from campaigns.evaluator.ceilings.choice import choose
from campaigns.evaluator.ceilings.document import shown, to_markdown
from campaigns.evaluator.ceilings.result import CeilingsError, MeasuredCeiling, Sample, dump, load
from knowledge.specs.reader import read_page

MIB = 1 << 20
WHERE = {"device": "cpu", "host": "h", "measured_at": "t", "command": "c"}
PROBE = """\
copy_bandwidth - plain 2 4194304 9e10 8e10
copy_bandwidth - streaming 2 134217728 4e10 5e10
copy_bandwidth - plain 1 134217728 3e10 3e10
read_bandwidth - read 2 134217728 7e10 7e10
fma_throughput float32 chains 2 0 1e11 2e11
copy_bandwidth - streaming 2 134217728 4.5e10 6e10
"""


def test_it_joins_the_rounds_of_the_probe():
    samples = cpu.read_probe(PROBE)
    assert len(samples) == 5
    assert samples[1] == Sample(
        "copy_bandwidth", "", "streaming", 2, 128 * MIB, (4e10, 5e10, 4.5e10, 6e10)
    )
    assert samples[1].median == 4.75e10


@pytest.mark.parametrize("text", ["", "copy_bandwidth - plain two 4 1e9", "oops"])
def test_it_refuses_what_does_not_read_as_a_measurement(text):
    with pytest.raises(CeilingsError, match="probe: "):
        cpu.read_probe(text)


@pytest.mark.parametrize("rates", [(), (1e9, 0.0), (float("nan"),)])
def test_it_refuses_rates_that_are_none(rates):
    with pytest.raises(CeilingsError, match="accepted: above zero"):
        Sample("copy_bandwidth", "", "plain", 1, 1, rates)


def test_it_takes_the_copy_ceiling_from_arrays_beyond_the_cache():
    ceilings, _ = choose(cpu.read_probe(PROBE), 32 * MIB)
    assert [(c.metric, c.dtype, c.rate) for c in _plain(ceilings)] == [
        ("copy_bandwidth", "", 6e10),
        ("read_bandwidth", "", 7e10),
        ("fma_throughput", "float32", 2e11),
    ]
    assert ceilings[0].basis == "streaming, 2 threads, arrays of 128 MiB, best of 4"


def test_r5_it_states_every_size_cold_or_warm():
    def of(metric, mib, rate):
        return Sample(metric, "", "any", 1, mib * MIB, (rate,))

    samples = [
        *(of("copy_bandwidth", *row) for row in ((1, 9e10), (8, 8e10), (32, 5e10), (64, 4e10))),
        *(of("read_bandwidth", *row) for row in ((16, 9e10), (64, 6e10), (128, 5e10))),
    ]
    ceilings, notes = choose(samples, 32 * MIB)
    assert notes == ()
    assert [(c.metric, c.rate) for c in _plain(ceilings)] == [
        ("copy_bandwidth", 4e10),
        ("read_bandwidth", 5e10),
    ]
    warm = [c for c in ceilings if c.qualifiers == {"cache": "warm"}]
    assert [(c.metric, c.rate) for c in warm] == [
        ("copy_bandwidth", 9e10),
        ("read_bandwidth", 9e10),
    ]
    sized = {(c.metric, c.array_bytes // MIB): c.cache for c in ceilings if c.array_bytes}
    assert sized == {
        ("copy_bandwidth", 1): "warm",
        ("copy_bandwidth", 8): "warm",
        ("copy_bandwidth", 32): "",
        ("copy_bandwidth", 64): "cold",
        ("read_bandwidth", 16): "warm",
        ("read_bandwidth", 64): "",
        ("read_bandwidth", 128): "cold",
    }


def test_it_calls_no_array_cold_or_warm_where_the_cache_is_unknown():
    ceilings, notes = choose(cpu.read_probe(PROBE), 0)
    assert {c.cache for c in ceilings} == {""}
    assert "last-level cache unknown" in notes[0]


def test_it_warns_where_half_of_the_repeats_are_far_below_the_best():
    def notes(*rates):
        sample = Sample("fma_throughput", "float32", "chains", 2, 0, rates)
        return choose([sample], 32 * MIB)[1]

    assert notes(10e9, 9.2e9, 9.1e9) == ()
    (note,) = notes(10e9, 8e9, 7e9)
    assert "more than 10% below the best: fma_throughput float32 20%;" in note


def _plain(ceilings):
    return [c for c in ceilings if not (c.cache or c.array_bytes)]


@pytest.mark.parametrize("cache_bytes", [0, 400 * MIB])
def test_it_says_so_when_caches_may_have_helped(cache_bytes):
    ceilings, notes = choose(cpu.read_probe(PROBE), cache_bytes)
    assert ceilings[0].rate == 6e10
    assert "caches may have helped copy_bandwidth" in notes[0]


@pytest.mark.parametrize(
    ("cache_mib", "available_mib", "largest_mib"),
    [(32, 24000, 512), (384, 100_000, 2048), (32, 1024, 128), (0, 0, 512), (32, 8, 4)],
)
def test_it_sweeps_as_far_as_cache_and_memory_ask(cache_mib, available_mib, largest_mib):
    assert cpu._largest_mib(cache_mib * MIB, available_mib * MIB) == largest_mib


@pytest.mark.judged
def test_it_measures_this_cpu(monkeypatch):
    # The largest of them takes seconds for what this CPU has no unit for.
    monkeypatch.setattr(cpu_matmul, "SIZES", cpu_matmul.SIZES[1:])
    run = cpu.measure_cpu(WHERE, rounds=1, repeats=1, largest_mib=4)
    assert {c.metric for c in run.ceilings} == {
        "copy_bandwidth",
        "read_bandwidth",
        "write_bandwidth",
        "fma_throughput",
        "matmul_throughput",
    }
    assert {s.method for s in run.samples} >= {"plain", "read", "chains"}
    sizes = {(s.metric, s.array_bytes // MIB) for s in run.samples if s.array_bytes}
    copies = {("copy_bandwidth", mib) for mib in (1, 2)}
    assert sizes == copies | {
        (f"{way}_bandwidth", mib) for way in ("read", "write") for mib in (1, 2, 4)
    }
    assert {s.dtype for s in run.samples if s.metric == "matmul_throughput"} == set(
        cpu_matmul.DTYPES
    )
    assert run.busy_share is not None
    assert 0 <= run.busy_share <= 1
    assert max(s.threads for s in run.samples) == host.cpus_usable()
    assert all(1e7 < rate < 1e15 for s in run.samples for rate in s.rates)


@pytest.mark.judged
def test_r5_it_measures_copies_of_the_very_size(monkeypatch):
    run = cpu.measure_cpu_copy(WHERE, 100_000, rounds=1, repeats=1)
    assert {(s.metric, s.array_bytes) for s in run.samples} == {("copy_bandwidth", 2 * 65536)}
    (copy,) = run.ceilings
    assert copy.array_bytes == 2 * 65536
    assert 1e7 < copy.rate < 1e15
    monkeypatch.setattr(cpu, "memory_available_bytes", lambda: 10 * MIB)
    with pytest.raises(CeilingsError, match="8,388,608 bytes: only 10,485,760 bytes of memory"):
        cpu.measure_cpu_copy(WHERE, 4 * MIB)


def test_it_says_that_products_were_not_measured_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    samples, notes = cpu_matmul.measure_matmuls()
    assert samples == ()
    assert "torch is not installed" in notes[0]


def _times(monkeypatch, *values):
    times = iter(values)
    monkeypatch.setattr(choice, "cpu_time", lambda: next(times))


def test_it_takes_its_own_work_from_the_time_of_the_host(monkeypatch):
    _times(monkeypatch, choice.CpuTime(100, 1000), choice.CpuTime(108, 1020))
    own = iter((1.0, 4.0))
    monkeypatch.setattr(choice, "_own_s", lambda: next(own))
    with choice.watched() as watch:
        assert watch.others_share is None
    assert watch.others_share == pytest.approx((8 - 3) / 20)
    (note,) = watch.notes
    assert note.startswith("the host was busy: others took 25% of its CPU time (accepted: 10%)")


def test_it_does_not_warn_on_a_quiet_host(monkeypatch):
    _times(monkeypatch, choice.CpuTime(100, 1000), choice.CpuTime(101, 1020))
    monkeypatch.setattr(choice, "_own_s", lambda: 0.0)
    with choice.watched() as watch:
        pass
    assert (watch.others_share, watch.notes) == (pytest.approx(0.05), ())


@pytest.mark.parametrize("answers", [(None, None), (choice.CpuTime(1, 2), choice.CpuTime(1, 2))])
def test_it_says_when_nobody_knows_how_busy_the_host_was(monkeypatch, answers):
    _times(monkeypatch, *answers)
    with choice.watched() as watch:
        pass
    assert watch.others_share is None
    assert "does not say how busy" in watch.notes[0]


def test_it_sees_a_neighbour_that_keeps_a_cpu_busy():
    loop = [sys.executable, "-c", "while True: pass"]
    neighbour = subprocess.Popen(loop)
    try:
        with choice.watched() as watch:
            time.sleep(1.0)
    finally:
        neighbour.kill()
        neighbour.wait()
    assert watch.others_share is not None
    assert watch.others_share >= 0.5 / host.cpus_usable()


def test_it_reads_the_time_of_the_usable_cpus_only(monkeypatch, tmp_path):
    stat = tmp_path / "stat"
    stat.write_text(
        "cpu  999 9 9 9 9 9 9 9 9 9\ncpu0 100 0 50 800 20 5 5 20 7 0\ncpu1 1 1 1 1 1 1 1 1 0 0\n"
    )
    monkeypatch.setattr(choice, "STAT", stat)
    monkeypatch.setattr(choice.os, "sched_getaffinity", lambda pid: {0})
    monkeypatch.setattr(choice.os, "sysconf", lambda name: 100)
    assert choice.cpu_time() == choice.CpuTime(busy_s=1.8, total_s=10.0)
    monkeypatch.setattr(choice, "STAT", tmp_path / "none")
    assert choice.cpu_time() is None


@pytest.fixture
def no_products(monkeypatch):
    """Without the products that are measured before anything is compiled."""
    monkeypatch.setattr(cpu, "measure_matmuls", lambda: ((), ()))


@pytest.mark.usefixtures("no_products")
def test_it_says_which_compiler_is_missing(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CeilingsError, match=r"install one of: g\+\+, clang\+\+"):
        cpu.measure_cpu(WHERE)


@pytest.mark.usefixtures("no_products")
def test_it_passes_on_what_the_compiler_said(monkeypatch, tmp_path):
    broken = tmp_path / "probe.cpp"
    broken.write_text("int main() { return nothing; }")
    monkeypatch.setattr(cpu, "PROBE", broken)
    with pytest.raises(CeilingsError, match=r"exit 1: .*probe\.cpp"):
        cpu.measure_cpu(WHERE)


def test_it_takes_the_best_of_every_kind_on_a_gpu():
    samples = [
        Sample("copy_bandwidth", "", "driver copy", 0, 256 * MIB, (4.0e12, 4.1e12)),
        Sample("copy_bandwidth", "", "element-wise kernel", 0, 256 * MIB, (4.2e12, 4.0e12)),
        Sample("matmul_throughput", "tfloat32", "torch.mm", 0, 0, (4e14,)),
    ]
    ceilings, _ = choose(samples, 50 * MIB)
    found = {(c.metric, c.dtype): c.rate for c in _plain(ceilings)}
    assert found == {("copy_bandwidth", ""): 4.2e12, ("matmul_throughput", "tfloat32"): 4e14}


@pytest.mark.parametrize(
    ("rate", "unit", "text"),
    [
        (46.7123e9, "B/s", "46.71 GB/s"),
        (4.0e12, "B/s", "4 TB/s"),
        (999.96e6, "B/s", "1000 MB/s"),
        (1.2345e15, "B/s", "1234 TB/s"),
        (128.14e9, "op/s", "128.1 GFLOPS"),
        (1.2345e15, "op/s", "1.234 PFLOPS"),
        (5.0e3, "op/s", "0.005 MFLOPS"),
    ],
)
def test_it_writes_rates_for_people(rate, unit, text):
    assert shown(rate, unit) == text


def test_it_reads_back_what_it_wrote(result):
    assert load(dump(result)) == result


@pytest.mark.parametrize("change", [{"samples": None}, {"surprise": 1}])
def test_it_refuses_a_file_of_another_kind(result, change):
    with pytest.raises(CeilingsError, match="not the output of a ceilings run"):
        load(json.dumps(asdict(result) | change))


def test_it_writes_a_document_that_the_wiki_reads(result):
    text = to_markdown(result, "- platform: cpu-1")
    page = read_page("docs/measured/cpu-1.md", text)
    assert page.platform_slug == "cpu-1"
    copy, fma = (spec.facts for spec in page.specs)
    assert (copy.metric, copy.value, copy.qualifiers) == ("copy_bandwidth", 46.71e9, {})
    assert (fma.metric, fma.value, fma.qualifiers) == (
        "fma_throughput",
        128.1e9,
        {"dtype": "float32"},
    )
    assert {fact.evidence for fact in (copy, fma)} == {"measured"}
    assert "on host box on 2026-05-04" in copy.source
    assert "median 44 GB/s" in copy.note


def test_it_writes_the_qualifiers_of_every_ceiling_and_the_bytes_convention(result):
    facts = ("", 3e9, 2.9e9, "plain, best of 2")
    more = (
        *result.ceilings,
        MeasuredCeiling("read_bandwidth", *facts, cache="warm"),
        MeasuredCeiling("read_bandwidth", *facts, cache="cold", array_bytes=4 * MIB),
        MeasuredCeiling("write_bandwidth", *facts, array_bytes=8 * MIB),
    )
    text = to_markdown(replace(result, ceilings=more, busy_share=0.251), "- platform: cpu-1")
    specs = [spec.facts for spec in read_page("docs/measured/cpu-1.md", text).specs]
    assert [(fact.metric, dict(fact.qualifiers)) for fact in specs[2:]] == [
        ("read_bandwidth", {"cache": "warm"}),
        ("read_bandwidth", {"array_bytes": "4194304", "cache": "cold"}),
        ("write_bandwidth", {"array_bytes": "8388608"}),
        ("host_busy_share", {}),
    ]
    assert specs[-1].value == 0.251
    assert {fact.rank for fact in specs} == {"preferred"}
    assert "copy_bandwidth counts the bytes read plus the bytes written, read_bandwidth" in text


def test_it_keeps_every_sample_and_the_environment_in_the_document(result):
    text = to_markdown(result, "- platform: cpu-1")
    assert "| 46.71 | 44.00 | 40.50 46.71 44.00 |" in text
    assert "| g++ | g++ / 12 |" in text
    assert "| cpu clock before | 2600 to 2600 MHz |" in text
    assert "Note: the caches may have helped." in text
    assert result.command in text


def test_it_runs_as_a_module_and_refuses_in_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "campaigns.evaluator.ceilings", "--device", "tpu"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "ceilings: device 'tpu'; accepted: cpu, cuda:0, cuda:1, …\n"


def test_it_reads_cache_sizes_of_the_highest_level(monkeypatch, tmp_path):
    for index, level, size in ((0, 1, "32K"), (2, 2, "1024K"), (3, 3, "32768K")):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        (folder / "level").write_text(f"{level}\n")
        (folder / "size").write_text(f"{size}\n")
    monkeypatch.setattr(host, "CACHES", tmp_path)
    assert host.last_level_cache_bytes() == 32 * MIB
    monkeypatch.setattr(host, "CACHES", tmp_path / "none")
    assert host.last_level_cache_bytes() == 0


@pytest.mark.gpu
def test_r5_it_measures_copies_of_the_very_size_on_a_gpu():
    run = gpu.measure_gpu_copy(0, WHERE, 100 * MIB)
    (copy,) = run.ceilings
    assert (copy.metric, copy.array_bytes) == ("copy_bandwidth", 100 * MIB)
    assert {s.method for s in run.samples} == {"driver copy", "element-wise kernel"}


@pytest.mark.gpu
def test_it_measures_a_gpu():
    run = gpu.measure_gpu(0, WHERE)
    assert {c.metric for c in run.ceilings} == {
        "copy_bandwidth",
        "read_bandwidth",
        "write_bandwidth",
        "fma_throughput",
        "matmul_throughput",
    }
