"""Between two jobs the service can be told to use no device, so that others' use of it is seen."""

from __future__ import annotations

import socket
from types import SimpleNamespace

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.integrity.hold import below
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.service.zygote import Zygote
from tests.evaluator import small


def test_it_hangs_up_on_the_crew_in_reserve():
    ours, theirs = socket.socketpair()
    zygote = Zygote(SimpleNamespace(), Policy())
    zygote._reserve = (4711, ours)
    zygote._end_reserve()
    with theirs:
        assert theirs.recv(1) == b""
    assert zygote._reserve is None
    zygote._end_reserve()


def test_it_leaves_no_process_but_the_service_and_goes_on(service, judge):
    assert judge(small.source()).outcome is Outcome.PASSED
    before = service.process_id
    service.rest()
    assert below(before) == set()
    assert judge(small.source()).outcome is Outcome.PASSED
    assert service.process_id == before


def test_it_does_not_start_a_service_to_have_it_rest():
    idle = EvaluatorService()
    idle.rest()
    assert idle.process_id is None
