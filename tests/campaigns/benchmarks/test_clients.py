"""What `bench clients` makes of answers: nothing may be lost, doubled or broken."""

from argparse import Namespace
from collections import Counter

import pytest

from campaigns.benchmarks import clients
from campaigns.benchmarks.clients import Crowd, report_of
from campaigns.benchmarks.harness import BenchmarkError, BenchReport


def seen(**more) -> Crowd:
    found = Crowd(0, {}, {}, Counter({200: 3, 201: 2}), [0.01, 0.02, 0.03], [0.05, 0.05])
    found.sent |= {"a", "b"}
    found.accepted |= {"a": {1}, "b": {2}}
    for name, value in more.items():
        setattr(found, name, value)
    return found


def report(found: Crowd, stored: Counter[str]) -> BenchReport:
    return report_of(Namespace(clients=3, seconds=1), found, stored)


def test_it_holds_where_every_answer_is_stored_once():
    found = report(seen(), Counter({"a": 1, "b": 1}))
    assert found.held
    assert "0 submissions lost and 0 doubled" in found.verdict


@pytest.mark.parametrize(
    ("more", "stored", "words"),
    [
        ({}, {"a": 1}, "1 submissions lost"),
        ({}, {"a": 2, "b": 1}, "1 doubled"),
        ({"accepted": {"a": {1, 3}, "b": {2}}}, {"a": 1, "b": 1}, "1 doubled"),
        ({"statuses": Counter({200: 3, 500: 1})}, {"a": 1, "b": 1}, "1 answers of 500"),
        ({"failures": Counter({"TimeoutError": 2})}, {"a": 1, "b": 1}, "2 requests without"),
        ({"reads_s": [0.5, 0.6, 0.7]}, {"a": 1, "b": 1}, "95 % of reads within"),
    ],
)
def test_it_does_not_hold_otherwise(more, stored, words):
    found = report(seen(**more), Counter(stored))
    assert not found.held
    assert words in found.verdict


def test_it_refuses_a_number_of_clients_that_no_host_has():
    with pytest.raises(BenchmarkError, match="--clients 0: 1 to 2000"):
        clients.measure_clients(Namespace(clients=0, seconds=1), print)
