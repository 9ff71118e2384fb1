"""The arithmetic of GPU ceilings, on a torch whose card holds nothing and whose clock is ours."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from campaigns.evaluator.ceilings import gpu
from campaigns.evaluator.ceilings.choice import choose
from campaigns.evaluator.ceilings.document import to_markdown
from campaigns.evaluator.ceilings.result import CeilingsError, Sample

MIB = 1 << 20
WHERE = {"device": "cuda:0", "host": "h", "measured_at": "t", "command": "c"}
CALL_MS = 2.0
HOT_AFTER_MS = 70.0
DTYPES = ("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "int8")


class Card:
    """Counts the calls between two events; each takes CALL_MS, and longer where the card is hot."""

    def __init__(self):
        self.calls, self.at_ms, self.hot_ms = 0, 0.0, 0.0
        self.precisions = []
        self.slower = 1.0

    @property
    def is_hot(self):
        return self.hot_ms > HOT_AFTER_MS

    @property
    def held(self):
        return ("power cap",) if self.is_hot and self.slower > 1 else ()

    def call(self):
        self.calls += 1
        took_ms = CALL_MS * (self.slower if self.is_hot else 1.0)
        self.at_ms, self.hot_ms = self.at_ms + took_ms, self.hot_ms + took_ms

    def rest(self, seconds):
        if seconds:
            self.hot_ms = 0.0


class Event:
    def __init__(self, card):
        self._card = card

    def record(self):
        self.at = self._card.at_ms

    def synchronize(self):
        return None

    def elapsed_time(self, end):
        return end.at - self.at


def _counted(card, function):
    def call(*arguments, **options):
        card.call()
        return function(*arguments, **options)

    return call


def _made_here(function):
    return lambda *sizes, device, **options: function(*sizes, **options)


class Array:
    """Stands for an array of any size; holds none of it."""

    def __init__(self, card):
        self.copy_ = _counted(card, lambda source: None)
        self.fill_ = _counted(card, lambda value: None)


# A quarter of the cache in blocks of 4096 float32.
CACHED_BLOCKS = 50 * MIB // 4 // (4 * 4096)


@pytest.fixture
def fake(monkeypatch):
    """Put a torch with one small card into gpu.py; the card comes back."""
    card = Card()
    properties = SimpleNamespace(
        name="NVIDIA H200", multi_processor_count=2, major=9, minor=0, L2_cache_size=50 * MIB
    )
    cuda = SimpleNamespace(
        get_device_properties=lambda index: properties,
        mem_get_info=lambda index: (2048 * MIB, 4096 * MIB),
        Event=lambda enable_timing: Event(card),
        clock_rate=lambda index: 1980,
        power_draw=lambda index: 650_000,
    )
    monkeypatch.setattr(gpu.time, "sleep", card.rest)
    held = "campaigns.evaluator.service.host_watch.throttled"
    monkeypatch.setattr(held, lambda device: card.held)
    own = SimpleNamespace(
        cuda=cuda,
        device=torch.device,
        rand=lambda *sizes, device: Array(card),
        randn=_made_here(torch.zeros),
        empty=_made_here(torch.empty),
        empty_like=lambda like: Array(card),
        mul=_counted(card, lambda source, factor, out: None),
        sum=_counted(card, lambda source: None),
        ones=_made_here(torch.ones),
        randint=_made_here(lambda low, high, sizes, **options: torch.zeros(sizes, **options)),
        _scaled_mm=_counted(card, lambda *matrices, **options: None),
        _int_mm=_counted(card, lambda left, right: None),
        mm=_counted(card, lambda left, right, out: card.precisions.append(own.precision)),
        precision="highest",
        get_float32_matmul_precision=lambda: own.precision,
        set_float32_matmul_precision=lambda word: setattr(own, "precision", word),
        __version__="2.13.0",
        version=SimpleNamespace(cuda="13.0"),
        **{name: getattr(torch, name) for name in DTYPES},
    )
    monkeypatch.setattr(gpu, "_torch", lambda index: own)
    monkeypatch.setattr(gpu, "MATMUL_SIZE", 8)
    kernels = ModuleType("gpu_kernels")
    launch = _counted(card, lambda out, steps, **options: None)
    kernels.multiply_add = {(32,): launch}
    passing = _counted(card, lambda x, y, passes, **options: None)
    kernels.pass_over = {(CACHED_BLOCKS,): passing}
    kernels.READ, kernels.WRITE, kernels.COPY = 1, 2, 3
    monkeypatch.setitem(sys.modules, "campaigns.evaluator.ceilings.gpu_kernels", kernels)
    monkeypatch.setattr("campaigns.evaluator.ceilings.gpu_kernels", kernels, raising=False)
    return card


def test_it_counts_bytes_and_operations_per_second(fake):
    run = gpu.measure_gpu(0, WHERE)
    plain = [c for c in run.ceilings if not (c.cache or c.array_bytes)]
    rates = {(c.metric, c.dtype): c.rate for c in plain}
    second = CALL_MS / 1000
    fma = 2 * 32 * 1024 * 32 * 512 / second
    assert rates[("fma_throughput", "float32")] == pytest.approx(fma)
    assert rates[("fma_throughput", "float64")] == pytest.approx(fma)
    assert rates[("matmul_throughput", "float64")] == pytest.approx(2 * 4**3 / second)
    for dtype in ("float16", "bfloat16", "float32", "tfloat32", "float8_e4m3fn", "int8"):
        assert rates[("matmul_throughput", dtype)] == pytest.approx(2 * 8**3 / second)
    assert rates[("copy_bandwidth", "")] == pytest.approx(2 * 512 * MIB / second)
    assert rates[("read_bandwidth", "")] == pytest.approx(512 * MIB / second)
    assert rates[("write_bandwidth", "")] == pytest.approx(512 * MIB / second)
    assert {len(sample.rates) for sample in run.samples} == {gpu.REPEATS}


def test_it_passes_over_a_part_of_the_cache_many_times(fake):
    run = gpu.measure_gpu(0, WHERE)
    warm = {c.metric: c.rate for c in run.ceilings if c.qualifiers == {"cache": "warm"}}
    moved = 64 * CACHED_BLOCKS * 4096 * 4 / (CALL_MS / 1000)
    assert warm["read_bandwidth"] == pytest.approx(moved)
    assert warm["write_bandwidth"] == pytest.approx(moved)
    assert warm["copy_bandwidth"] == pytest.approx(2 * moved)


def test_it_measures_no_cache_of_unknown_size(fake, monkeypatch):
    properties = gpu._torch(0).cuda.get_device_properties(0)
    monkeypatch.setattr(properties, "L2_cache_size", 0)
    assert {c.cache for c in gpu.measure_gpu(0, WHERE).ceilings} == {""}


@pytest.mark.parametrize("metric", ["copy_bandwidth", "read_bandwidth", "write_bandwidth"])
def test_it_sweeps_from_inside_the_cache_to_a_share_of_the_memory(fake, metric):
    run = gpu.measure_gpu(0, WHERE)
    swept = [s for s in run.samples if s.metric == metric and "passes" not in s.method]
    sizes = {s.array_bytes // MIB for s in swept}
    assert sizes == {8, 16, 32, 64, 128, 256, 512}
    cached = {c.array_bytes // MIB: c.cache for c in run.ceilings if c.metric == metric}
    assert (cached[8], cached[64], cached[512]) == ("warm", "", "cold")


def test_it_leaves_out_what_the_card_has_no_unit_for(fake, monkeypatch):
    properties = gpu._torch(0).cuda.get_device_properties(0)
    monkeypatch.setattr(properties, "major", 7)
    run = gpu.measure_gpu(0, WHERE)
    found = {s.dtype for s in run.samples if s.metric == "matmul_throughput"}
    assert found == {"float16", "float32", "float64"}


def test_it_notes_a_dtype_that_the_library_refuses(fake, monkeypatch):
    def refuse(*matrices, **options):
        raise RuntimeError("not for this card\nmore")

    monkeypatch.setattr(gpu._torch(0), "_scaled_mm", refuse)
    run = gpu.measure_gpu(0, WHERE)
    assert run.notes == ("matmul float8_e4m3fn: not measured: not for this card",)
    assert "float8_e4m3fn" not in {s.dtype for s in run.samples}


def test_it_allows_tf32_for_its_own_rate_only(fake):
    gpu.measure_gpu(0, WHERE)
    assert list(dict.fromkeys(fake.precisions)) == ["highest", "high"]
    assert gpu._torch(0).get_float32_matmul_precision() == "highest"


def test_it_records_clock_and_power_under_load(fake):
    clocks = gpu.measure_gpu(0, WHERE).clocks
    assert clocks["clock, matmul float16 burst"] == "1980 to 1980 MHz, at most 650 W"


def test_it_measures_products_in_bursts_and_under_a_lasting_load(fake):
    """A card that soon reaches its power limit has two values, each of them steady."""
    fake.slower = 1.25
    run = gpu.measure_gpu(0, WHERE)
    found = {s.load: s for s in run.samples if s.dtype == "bfloat16"}
    assert set(found) == {"burst", "sustained"}
    ceilings = {c.load: c for c in run.ceilings if c.dtype == "bfloat16"}
    assert ceilings["burst"].rate == pytest.approx(1.25 * ceilings["sustained"].rate)
    assert "power cap" not in found["burst"].method
    assert "power cap in 20 of 20" in found["sustained"].method
    assert not [note for note in run.notes if "matmul" in note]
    lines = to_markdown(run, "- platform: h200-sxm").splitlines()
    stored = [line for line in lines if line.startswith("- matmul") and "bfloat16" in line]
    assert [line.split(" | ")[2] for line in stored] == ["load=burst", "load=sustained"]
    assert "650 W, power cap in 20 of 20, best of 20" in stored[1]


def test_it_judges_the_spread_of_each_kind_by_itself():
    def sample(load, *rates):
        return Sample("matmul_throughput", "bfloat16", "torch", 0, 0, rates, load)

    calm = [sample("burst", 10e14, 9.9e14, 9.9e14), sample("sustained", 8e14, 7.9e14, 7.9e14)]
    assert choose(calm, 0)[1] == ()
    (note,) = choose([*calm[:1], sample("sustained", 8e14, 6e14, 6e14)], 0)[1]
    assert "matmul_throughput bfloat16 sustained 25%;" in note


def test_it_says_when_clocks_cannot_be_read(fake, monkeypatch):
    def refuse(index):
        raise RuntimeError("Driver not loaded")

    monkeypatch.setattr(gpu._torch(0).cuda, "clock_rate", refuse)
    clocks = gpu.measure_gpu(0, WHERE).clocks
    assert clocks == {"clocks": "not reported: Driver not loaded"}


def test_it_refuses_a_card_that_is_full(fake, monkeypatch):
    monkeypatch.setattr(gpu._torch(0).cuda, "mem_get_info", lambda index: (100 * MIB, 0))
    with pytest.raises(CeilingsError, match="100 MiB free; too little for two arrays"):
        gpu.measure_gpu(0, WHERE)
