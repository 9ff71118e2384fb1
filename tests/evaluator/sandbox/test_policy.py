"""All layers, or a report that lists those that held: never a candidate that is unlocked unsaid."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import NoReturn

import pytest

from campaigns.devices import launch
from campaigns.evaluator.contract import Outcome, Phase
from campaigns.evaluator.sandbox import identity, landlock, lock
from campaigns.evaluator.sandbox.layers import (
    NOT_FOR_CUDA_USER,
    Layer,
    describe,
    wanted,
    words,
)
from campaigns.evaluator.sandbox.policy import CardNode, Policy
from tests.campaigns.devices.conftest import H100, H200
from tests.evaluator.sandbox.hosts import without


@pytest.mark.parametrize(
    "layer", [layer for layer in Layer if layer not in (Layer.USER, Layer.PROC)]
)
def test_it_works_without_a_layer_and_does_not_name_it(with_layers, plan, layer):
    if layer not in plan.holds:
        pytest.skip(f"this host has no {layer}")
    missing = {layer, Layer.PROC} if layer in (Layer.MOUNTS, Layer.PROCESSES) else {layer}
    if layer is Layer.MOUNTS and os.getuid() == 0:
        missing.add(Layer.UID)  # Python may lie where only root may read
    if layer is Layer.SECCOMP:
        missing.add(Layer.AUDIT)
    report = with_layers(without(plan, *missing))
    assert report.outcome is Outcome.PASSED, f"{report.reason}\n{report.runner_log}"
    held = report.environment["sandbox"].split(", ")
    assert not {str(layer) for layer in missing} & {word.split(" ")[0] for word in held}
    assert len(held) == len(plan.holds) - len(missing & {*plan.holds})


def test_it_refuses_work_when_a_layer_is_missing_and_all_are_required(with_layers, plan):
    report = with_layers(without(plan, Layer.SECCOMP), require_all=True)
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.phase is Phase.START
    assert "KOPT_SANDBOX=all: this host lacks seccomp" in report.reason
    assert "doctor" in report.reason


def test_it_works_when_all_are_required_and_there(with_layers, plan):
    if plan.missing:
        pytest.skip(f"this host lacks {', '.join(plan.missing)}")
    assert with_layers(plan, require_all=True).outcome is Outcome.PASSED


def _fail_a_layer(*arguments: object, **options: object) -> NoReturn:
    raise lock.NotLocked("sandbox: a layer did not hold")


def no_lock_down() -> None:
    lock.Lock.lock_down = _fail_a_layer  # type: ignore[method-assign]


def no_seal() -> None:
    lock.Lock.seal = _fail_a_layer  # type: ignore[method-assign]


@pytest.mark.parametrize("broken", [no_lock_down, no_seal])
def test_it_loads_nothing_when_a_layer_fails_as_it_is_closed(with_layers, plan, broken):
    report = with_layers(plan, broken=broken)
    assert report.outcome is Outcome.BROKEN_HOST
    assert "a layer did not hold" in report.reason


def no_unshare() -> None:
    def fail(*arguments: object) -> NoReturn:
        raise OSError(1, "Operation not permitted", "unshare")

    lock.enter = fail


def test_it_blames_the_host_when_a_runner_dies_before_it_is_locked(with_layers, plan):
    report = with_layers(plan, broken=no_unshare)
    assert report.outcome is Outcome.BROKEN_HOST
    assert "the sandbox could not lock the runner down" in report.reason
    assert "unshare" in report.reason


def no_landlock() -> None:
    def fail(*arguments: object) -> NoReturn:
        raise OSError(22, "Invalid argument", "landlock_restrict_self")

    landlock.restrict = fail


def test_it_blames_the_host_when_landlock_fails(with_layers, plan):
    if Layer.LANDLOCK not in plan.holds:
        pytest.skip("no Landlock here")
    report = with_layers(plan, broken=no_landlock)
    assert report.outcome is Outcome.BROKEN_HOST
    assert "landlock_restrict_self" in report.reason


def test_it_wants_a_user_id_from_root_and_a_namespace_from_others():
    assert {*wanted(root=True)} == {*Layer} - {Layer.USER}
    assert {*wanted(root=False)} == {*Layer} - {Layer.UID}


def test_it_refuses_an_ordinary_users_gpu_when_all_layers_are_required(plan):
    lacks = dict.fromkeys(NOT_FOR_CUDA_USER, "not used with CUDA by an ordinary user")
    holds = {layer: "" for layer in wanted(root=False) if layer not in lacks}
    ordinary = replace(plan, kind="cuda", root=False, holds=holds, lacks=lacks)
    refused = Policy(require_all=True, _plans={"cuda": ordinary}).refusal("cuda:0")
    assert "this host lacks mounts, proc, processes" in refused
    assert "not bound by Landlock" in words(Layer.MOUNTS, "cuda", root=False).costs
    assert "not bound by Landlock" not in words(Layer.MOUNTS, "cuda", root=True).costs


def test_it_describes_layers_in_one_order():
    assert describe({Layer.LANDLOCK: "7", Layer.NETWORK: ""}) == "network, landlock 7"


def test_it_carries_its_settings_to_the_service(settings, monkeypatch):
    settings.KOPT_SANDBOX, settings.KOPT_RUNNER_MIB = "ALL", 2048.0
    monkeypatch.setattr(launch, "visible_cards", lambda: [H100, H200])
    policy = Policy.read(launch.EvaluatorService()._policy.line())
    assert (policy.require_all, policy.memory_bytes) == (True, 2 << 30)
    cards = {"cuda:0": CardNode(H100.uuid, H100.minor), "cuda:1": CardNode(H200.uuid, H200.minor)}
    assert policy.cards == cards


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives runners users of their own")
def test_it_gives_every_live_runner_a_user_of_its_own():
    leases = [identity.lease_uid() for _ in range(12)]
    assert len({lease.uid for lease in leases}) == 12
    assert [lease.uid for lease in leases] != sorted(lease.uid for lease in leases)
    for lease in leases:
        lease.end()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives runners users of their own")
def test_it_gives_a_user_again_once_it_is_free(monkeypatch):
    monkeypatch.setattr(identity, "_block", lambda: range(70_000, 70_001))
    first = identity.lease_uid()
    with pytest.raises(OSError, match="no user id is free"):
        identity.lease_uid()
    first.end()
    identity.lease_uid().end()
