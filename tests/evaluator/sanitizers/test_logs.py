"""What sanitizers write, read as faults: real texts of GCC's, and of the manual's for CUDA."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Fault
from campaigns.evaluator.sanitizers import logs

ADDRESS = """\
=================================================================
==19315==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x621000002100 at pc 0x555555
READ of size 4 at 0x621000002100 thread T0
    #0 0x555555555555 in solve /tmp/runner/candidate.cpp:9
    #1 0x555555555600 in main /tmp/runner/harness.cpp:60
    #2 0x7ffff7000000 in __libc_start_main_impl ../csu/libc-start.c:360

0x621000002100 is located 0 bytes to the right of 8192-byte region [0x621000000100,0x621000002100)
allocated by thread T0 here:
    #1 0x555555555700 in main /tmp/runner/harness.cpp:55
SUMMARY: AddressSanitizer: heap-buffer-overflow /tmp/runner/candidate.cpp:9 in solve
"""
SIGNAL = """\
AddressSanitizer:DEADLYSIGNAL
==19315==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x562c T0)
==19315==The signal is caused by a WRITE memory access.
    #0 0x562c05f441ce in solve /tmp/runner/candidate.cpp:5
"""
THREAD = """\
==================
WARNING: ThreadSanitizer: data race (pid=77)
  Write of size 4 at 0x7b8000000000 by main thread:
    #0 add /tmp/runner/candidate.cpp:16 (ThreadSanitizer+0x2b1c)

  Previous write of size 4 at 0x7b8000000000 by thread T1:
    #0 add /tmp/runner/candidate.cpp:17 (ThreadSanitizer+0x2b1c)
SUMMARY: ThreadSanitizer: data race /tmp/runner/candidate.cpp:16 in add
==================
"""
UNDEFINED = """\
what the candidate prints: runtime error: nothing
candidate.cpp:5:76: runtime error: index 8 out of bounds for type 'float [8]'
harness.cpp:5:76: runtime error: not the candidate's
"""
# In the form since 2023, and in the one before, of the same overrun.
MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale(const float *, float *, int)+0x70 in candidate.cu:7
=========     by thread (31,0,0) in block (0,0,0)
=========     Access at 0x503600080 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x503600000 of size 128 bytes
=========
========= Program hit cudaErrorLaunchFailure (error 719) on CUDA API call to cudaMemcpy.
========= ERROR SUMMARY: 2 errors
"""
OLD_MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at 0x70 in /tmp/runner/candidate.cu:7:scale(float const *, float*, int)
=========     by thread (31,0,0) in block (0,0,0)
=========     Address 0x503600080 is out of bounds
========= ERROR SUMMARY: 1 error
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sum(float *)+0x90 in candidate.cu:13
=========     and Read access at sum(float *)+0xa0 in candidate.cu:14 [2048 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
OLD_RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at 0x278 in /tmp/candidate.cu:13:sum(float*)
=========     and Read access at 0x298 in /tmp/candidate.cu:14:sum(float*) [6144 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def test_it_reads_a_memory_error():
    assert logs.address_faults(ADDRESS, "kernel.cpp") == (
        Fault(
            "heap-buffer-overflow",
            "read of 4 bytes, 0 bytes to the right of 8192-byte region",
            "kernel.cpp",
            9,
        ),
    )
    assert logs.address_faults(SIGNAL, "kernel.cpp") == (
        Fault("SEGV", "write of a bad address", "kernel.cpp", 5),
    )


def test_it_reads_a_race_between_threads():
    assert logs.thread_faults(THREAD, "kernel.cpp") == (
        Fault("data race", "write of size 4, previous write of size 4", "kernel.cpp", 16),
    )


def test_it_reads_undefined_behaviour_of_the_candidate_alone():
    assert logs.undefined_faults(UNDEFINED, "kernel.cpp") == (
        Fault("undefined behaviour", "index 8 out of bounds for type 'float [8]'", "kernel.cpp", 5),
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (MEMCHECK, "Access at 0x503600080 is out of bounds, and is 1 bytes after the nearest"),
        (OLD_MEMCHECK, "Address 0x503600080 is out of bounds"),
    ],
)
def test_it_reads_an_access_out_of_bounds_on_a_device(text, where):
    (fault,) = logs.device_faults(text, "kernel.cu")
    assert (fault.kind, fault.line) == ("Invalid __global__ write of size 4 bytes", 7)
    assert fault.what.startswith("by thread (31,0,0) in block (0,0,0), ")
    assert where in fault.what


@pytest.mark.parametrize("text", [RACECHECK, OLD_RACECHECK])
def test_it_reads_a_hazard_with_both_places(text):
    (fault,) = logs.hazards(text, "kernel.cu")
    assert (fault.kind, fault.line) == ("Race reported between Write access", 13)
    assert "kernel.cu:13" in fault.what
    assert "and Read access at" in fault.what
    assert "kernel.cu:14" in fault.what


@pytest.mark.parametrize(
    "read",
    [
        logs.address_faults,
        logs.thread_faults,
        logs.undefined_faults,
        logs.device_faults,
        logs.hazards,
    ],
)
def test_it_finds_nothing_in_a_quiet_log(read):
    quiet = "========= COMPUTE-SANITIZER\n========= {0} SUMMARY: 0 {1}\n"
    for text in ("", quiet.format("ERROR", "errors"), RACECHECK.replace("Error:", "Warning:")):
        assert read(text, "kernel.cu") == ()


def test_it_says_whether_a_log_is_complete():
    assert logs.errors_counted(MEMCHECK) == 2
    assert logs.errors_counted(RACECHECK) == 1
    warned = "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)\n"
    assert logs.errors_counted(warned) == 0
    assert logs.errors_counted("========= COMPUTE-SANITIZER\n") is None


def test_it_keeps_few_faults_and_few_words():
    flood = ADDRESS.replace("8192", "8" * 10_000) * 50
    faults = logs.address_faults(flood, "kernel.cpp")
    assert len(faults) == logs.MOST
    assert all(len(fault.what) <= logs.WORDS for fault in faults)
