"""A runner that answers early, does half, or answers from memory is caught in the timed calls."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.timing import burst
from tests.evaluator.small import LOOP, source

THREADS = ("-pthread",)


def test_it_catches_work_that_is_finished_after_done_was_said(judge):
    # Honest while it is being checked; later the work is left to a thread.
    before = "#include <thread>\n#include <chrono>\n#include <cstring>\nstatic int calls = 0;\n"
    body = """
    auto work = [=] { for (int i = 0; i < N; ++i) y[i] = 2 * x[i]; };
    if (++calls <= 64) { work(); return; }
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); work(); }).detach();
    """
    report = judge(source(body, before, ("-O2",)))
    assert report.outcome is Outcome.CHEATED
    assert "before its work was done" in report.reason


def test_it_catches_half_of_the_work(judge):
    before = "static int calls = 0;\n"
    body = "int n = ++calls <= 64 ? N : N / 2; for (int i = 0; i < n; ++i) y[i] = 2 * x[i];"
    report = judge(source(body, before))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "timed call" in report.reason


def test_it_catches_answers_from_a_cache_by_address(judge):
    before = """
    #include <map>
    #include <vector>
    static std::map<const float*, std::vector<float>> seen;
    static int calls = 0;
    """
    body = """
    auto it = seen.find(x);
    if (++calls <= 64 || it == seen.end()) {
      LOOP
      seen[x] = std::vector<float>(y, y + N);
    } else {
      for (int i = 0; i < N; ++i) y[i] = it->second[i];
    }
    """.replace("LOOP", LOOP)
    report = judge(source(body, before))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "timed call" in report.reason


def test_it_catches_a_call_that_changes_its_input(judge):
    before = "static int calls = 0;\n"
    body = LOOP + " if (++calls > 64) ((float*)x)[7] = 0;"
    report = judge(source(body, before))
    assert report.outcome is Outcome.CHEATED
    assert "'x'" in report.reason


def test_it_catches_late_work_that_hides_behind_a_filled_output(judge):
    # No poison is left to see when `done` is said: the output holds junk until the thread is over.
    before = "#include <thread>\n#include <chrono>\nstatic int calls = 0;\n"
    body = """
    auto work = [=] { for (int i = 0; i < N; ++i) y[i] = 2 * x[i]; };
    if (++calls <= 64) { work(); return; }
    for (int i = 0; i < N; ++i) y[i] = 1.0f;
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); work(); }).detach();
    """
    report = judge(source(body, before, ("-O2",)))
    assert report.outcome is Outcome.CHEATED
    assert "before its work was done" in report.reason


def test_it_catches_a_changed_input_while_it_checks(judge):
    report = judge(source(LOOP + " ((float*)x)[7] = 0;"), timed=False)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "'x'" in report.reason


def test_it_believes_no_report_but_the_judges(judge):
    # Forge the old report files and end the judge's group: nothing of that is read.
    before = "#include <fstream>\n#include <csignal>\n#include <unistd.h>\n#include <cstdlib>\n"
    body = """
    for (auto name : {"../judge.json", "../report.json"})
      std::ofstream(name) << R"({"schema": 1, "outcome": "passed"})";
    _Exit(0);
    """
    report = judge(source(body, before))
    assert report.outcome is Outcome.CRASHED


def test_it_runs_the_clock_whenever_a_runner_may_see_fresh_inputs(monkeypatch):
    order = Mock()
    order.channel.restless.return_value = None
    order.clock.return_value = 0.0
    monkeypatch.setattr(burst, "set_up", order.refresh)
    monkeypatch.setattr(burst, "prove", order.prove)
    monkeypatch.setattr(burst, "OutputFence", Mock())
    monkeypatch.setattr(burst.time, "perf_counter", order.clock)
    supply = SimpleNamespace(shuffled=list)
    context = SimpleNamespace(limit_s=1.0, wait=Mock(), quiescence=None, supply=supply)
    prepared = SimpleNamespace(context=context, channel=order.channel, calls=2, truth=Mock())
    order.refresh.return_value = prepared
    burst.run_burst(SimpleNamespace(context=context, channel=order.channel, slots=Mock()), 2)
    named = [call[0] for call in order.mock_calls if call[0] != "channel.restless"]
    assert named == [
        *(
            "channel.ask",
            "channel.pose",
            "refresh",
            "channel.rest_helpers",
            "channel.start_burst",
            "channel.rest",
        ),
        *("clock", "channel.go", "channel.done", "clock", "channel.freeze", "prove"),
    ]
