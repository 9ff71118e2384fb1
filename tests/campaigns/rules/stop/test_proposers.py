"""Who may propose, and how many rounds each."""

import pytest

from campaigns.rules.stop.proposers import (
    ProposerKind,
    ProposersError,
    parse_budgets,
    rounds_left,
    told_budgets,
)


@pytest.mark.parametrize(
    ("text", "budgets"),
    [
        ("search,person", {"search": None, "person": None}),
        (" agent = 5 , search=10", {"search": 10, "agent": 5}),
        ("person", {"person": None}),
    ],
)
def test_it_reads_budgets_and_tells_them_in_one_order(text, budgets):
    found = parse_budgets(text)
    assert found == budgets
    assert list(found) == [kind for kind in ProposerKind if kind in found]
    assert parse_budgets(told_budgets(found)) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nobody may propose; accepted: at least one"),
        ("robot", "'robot'; accepted: search, person, agent"),
        ("person=0", "person=0; accepted: 1 to 119 rounds"),
        ("person=many", "person=many; accepted: 1 to 119 rounds"),
        ("person=", "person=; accepted: 1 to 119 rounds"),
        ("search,search", "search is given twice"),
        ("person=9999999999999", "accepted: 1 to 119 rounds"),
    ],
)
def test_it_says_what_is_accepted(text, told):
    with pytest.raises(ProposersError) as caught:
        parse_budgets(text)
    assert told in str(caught.value)


def test_a_kind_without_a_limit_always_has_rounds_left():
    budgets = parse_budgets("search=2,person")
    assert rounds_left(budgets, {ProposerKind.SEARCH: 2, ProposerKind.PERSON: 50}) == {
        ProposerKind.SEARCH: False,
        ProposerKind.PERSON: True,
    }
