"""What a source needs of a GPU is read in the judge, which no source may bring down."""

from __future__ import annotations

import pytest

from campaigns.evaluator.interpreter.no_gpu import refuses


@pytest.mark.parametrize(
    "text",
    [
        *("x = a" + ".b" * links for links in (500, 1_500, 20_000)),
        "x = a" + ".b()" * 400,
        "x = " + "-" * 20_000 + "a.b",
        "x = (",
        "from . import libdevice; f = libdevice.tanh",
    ],
    ids=lambda text: text[:12],
)
def test_no_source_is_too_deep_for_it(text):
    assert refuses([], text, "cpu") == ""


@pytest.mark.parametrize(
    "text",
    [
        "f = tl.extra.cuda.libdevice.popc",
        "from triton.language.extra.libdevice import tanh, popc as count",
        "f = " + "a." * 900 + "libdevice.popc",
    ],
    ids=lambda text: text[:12],
)
def test_it_names_what_an_interpreter_lacks(text):
    assert "has no libdevice.popc" in refuses([], text, "cpu")
    assert refuses([], text, "cuda:0") == ""
