"""The predicate of a dispatch split: right on every declared case, short, and said in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.verdict.dispatch import class_of
from campaigns.rules.verdict.predicate import DispatchProblem, Inseparable, predicate


def choice(params, taken, columns=("D",), given=("N", "D", "M", "K")):
    classes = {case: class_of(found, columns) for case, found in params.items()}
    return DispatchProblem(params, classes, frozenset(taken), tuple(columns), frozenset(given))


ROWS = {
    "a": {"N": 2048, "D": 256},
    "b": {"N": 512, "D": 1024},
    "c": {"N": 255, "D": 2051},
    "d": {"N": 64, "D": 4096},
}


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (["D=2051", "D=4096"], "D ≥ 2051"),
        (["D=256"], "D ≤ 256"),
        (["D=1024", "D=2051"], "D ≥ 1024 and D ≤ 2051"),
        (["D=1024"], "D = 1024"),
        (["D=256", "D=4096"], "D ≤ 256 or D ≥ 4096"),
    ],
)
def test_r19_a_predicate_is_the_shortest_on_the_class_columns(taken, words):
    assert predicate(choice(ROWS, taken)).words == words


def test_r19_a_predicate_takes_several_columns_where_one_does_not_do():
    cases = {f"{m}x{k}": {"M": m, "K": k} for m in (1, 64) for k in (128, 4096)}
    found = predicate(choice(cases, ["M=1, K=4096"], ("M", "K")))
    assert found.words == "M ≤ 1 and K ≥ 4096"
    assert found.code(" && ", " || ") == "M <= 1 && K >= 4096"
    apart = predicate(choice(cases, ["M=1, K=4096", "M=64, K=128"], ("M", "K")))
    assert apart.code(" and ", " or ") == "(M <= 1 and K >= 4096) or (M >= 64 and K <= 128)"


def test_r19_classes_that_the_kernel_can_not_tell_apart_have_no_predicate():
    dtyped = {"a": {"N": 8, "kind": "even"}, "b": {"N": 8, "kind": "odd"}}
    with pytest.raises(Inseparable, match=r"^a \(kind=even\) and b \(kind=odd\) give .* same N"):
        predicate(choice(dtyped, ["kind=even"], ("kind",)))
    with pytest.raises(Inseparable, match="receives none"):
        predicate(choice(ROWS, ["D=256"], given=("rows",)))
    with pytest.raises(Inseparable, match="nothing to dispatch on"):
        predicate(choice(ROWS, ["D=7"]))


def test_r19_a_column_that_the_kernel_does_not_get_is_no_ground():
    # By N alone: D is not among the arguments.
    assert predicate(choice(ROWS, ["D=4096"], given=("N",))).words == "N ≤ 64"


POINTS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 3)), min_size=2, max_size=9
)


@given(POINTS, st.data())
def test_r19_a_predicate_sends_every_declared_case_where_its_class_belongs(points, data):
    cases = {f"case {i}": dict(zip("ABC", at, strict=True)) for i, at in enumerate(points)}
    columns = data.draw(st.sampled_from([("A",), ("A", "B"), ("A", "B", "C")]))
    names = sorted({class_of(case, columns) for case in cases.values()})
    taken = data.draw(st.sets(st.sampled_from(names)))
    asked = choice(cases, taken, columns, "ABC")
    if not taken or taken == set(names):
        with pytest.raises(Inseparable):
            predicate(asked)
        return
    found = predicate(asked)
    for name, params in cases.items():
        assert found.holds(params) is (asked.classes[name] in taken)
        # What is written into a source says the same as what decides here.
        assert eval(found.code(" and ", " or "), {}, params) is found.holds(params)
