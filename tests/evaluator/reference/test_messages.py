"""What a hostile reference says is read strictly: nothing but a sound answer gets through."""

from __future__ import annotations

import json

import pytest

from campaigns.evaluator.reference.messages import Nonsense, Sent, answer, placed

X = {"name": "x", "dtype": "float32", "shape": [4], "offset": 0}
N = {"name": "N", "value": 4}


def said(**fields: object) -> bytes:
    return json.dumps({"args": [X, N], "outputs": ["x"], "placed": True} | fields).encode()


def test_a_sound_answer_is_read():
    found = answer(said(), most=16)
    assert found.args == (Sent("x", dtype="float32", shape=(4,)), Sent("N", value=4))
    assert found.outputs == ("x",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[" * 100_000,
        b"{}{}",
        b'{"args": 3}',
        b'{"unknown": 1}',
        b'{"args": [{"name": 5}]}',
        said(outputs=["y"]),
        said(args=[X, X]),
        said(args=[X | {"dtype": "float31"}]),
        said(args=[X | {"shape": [-4]}]),
        said(args=[X | {"shape": [True]}]),
        said(args=[X | {"shape": [1 << 62]}]),
        said(args=[X | {"offset": -256}]),
        said(args=[X | {"offset": 256}]),
        said(args=[X | {"offset": 1}]),
        said(args=[X, {"name": "N", "value": "4"}]),
        said(args=[X, {"name": "N"}]),
        said(rows=5),
        said(rows=0),
    ],
)
def test_anything_else_is_nonsense(data):
    with pytest.raises(Nonsense):
        answer(data, most=16)


def test_tensors_lie_apart():
    places, size = placed([("x", "float32", (3,)), ("y", "int8", (5, 2))], rows=10)
    assert (places["x"].offset, places["x"].nbytes) == (0, 12)
    assert (places["y"].offset, places["y"].nbytes) == (256, 10)
    assert size == 512
