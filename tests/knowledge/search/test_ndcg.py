"""The measure of the judged queries is the one of the textbooks."""

import pytest

from tests.knowledge.search.ndcg import ndcg

GRADES = {"a": 3, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("answers", "value"),
    [
        (["a", "b", "c"], 1.0),
        ([], 0.0),
        (["x", "y"], 0.0),
        # (0/1 + 7/log2(3) + 3/2 + 1/log2(5)) / (7/1 + 3/log2(3) + 1/2)
        (["x", "a", "b", "c"], 0.6758),
        (["a", "a", "b", "c"], 1.0),
        (["v", "w", "x", "y", "z", "a"], 0.0),
    ],
)
def test_ndcg(answers, value):
    assert ndcg(answers, GRADES) == pytest.approx(value, abs=1e-4)


def test_more_good_answers_than_places_can_all_be_right():
    assert ndcg(list("abcde"), dict.fromkeys("abcdefg", 3)) == 1.0
