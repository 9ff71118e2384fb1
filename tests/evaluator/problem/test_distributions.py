"""Rows per group are of the distribution that a case names, or the problem is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.problem_words import DISTRIBUTIONS, complaint
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference
from tests.evaluator import small

GOOD = {
    "uniform": [3, 3, 4],
    "k2_cf1.0": [4, 4, 4],
    "k1_cf1.25": [5, 4, 3],
    "half_in_one": [6, 3, 3],
    "empty_group": [6, 6, 0],
}
BAD = {
    "uniform": [3, 3, 5],
    "k2_cf1.0": [5, 4, 3],
    "k1_cf1.25": [6, 3, 3],
    "half_in_one": [5, 4, 3],
    "empty_group": [6, 5, 1],
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_r22_each_distribution_is_told_from_what_it_is_not(name):
    assert complaint(name, GOOD[name]) == ""
    assert f"is not {name}; needed: " in complaint(name, BAD[name])


@pytest.mark.parametrize("sizes", [None, [], [1.5], [-1, 2], [True], "12", 3])
def test_r22_what_is_no_list_of_counts_is_none(sizes):
    assert "needed: a list" in complaint("uniform", sizes)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_r22_no_rows_are_both_even_and_skewed(sizes):
    even = complaint("uniform", sizes) == ""
    if even and len(sizes) > 2 and sum(sizes) > 2 * len(sizes):
        assert complaint("half_in_one", sizes)
    assert (complaint("empty_group", sizes) == "") is (0 in sizes and sum(sizes) > 0)


def test_r22_setup_is_held_to_the_distribution_of_its_case(tmp_path):
    ref = small.REF.replace("N, seed", "N, distribution, seed").replace(
        '"outputs": ["y"]}', '"outputs": ["y"], "group_sizes": [N - 1, 1]}'
    )
    reference = Reference(ProblemCode(small.write_problem(tmp_path, ref=ref)))
    skewed = Case("skewed", {"N": 8, "distribution": "half_in_one"})
    assert reference.example(skewed, 1, "cpu").outputs == ("y",)
    even = Case("even", {"N": 8, "distribution": "uniform"})
    with pytest.raises(BadReference, match=r"setup\(even\): group_sizes: \[7, 1\] is not uniform"):
        reference.example(even, 1, "cpu")
