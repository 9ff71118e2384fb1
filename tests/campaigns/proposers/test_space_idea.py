"""What a search over all knobs begins with."""

from pathlib import Path

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.proposers.base import Situation
from campaigns.proposers.search.ideas import space_ideas
from campaigns.spaces.matmul_model import MatmulDevice, MatmulShape, MatmulTask
from tests.campaigns.spaces.device import HOPPER

PRODUCT = MatmulTask(
    MatmulShape(1024, 1024, 1024, 4), MatmulDevice(132, 3.35e12, 67e12, 228 * 1024)
)


def seeds(op, **known):
    path = Path(SHIPPED / op / "v0.py")
    source = Source(path.name, path.read_text())
    asked = Situation(op, op, "triton", source, 1, "gpu", limits=HOPPER, element_bytes=4, **known)
    return next(iter(space_ideas(asked))).sweep.seeds


def test_a_product_begins_with_what_a_model_takes_for_fastest():
    first, *others = seeds("matmul", product=PRODUCT)
    assert first["BLOCK_M"] == 64
    assert len(others) == 12
    assert all(point["num_stages"] > 1 for point in others)


def test_others_begin_with_the_source_as_it_is():
    assert len(seeds("matmul")) == 1
    assert len(seeds("layernorm", product=PRODUCT)) == 1
