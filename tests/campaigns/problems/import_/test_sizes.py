"""Sizes of example calls that depend on each other."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from campaigns.problems.import_.draft import DraftError, Given
from campaigns.problems.import_.example_calls import read_call
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.sizes import Sizes
from campaigns.problems.import_.write import written
from campaigns.steps.propose_problem import propose_problem

# The first half of each row times the second one.
HALVES = """
import torch
import triton
import triton.language as tl


@triton.jit
def multiply(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    first = x_ptr + tl.program_id(0) * 2 * n_cols + cols
    x = tl.load(first, mask=mask) * tl.load(first + n_cols, mask=mask)
    tl.store(y_ptr + tl.program_id(0) * n_cols + cols, x, mask=mask)


def halves(x, out):
    n = out.shape[1]
    multiply[(x.shape[0],)](x, out, n, BLOCK=triton.next_power_of_2(n))
"""
REFERENCE = "def right(x, out):\n    a, b = x.chunk(2, -1)\n    out.copy_(a * b)\n"
# Rows of parts that begin where offsets say.
PARTS = "def right(x, starts, longest):\n    return x.cumsum(0) + starts.sum() + longest\n"


def sizes(text):
    listed, _ = read_call(text)
    names = Sizes([dict(enumerate(listed))])
    return [names.shape("", [one]) for one in listed if hasattr(one, "shape")], names.cases


def given(call, kernel=HALVES, reference=REFERENCE):
    return Given("halves.py", kernel, "ref.py", reference, calls=(call,))


def test_a_size_that_is_written_with_another_moves_with_it():
    shapes, cases = sizes("D = 64; f(torch.randn(32, 2 * D), torch.randn(32, D))")
    assert shapes == [("N", "2 * D"), ("N", "D")]
    assert cases == {"64x32": {"D": 64, "N": 32}}


def test_an_equal_size_in_digits_is_another_one():
    shapes, _ = sizes("D = 64; f(torch.randn(64, 2 * D), torch.randn(64, D))")
    assert shapes == [("N", "2 * D"), ("N", "D")]


def test_a_number_that_is_a_size_by_name_is_not_mistaken_for_an_equal_one():
    listed, _ = read_call("N = 64; f(torch.randn(64, 2 * N), N, N // 2, 64)")
    names = Sizes([dict(enumerate(listed))])
    assert names.shape("", [listed[0]]) == ("D", "2 * N")
    assert [names.number([one]) for one in listed[1:]] == ["N", "N // 2", "D"]


def test_a_problem_with_dependent_sizes_works_in_smaller_ones():
    call = "D = 512; halves(torch.randn(64, 2 * D), torch.empty(64, D))"
    found = propose_problem(propose(given(call)))
    assert "torch.randn((N, 2 * D,)" in found.files["ref.py"]
    assert 'name = "256x64"' in found.files["problem.toml"]
    assert found.read["case"] == "512x64"


def test_dependent_sizes_without_names_are_refused_with_the_way_to_write_them():
    call = "halves(torch.randn(64, 1024), torch.empty(64, 512))"
    with pytest.raises(DraftError) as told:
        propose_problem(propose(given(call)))
    assert told.value.field == "call"
    assert "works with N = 64, D = 1024, n = 512 and not with" in str(told.value)
    assert "D = 64; f(torch.randn(32, 2 * D), torch.randn(D))" in told.value.message


def test_offsets_are_made_of_the_sizes_that_they_are_written_with():
    kernel = HALVES.replace("halves(x, out):", "halves(x, starts, longest):").replace(
        "n = out.shape[1]", "out, n = x, x.shape[1] // 2"
    )
    call = "N = 8; halves(torch.randn(3 * N, 32), torch.arange(3) * N, N)"
    draft = propose(given(call, kernel + "    return out\n", PARTS))
    text = written(draft)["ref.py"]
    assert '"starts": (torch.arange(3) * N).to(device)' in text
    assert '"longest": N' in text
    assert "starts is torch.arange(3) * N in every call." in draft.assumed


def test_a_kept_size_is_the_same_in_every_case():
    call = "D = 512; halves(torch.randn(64, 2 * D), torch.empty(64, D))"
    draft = propose(replace(given(call), keep=("D",)))
    text = written(draft)["problem.toml"]
    assert 'free = ["N"]' in text
    assert "params = { D = 512, N = 32 }" in text


def test_a_size_that_is_not_there_cannot_be_kept():
    call = "D = 512; halves(torch.randn(64, 2 * D), torch.empty(64, D))"
    with pytest.raises(DraftError, match="keep: K; accepted: D, N"):
        propose(replace(given(call), keep=("K",)))


def test_numbers_that_only_the_kernel_or_only_the_reference_has_are_kept():
    kernel = HALVES.replace("halves(x, out):", "halves(x, out, warps):")
    reference = REFERENCE.replace("right(x, out)", "right(x, out, axis)")
    call = "warps = 64; right(torch.randn(32, 64), torch.empty(32, 32), axis=-1)"
    draft = propose(given(call, kernel, reference))
    assert [(arg.name, arg.value) for arg in draft.args[2:]] == [("warps", 64)]
    assert "halves(x=x, out=out, warps=warps)" in draft.kernels["triton"][1]
    assert "_right(x=x, out=out, axis=-1)" in written(draft)["ref.py"]
    with pytest.raises(DraftError, match="warps: no example call gives it; accepted: a number of"):
        propose(given(call.replace("warps = 64; ", ""), kernel, reference))


def test_memory_to_work_in_is_made_by_each_call_in_the_sizes_of_its_arguments():
    kernel = HALVES.replace("halves(x, out):", "halves(x, out, partial, locks):")
    call = (
        "D = 64; halves(torch.randn(32, 2 * D), torch.empty(32, D), torch.empty(32, 2 * D, 5), "
        "torch.zeros(7, dtype=torch.int32))"
    )
    draft = propose(replace(given(call, kernel), outputs=("out",)))
    assert [arg.name for arg in draft.args] == ["x", "out"]
    text = draft.kernels["triton"][1]
    made = "torch.empty((x.shape[0], 2 * out.shape[1], 5,), dtype=torch.float32, device=x.device)"
    assert f"partial={made}" in text
    assert "locks=torch.zeros((7,), dtype=torch.int32, device=x.device)" in text
    assert list(draft.cases) == ["64x32"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("halves(torch.randn(64, 64), torch.empty(64, 32))", "x (N by N)"),
        ("D = 64; halves(torch.randn(D, D), torch.empty(D, 32))", "x (D by D)"),
        ("halves(torch.randn(64, 128), torch.empty(64, 64))", ""),
        ("halves(torch.randn(64, 128), torch.empty(64, 32))", ""),
        ("halves(torch.randn(1, 1), torch.empty(1, 1))", ""),
    ],
)
def test_equal_sides_of_a_tensor_are_said_to_be_one_size(call, said):
    about = [one for one in propose(given(call)).assumed if "rows from columns" in one]
    assert [said in one for one in about] == [True] * bool(said)


@pytest.mark.django_db
def test_a_call_that_fits_on_no_device_is_refused_with_the_arithmetic(monkeypatch):
    small = SimpleNamespace(kind="cpu", name="a small host", memory_bytes=1 << 26)
    monkeypatch.setattr("campaigns.steps.propose_problem.devices", lambda: [small])
    call = "D = 1 << 20; halves(torch.randn(64, 2 * D), torch.empty(64, D))"
    with pytest.raises(DraftError, match=r"call: does not fit on a small host: .* can be had"):
        propose_problem(propose(given(call)))


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("M, K = x.shape", ("M", "K")),
        ("M, K = x.size()", ("M", "K")),
        ("width = x.shape[-1]", ("N", "width")),
        ("M, width = x.size(0), x.size(-1)", ("M", "width")),
        ("M, K = out.shape", ("N", "D")),
        ("M, *rest = x.shape", ("N", "D")),
        ("seed, K = x.shape", ("N", "K")),
    ],
)
def test_a_size_has_the_name_that_the_source_gives_it(line, shape):
    kernel = HALVES.replace("n = out.shape[1]", f"{line}\n    n = 32")
    draft = propose(given("halves(torch.randn(48, 64), torch.empty(7, 9))", kernel))
    assert draft.args[0].shape == shape


def test_queries_and_keys_have_the_sides_of_attention():
    q, k = (f"torch.randn({sides})" for sides in ("4, 16, 2048, 64", "4, 16, 1024, 64"))
    listed, _ = read_call(f"f({q}, {k})")
    names = Sizes([dict(enumerate(listed))])
    assert names.shape("q", [listed[0]]) == ("B", "H", "S", "D")
    assert names.shape("key", [listed[1]]) == ("B", "H", "N", "D")


@pytest.mark.parametrize(("end", "kept"), [("K", ("K",)), ("triton.next_power_of_2(K)", ())])
def test_a_size_that_a_range_of_triton_has_is_kept(end, kept):
    kernel = HALVES.replace("n = out.shape[1]", "M, K = x.shape\n    n = K // 2").replace(
        "triton.next_power_of_2(n)", end
    )
    draft = propose(given("D = 32; halves(torch.randn(48, 64), torch.empty(48, 32))", kernel))
    assert draft.kept == kept
    assert any("tl.arange needs a power of two" in one for one in draft.assumed) is bool(kept)


def test_an_interpreter_s_tensors_are_small_whatever_the_product_of_the_sizes():
    kernel = HALVES.replace("n = out.shape[1]", "M, K = x.shape\n    n = out.shape[1]")
    draft = propose(given("halves(torch.randn(4096, 4096), torch.empty(4096, 2048))", kernel))
    assert "params = { M = 128, K = 128, n = 128 }" in written(draft)["problem.toml"]
