"""A candidate run once under a profiler of its device: hardware counters, for people and proposers.

`run` chooses a profiler, one file each: `ncu` for kernels of NVIDIA's GPUs, `perf` for C++ on a
CPU. It starts a program that makes a few calls (the harness of the sanitizers for C++ and CUDA C++,
`calls` for Triton) in the box of any runner, with what gives way there for a sanitizer; `lines`
keeps of ncu's report what is read.

Only the candidate's work is counted. ncu filters: kernels that the candidate's text defines, one
launch apart from another; what torch or a library launches is none of them. perf is told by the
harness when a call begins and ends, so neither its start nor the inputs are counted.

perf needs one system call more than others in the box: perf_event_open, of a process and never of
a whole CPU, which the filter sees by its argument. The candidate does not get it: `started` takes
it away, in the process that then becomes the candidate's program. Kernels are not counted either:
every event is of user code alone, and perf_event_paranoid from 2 on allows nothing else.
"""
