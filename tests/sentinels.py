"""The candidates that `make test` has judged: one for each mechanism of the judge.

`make test-all` has all of them judged. Names are those of the files, after their backend.
"""

from __future__ import annotations

from collections.abc import Mapping

TRICKS: Mapping[str, str] = {
    "poison: an output that nobody wrote": "cpp/no_op",
    "fence: work that goes on after the answer": "cpp/late_thread",
    "fence: right only once the clock has stopped": "cpp/late_half",
    "slots: an answer kept by its address": "cpp/input_pointer_cache",
    "slots: one call that does the work of all": "cpp/all_slots_in_the_first_call",
    "fresh inputs: an answer kept by a fingerprint": "cpp/fingerprint_cache",
    "every call compared: idle after the checks": "cpp/call_counter",
    "inputs compared: one is changed": "cpp/changes_an_input",
    "guard bands: a write behind the output": "cpp/writes_behind_the_output",
    "hold: it lets itself go on": "cpp/timer_lets_it_go_on",
    "hold: a thread watches the inputs": "cpp/watcher_thread",
    "order of arms: it slows the other one": "cpp/spins_while_idle",
    "slope: it waits in the short bursts": "cpp/slow_in_short_bursts",
    "audit: two threads share the calls": "cpp/pairs_of_slots",
    "salted bursts: careless when it is timed": "cpp/one_pass_in_a_row",
    "repeats: inputs that come again": "cpp/last_answer",
    "structure: rows that only look constant": "cpp/constant_row_by_ends",
    "extreme values: no peak is subtracted": "cpp/softmax_without_peak",
    "hidden sizes: only the declared ones": "cpp/no_tail",
    "tolerance: a lower precision": "cpp/bfloat16_softmax",
    "messages: a forged answer": "cpp/forged_junk_message",
    "limits: it never returns": "cpp/hangs",
    "processes: a child does the work": "cpp/forked_child",
    "two processes: the evaluator is replaced": "triton/patched_evaluator",
}
HONEST: Mapping[str, str] = {
    "the plain way": "cpp/plain",
    "the plain way in Triton": "triton/plain",
    "threads that wait between calls": "cpp/thread_pool",
    "OpenMP": "cpp/openmp",
    "a workspace that is kept": "cpp/static_workspace",
    "sums in another order each time": "cpp/order_by_arrival",
    "a low precision that is declared": "cpp/bf16",
    "a slow first call": "cpp/slow_first_call",
    "calls of a few nanoseconds": "cpp/works_on_a_kibibyte",
    "an autotuned kernel": "triton/autotuned",
}


def is_sentinel(name: str, *, honest: bool) -> bool:
    """Whether `make test` has the candidate `name` judged, such as "cpp/no_op"."""
    return name in (HONEST if honest else TRICKS).values()
