"""A strategy is never offered where it cannot fit, and says why (R42)."""

import pytest

from knowledge.exchange.importer import SHIPPED
from knowledge.exchange.readers.files import read_folder
from knowledge.experience.catalogue.applies import applies
from knowledge.experience.catalogue.read import read_catalogue

ALL = read_catalogue(read_folder(SHIPPED)).strategies


@pytest.mark.parametrize(
    ("slug", "asked", "why"),
    [
        ("cu.tma", {"arch": "sm_86"}, "it is for sm_90+, not sm_86"),
        ("cu.tma", {"arch": "gfx942"}, "it is for sm_90+, not gfx942"),
        ("cu.tma", {"arch": "sm_90a"}, ""),
        ("cu.tma", {"arch": "sm_120"}, ""),
        ("cu.tma", {}, ""),
        ("cu.splitk", {"op": "vector_add"}, "it is for matmul or attention or convolution or"),
        ("cu.splitk", {"op": "linear"}, ""),
        ("cu.splitk", {"op": "cumsum"}, "it is for matmul"),
        ("tr.exp2", {"op": "layernorm"}, "it is for softmax or log_softmax or attention, not"),
        ("tr.wpe", {"vendor": "NVIDIA", "backend": "triton"}, "it is for AMD, not NVIDIA"),
        ("ge.3.ring", {"arch": "gfx942"}, "it is for gfx950, not gfx942"),
        ("ge.4.xor", {"backend": "flydsl", "vendor": "AMD", "op": "gemm"}, ""),
        ("ge.4.xor", {"backend": "triton"}, "it is for hip, not triton"),
        ("fd.13", {"arch": "gfx1151"}, ""),
        ("cu.fma", {"bottleneck": "memory_dram"}, "it is for kernels limited by compute, not"),
        ("cu.fuse", {"bottleneck": "memory_cache"}, ""),
        ("cu.fuse", {"bottleneck": "unknown"}, ""),
        ("cu.streams", {"op": "matmul"}, "it is for pipeline, not matmul"),
        ("any.dispatch", {"backend": "cpp", "op": "blur", "bottleneck": "tail"}, ""),
    ],
)
def test_r42_it_fits_or_says_what_it_is_for(slug, asked, why):
    found = applies(ALL[slug], **asked)
    assert bool(found) is (why == "")
    assert found.why.startswith(why or ("it fits" if asked else "nothing was asked"))
