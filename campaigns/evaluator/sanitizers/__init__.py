"""Candidates built with sanitizers and run once: memory errors and races that no answer shows.

A small program of ours (harness.py) reads the inputs of one case from a file, puts every tensor in
an allocation of its own, exactly as large as declared, calls `solve` a few times and writes what
came out. C++ is built twice, for AddressSanitizer and for ThreadSanitizer; CUDA C++ once, and run
under compute-sanitizer's memcheck and racecheck.

It runs in the box of any runner, in an evaluation of its own (`Job.sanitize`) where nothing is
timed. What gives way there, and only there:

    limit of addresses    shadow memory takes terabytes of them; resident memory stays bounded
    random addresses      ThreadSanitizer needs its shadow memory at a fixed place
    leak detection        is off: it has to ptrace, which stays forbidden; nor is a kept workspace
                          an error
    Landlock (GPU)        CUDA does not start under it, and here every program starts it anew; what
                          may be read and written is still bounded by the view and the user
    seccomp (GPU)         compute-sanitizer traces the program and talks to it through sockets; the
                          network namespace still holds neither another host nor another process

On a GPU it is not run at all where the view or a namespace is missing, as for an ordinary user:
nothing would hold it.

The candidate runs in the process that watches it, so it could keep the watch from seeing. Clean is
the absence of a finding, never a proof, and nothing is accepted because of it.
"""
