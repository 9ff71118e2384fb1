"""Warnings about stored values, and their reasoned exceptions."""

import pytest

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import restore, retire
from knowledge.curation.warn import waive, warnings_before, warnings_of
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Document, Platform, Spec, Waiver
from tests.knowledge.conftest import BANDWIDTH, facts

pytestmark = pytest.mark.django_db


@pytest.fixture
def odd(x1, note, engineer):
    return propose(
        x1, facts("5.1 kB", metric="l2_size"), CitedLines(note, 6, 6), engineer, "why not"
    )


def said(spec):
    return [(w.constraint, w.waived) for w in warnings_of([spec])[spec.pk]]


def test_it_warns_with_both_numbers(odd):
    (warning,) = warnings_of([odd])[odd.pk]
    assert warning.constraint == "range"
    assert "5.1 kB" in warning.message
    assert "131.07 kB" in warning.message


def test_it_sees_a_value_beside_the_approved_ones_but_not_beside_itself(x1, note, engineer):
    tdp = Spec.objects.get(metric="tdp")
    assert said(tdp) == []
    twin = Spec(platform=x1, metric="tdp", shown="0.7 kW", source=tdp.source,
                source_url=tdp.source_url)  # fmt: skip
    assert [w.constraint for w in warnings_before(twin)] == ["duplicate"]
    twin.replaces = tdp
    assert warnings_before(twin) == []


def test_it_keeps_a_waived_warning_and_says_why(odd, curator):
    waive(odd, "range", "a toy", curator)
    assert said(odd) == [("range", "a toy")]
    change = odd.changes.first()
    assert (change.action, change.by, change.why) == ("waived", curator, "a toy")


def test_only_a_second_curator_waives(x1, note, odd, curator, engineer):
    with pytest.raises(Forbidden, match="curator or lead"):
        waive(odd, "range", "a toy", engineer)
    own = facts("5.1 kB", metric="l2_size", note="again")
    mine = propose(x1, own, CitedLines(note, 6, 6), curator, "mine")
    with pytest.raises(Forbidden, match="you proposed this value"):
        waive(mine, "range", "a toy", curator)
    assert not Waiver.objects.exists()


@pytest.mark.parametrize(
    ("constraint", "reason", "field"),
    [("duplicate", "a toy", "constraint"), ("nonsense", "a toy", "constraint"),
     ("range", "  ", "reason")],
)  # fmt: skip
def test_it_refuses_what_does_not_warn_and_no_reason(odd, curator, constraint, reason, field):
    with pytest.raises(CurationError) as refused:
        waive(odd, constraint, reason, curator)
    assert refused.value.field == field


def test_who_restored_or_first_proposed_a_value_does_not_waive(odd, curator, second_curator):
    retire(odd, second_curator, "doubtful")
    restore(odd, curator, "right after all")
    retire(odd, second_curator, "doubtful")
    restore(odd, second_curator, "right after all")
    for brought in (curator, second_curator):
        with pytest.raises(Forbidden, match="another curator"):
            waive(odd, "range", "a toy", brought)


def test_the_second_waiver_is_told_who_was_first(odd, curator, second_curator):
    waive(odd, "range", "a toy", curator)
    with pytest.raises(Conflict, match="cora was first"):
        waive(odd, "range", "a toy too", second_curator)
    assert odd.changes.filter(action="waived").count() == 1


def cited(x1, engineer, text, line, shown="4.9 TB/s", path="docs/more.md"):
    """A proposal that rests on one line of a document of its own."""
    take_files({path: text}, ImportOptions(origin="more"))
    place = CitedLines(Document.objects.get(path=path).latest, line, line)
    return propose(x1, facts(shown), place, engineer, "why not"), place


@pytest.fixture
def x2(wiki, page_text):
    """A second platform, X 2, that has a document."""
    text = page_text(BANDWIDTH).replace("x-1", "x-2").replace("X1", "X2").replace("X 1", "X 2")
    take_files({"docs/hardware/x-2.md": text}, ImportOptions(origin="second"))
    return Platform.objects.get(slug="x-2")


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("docs/a.md", "# Notes\n\n## Platform\n\n- platform: x-2\n\n## Seen\n\n4.9 TB/s\n", 9),
        ("docs/a.md", "# maker  X 2\n\n4.9 TB/s\n", 3),
        ("docs/x-2.md", "# Notes\n\n4.9 TB/s\n", 3),
    ],
)
def test_it_sees_a_document_about_another_product(x1, x2, engineer, path, text, line):
    message = "the cited document speaks of x-2, and the value is one of x-1"
    spec, place = cited(x1, engineer, text, line, path=path)
    (warning,) = warnings_of([spec])[spec.pk]
    assert (warning.constraint, warning.message) == ("other-product", message)
    draft = Spec(platform=x1, metric="memory_bandwidth", shown="4.9 TB/s")
    assert [w.message for w in warnings_before(draft, place)] == [message]
    spec.platform = x2
    assert said(spec) == []


@pytest.mark.parametrize("title", ["Notes", "X 1", "X 1 and X 2"])
def test_a_document_may_speak_of_this_product_or_of_none(x1, x2, engineer, title):
    spec, _ = cited(x1, engineer, f"# {title}\n\n4.9 TB/s\n", 3)
    assert said(spec) == []


def test_it_excepts_a_document_about_another_product(x1, x2, engineer, curator):
    spec, _ = cited(x1, engineer, "# X 2\n\n4.9 TB/s\n", 3)
    waive(spec, "other-product", "the same board", curator)
    assert said(spec) == [("other-product", "the same board")]


@pytest.mark.parametrize(
    ("text", "line", "warned"),
    [
        ("# Notes\n\nsee page 2024\n", 3, True),
        ("# Notes\n\n## Bandwidth\n\nsee page 2024\n", 5, False),
        ("# Notes\n\n| part | GB/s |\n|---|---|\n| this | 2024 |\n", 5, False),
        ("# Notes\n\n| part | year |\n|---|---|\n| this | 2024 |\n", 5, True),
    ],
)
def test_it_sees_a_number_that_is_of_nothing(x1, engineer, text, line, warned):
    spec, place = cited(x1, engineer, text, line, shown="2024 GB/s")
    odd = [("contradiction", "")]
    assert said(spec) == odd + ([("bare-number", "")] if warned else [])
    draft = Spec(platform=x1, metric="memory_bandwidth", shown="2024 GB/s")
    before = [warning.constraint for warning in warnings_before(draft, place)]
    assert ("bare-number" in before) is warned


def test_no_shipped_value_rests_on_another_product_or_on_a_bare_number(shipped):
    specs = list(Spec.objects.filter(state="approved").for_sheet())
    assert len(specs) > 1000
    warned = {w.constraint for found in warnings_of(specs).values() for w in found}
    assert warned.isdisjoint({"other-product", "bare-number", "hedged"})


def test_it_needs_the_same_queries_for_any_number(shipped, django_assert_num_queries):
    specs = list(Spec.objects.filter(platform__slug="h200-sxm").for_sheet())
    assert len(specs) > 20
    # waivers, platform, siblings, cited texts, names of platforms
    with django_assert_num_queries(5):
        warnings_of(specs)
