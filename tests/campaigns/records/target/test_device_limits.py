"""What a model of a matrix product is told of a campaign."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.records.target.device_limits import product_of
from knowledge.exchange.importer import import_wiki
from knowledge.models import Platform

pytestmark = pytest.mark.django_db


def asked(platform, op="matmul", **params):
    """A campaign of one case, as far as the question goes."""
    problem = SimpleNamespace(op=op, dtype="float16", accumulate="float32")
    return SimpleNamespace(
        problem=problem,
        platform=platform,
        pk=0,
        case_rows=[
            SimpleNamespace(params={"M": 8, "N": 8, "K": 8}),
            SimpleNamespace(params=params),
        ],
    )


def test_it_is_the_largest_product_on_a_known_device():
    import_wiki()
    h200 = Platform.objects.get(slug="h200-sxm")
    found = product_of(asked(h200, M=1024, N=512, K=256))
    assert (found.shape.m, found.shape.n, found.shape.k, found.shape.element_bytes) == (
        *(1024, 512, 256),
        2,
    )
    assert found.device.multiprocessors == 132
    assert found.device.bandwidth_bytes_per_s > 4e12
    assert product_of(asked(h200, op="softmax", M=1024, N=512, K=256)) is None


def test_nothing_is_told_of_a_device_without_cited_values():
    unknown = Platform.objects.create(slug="nothing", name="Nothing", kind="gpu")
    assert product_of(asked(unknown, M=1, N=1, K=1)) is None
