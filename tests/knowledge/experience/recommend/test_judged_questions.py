"""What is recommended on the demo attempts is what a person judged: nDCG@5 of at least 0.85."""

from statistics import mean

import pytest

from knowledge.experience.recommend.ask import recommend
from knowledge.experience.recommend.score import Question
from tests.knowledge.search.corpus import judged, take_in
from tests.knowledge.search.ndcg import ndcg

pytestmark = [pytest.mark.django_db, pytest.mark.storage]

LEAST = 0.85


def test_the_judged_questions_get_their_answers():
    take_in()
    questions = judged()["questions"]
    assert len(questions) >= 30
    values = []
    for each in questions:
        answer = recommend(Question(**each["question"]))
        shown = {"hits": answer.hits, "avoid": answer.avoid}
        for name in ("hits", "avoid"):
            if grades := each.get(name):
                found = [hit.strategy for hit in shown[name]]
                values.append((ndcg(found, grades), name, each["question"], found))
    worst = sorted(values, key=lambda each: each[0])[:10]
    print("\n".join(map(str, worst)))
    assert mean(value for value, *_ in values) >= LEAST, worst
