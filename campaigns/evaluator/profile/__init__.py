"""A candidate run once under a profiler of its device: hardware counters, for people and proposers.

`run` builds a program that makes
a few calls (the harness of the sanitizers for CUDA C++, `calls` for Triton) and starts it under the
profiler, in the box of any runner, with what gives way there for a sanitizer and nothing more.

The filter is never left out: what is counted are the kernels that the candidate's text defines, one
launch apart from another. What torch or a library launches is none of them.
"""
