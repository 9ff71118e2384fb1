"""Limits as a caller would give them: the values of the H200 in the wiki, copied."""

from campaigns.spaces.constraints import DeviceLimits

HOPPER = DeviceLimits(
    shared_bytes_per_block=227 * 1024,
    static_shared_bytes_per_block=48 * 1024,
    registers_per_block=65536,
    registers_per_thread=255,
    threads_per_block=1024,
    threads_per_multiprocessor=2048,
    max_warps=32,
)
