"""What a worker's side may use of the sandbox: its policy, its layers, what is asked of it.

With it the ways in which processes that run foreign code are kept together and ended.
"""

from campaigns.evaluator.sandbox.identity import HIGH_BLOCK, LOW_BLOCK
from campaigns.evaluator.sandbox.layers import Layer, describe, wanted, words
from campaigns.evaluator.sandbox.limits import memory_limit, with_descendants
from campaigns.evaluator.sandbox.policy import (
    LOG_BYTES,
    TABLE_BYTES,
    CardNode,
    Order,
    Policy,
    Told,
)
from campaigns.evaluator.sandbox.processes import (
    adopt_orphans,
    describe_status,
    die_with_parent,
    end_descendants,
    kill_group,
    wait_status,
)

__all__ = [
    "HIGH_BLOCK",
    "LOG_BYTES",
    "LOW_BLOCK",
    "TABLE_BYTES",
    "CardNode",
    "Layer",
    "Order",
    "Policy",
    "Told",
    "adopt_orphans",
    "describe",
    "describe_status",
    "die_with_parent",
    "end_descendants",
    "kill_group",
    "memory_limit",
    "wait_status",
    "wanted",
    "with_descendants",
    "words",
]
