"""The parts of a sheet."""

import pytest

from knowledge.specs.groups import Group, group_of
from knowledge.specs.metrics import METRICS


@pytest.mark.parametrize(
    ("metric", "group"),
    [
        ("memory_bandwidth", Group.MEMORY),
        ("peak_bf16_tensor_dense", Group.PEAKS),
        ("sm_count", Group.UNITS),
        ("l2_size", Group.CACHES),
        ("max_smem_per_block", Group.CACHES),
        ("tdp", Group.LINKS),
        ("copy_bandwidth", Group.MEASURED),
        ("a_metric_of_tomorrow", Group.UNITS),
    ],
)
def test_it_puts_a_metric_into_its_part(metric, group):
    assert group_of(metric) is group


def test_no_part_stays_empty_and_no_metric_is_left_out():
    assert {group_of(name) for name in METRICS} == set(Group)
