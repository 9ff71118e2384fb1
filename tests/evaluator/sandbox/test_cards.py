"""On a host of several GPUs a runner has its own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.sandbox import policy
from campaigns.evaluator.sandbox.policy import CardNode, Policy, own_nodes, several, take_card

COMMON = ("null", "nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1")


@pytest.fixture
def nodes(tmp_path, monkeypatch):
    """Those of a host with three cards."""
    monkeypatch.setattr(policy, "DEV", tmp_path)
    listed = tuple(tmp_path / name for name in (*COMMON, "nvidia0", "nvidia1", "nvidia10"))
    for node in listed:
        node.parent.mkdir(exist_ok=True)
        node.symlink_to("/dev/null")
    return listed


def test_it_leaves_a_runner_the_node_of_its_own_card(nodes):
    kept = own_nodes(CardNode("GPU-b", 1), nodes)
    assert [node.name for node in kept] == [*(Path(name).name for name in COMMON), "nvidia1"]
    assert several(nodes)
    assert not several(kept)


@pytest.mark.parametrize("minor", [None, 7])
def test_it_takes_nothing_away_where_the_own_node_is_not_known(nodes, minor):
    assert own_nodes(CardNode("GPU-b", minor), nodes) == nodes


def test_it_shows_cuda_the_own_card_alone(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,2")
    assert take_card("cuda:1", "") == "cuda:1"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1,2"
    assert take_card("cuda:1", "GPU-b") == "cuda:0"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-b"


def test_each_device_gets_a_plan_with_its_card(nodes, plan):
    listed = {"cuda:0": CardNode("GPU-a", 10), "cuda:1": CardNode("GPU-b", None)}
    found = Policy(cards=listed, _plans={"cuda": replace(plan, kind="cuda", devices=nodes)})
    first, second, unknown = (found.plan(f"cuda:{place}") for place in range(3))
    assert (first.card, first.devices[-1].name) == ("GPU-a", "nvidia10")
    assert (second.card, second.devices) == ("GPU-b", nodes)
    assert (unknown.card, unknown.devices) == ("", nodes)
    assert Policy.read(found.line()) == replace(found, _plans={})


def test_it_refuses_a_card_that_is_not_alone_when_all_is_required(nodes, plan):
    whole = replace(plan, kind="cuda", devices=nodes, lacks={})
    listed = {"cuda:0": CardNode("GPU-a", 10)}
    required = Policy(require_all=True, cards=listed, _plans={"cuda": whole})
    assert required.refusal("cuda:0") == ""
    assert "lacks a node of this card alone" in required.refusal("cuda:1")
    assert replace(required, require_all=False).refusal("cuda:1") == ""
