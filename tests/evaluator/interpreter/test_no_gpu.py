"""What a source needs of a GPU is read in the judge, which no source may bring down."""

from __future__ import annotations

import pytest

from campaigns.evaluator.interpreter.stand_in import refuses


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


@pytest.mark.parametrize("name", ["bfloat16", "float8e4nv", "float8_e5m2"])
def test_it_names_a_type_that_an_interpreter_computes_wrongly(name):
    text = f"x = y.to(tl.{name})"
    assert refuses([], text, "cpu").startswith(f"Triton's interpreter computes {name} wrongly")
    assert refuses([], text, "cuda:0") == ""


def test_it_names_torchs_float8_where_a_tensor_gets_it_and_not_its_bfloat16():
    said = "Triton's interpreter computes float8_e4m3fn wrongly"
    for use in ("x.view(torch.float8_e4m3fn)", "f(dtype=torch.float8_e4m3fn)"):
        assert refuses([], use, "cpu").startswith(said)
        assert refuses([], use, "cuda:0") == ""
        assert refuses([], use.replace("float8_e4m3fn", "bfloat16"), "cpu") == ""
    for asked in ("x.dtype == torch.float8_e5m2", "x.dtype in (torch.float8_e5m2, torch.int8)"):
        assert refuses([], asked, "cpu") == ""
    assert refuses([], "NAMES = {torch.float8_e5m2: tl.float32}", "cpu") == ""


def test_a_table_from_torchs_types_names_none_that_a_kernel_gets():
    table = "NAMES = {torch.bfloat16: tl.bfloat16, torch.float16: tl.float16}\n"
    assert refuses([], table, "cpu") == ""
    for other in (
        "x.to(tl.bfloat16)",
        "{torch.float16: tl.bfloat16}",
        "{tl.bfloat16: tl.bfloat16}",
    ):
        assert refuses([], f"{table}y = {other}\n", "cpu") != ""
