"""Do lines that a kernel asked the last-level cache to keep survive until the next burst?

Lines of an access policy window, and lines read with the hint evict_last; after what the runner
and the judge do between bursts, each by itself. With `-s` it prints the table.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from statistics import median

import pytest
import torch

from campaigns.evaluator import cuda_driver
from campaigns.evaluator.judge.integrity.cold_caches import SCRUBBED

pytestmark = pytest.mark.gpu

# CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW; CU_ACCESS_PROPERTY_STREAMING and …_PERSISTING
WINDOW, STREAMING, PERSISTING = 1, 1, 2
MOST_PERSISTING = 108  # CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE
# Of the cache is read: what can be set aside on an H100 is more.
SHARE, TIMES = 0.4, 9
# A read of what is kept takes less than this share of a cold one; of what is not, more than that.
WARM, COLD = 0.85, 0.93
HELD_CYCLES = 1_000_000
# Another process on the same device, as the judge is one: does what a line of its input names.
JUDGE = """
import sys, torch
from campaigns.evaluator import cuda_driver
memory = torch.zeros(int(sys.argv[1]), dtype=torch.uint8, device="cuda")
for line in sys.stdin:
    if "release" in line:
        cuda_driver.release_cache()
    if "scrub" in line:
        memory.add_(1)
    torch.cuda.synchronize()
    print("done", flush=True)
"""


class AccessPolicy(ctypes.Structure):
    """The window of a stream's attribute (CUaccessPolicyWindow), in a union of 64 bytes."""

    _fields_ = (
        ("base_ptr", ctypes.c_void_p),
        ("num_bytes", ctypes.c_size_t),
        ("hit_ratio", ctypes.c_float),
        ("hit", ctypes.c_int),
        ("miss", ctypes.c_int),
        ("rest", ctypes.c_byte * 36),
    )


class Kept:
    """Memory of a part of the cache, and ways to read it. Each read is timed by events."""

    def __init__(self) -> None:
        properties = torch.cuda.get_device_properties(0)
        self.cache_bytes = int(properties.L2_cache_size)
        self.stream = torch.cuda.Stream()
        self.lines = torch.ones(int(SHARE * self.cache_bytes) // 4, device="cuda")
        self.scrubbed = torch.zeros(SCRUBBED * self.cache_bytes, dtype=torch.uint8, device="cuda")
        self.sum = torch.empty(1, device="cuda")

    def ordinary(self) -> None:
        torch.sum(self.lines, 0, out=self.sum[0])

    def window(self) -> None:
        """Read through a window whose lines persist."""
        most = ctypes.c_int()
        cuda_driver.call("cuDeviceGetAttribute", ctypes.byref(most), MOST_PERSISTING, 0)
        limit = ctypes.c_size_t(most.value)
        cuda_driver.call("cuCtxSetLimit", cuda_driver.PERSISTING_L2, limit)
        self._set(
            AccessPolicy(self.lines.data_ptr(), self.lines.nbytes, 1.0, PERSISTING, STREAMING)
        )
        self.ordinary()
        self._set(AccessPolicy())

    def _set(self, window: AccessPolicy) -> None:
        handle = ctypes.c_void_p(self.stream.cuda_stream)
        cuda_driver.call("cuStreamSetAttribute", handle, WINDOW, ctypes.byref(window))

    def evict_last(self) -> None:
        from tests.gpu.kept_kernel import read_last

        block = 4096
        read_last[(self.lines.numel() // block,)](self.lines, self.sum, BLOCK=block)

    def read_us(self, before, between) -> float:
        """The usual time to read the lines, after they were read so and this happened."""
        found = []
        for _ in range(TIMES):
            with torch.cuda.stream(self.stream):
                for _ in range(3):
                    before()
                torch.cuda.synchronize()
                between()
                torch.cuda.synchronize()
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                # Until all is launched, or the time would be that of launching.
                torch.cuda._sleep(HELD_CYCLES)
                begin.record()
                self.ordinary()
                end.record()
                end.synchronize()
            found.append(begin.elapsed_time(end) * 1e3)
        return median(found)


@pytest.fixture(scope="module")
def kept():
    return Kept()


@pytest.fixture(scope="module")
def judge(kept):
    """Has the other process do something, and waits for it."""
    command = [sys.executable, "-c", JUDGE, str(SCRUBBED * kept.cache_bytes)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:

        def do(what: str) -> None:
            process.stdin.write(f"{what}\n")
            assert process.stdout.readline() == "done\n"

        do("scrub")
        yield do
        process.stdin.close()


@pytest.mark.parametrize("way", ["window", "evict_last"])
def test_lines_that_were_to_be_kept_are_gone_in_the_next_burst(kept, judge, way):
    def runner_and_judge():
        cuda_driver.release_cache()
        judge("release, scrub")

    between = {
        "nothing": lambda: None,
        "the runner writes twice the cache": lambda: kept.scrubbed.add_(1),
        "the judge writes twice the cache": lambda: judge("scrub"),
        "the judge releases and writes": lambda: judge("release, scrub"),
        "the runner releases, the judge writes": lambda: (
            cuda_driver.release_cache(),
            judge("scrub"),
        ),
        "the runner releases, the judge both": runner_and_judge,
    }
    cuda_driver.release_cache()
    cold_us = kept.read_us(kept.ordinary, runner_and_judge)
    warm_us = kept.read_us(kept.ordinary, lambda: None)
    print(f"\n{way}: {kept.lines.nbytes >> 20} MiB, cold {cold_us:.1f} µs, warm {warm_us:.1f} µs")
    if warm_us > WARM * cold_us:
        pytest.skip("a read from the cache is no faster here")
    found = {}
    for words, do in between.items():
        found[words] = kept.read_us(getattr(kept, way), do) / cold_us
        cuda_driver.release_cache()
        kept.scrubbed.add_(1)
        print(f"  {words}: {found[words]:.2f} of the cold time")
    assert found["the runner releases, the judge both"] > COLD
    # A candidate may have replaced what its runner does.
    assert found["the judge releases and writes"] > COLD
