"""The made-up wiki is a sound one, so that what is timed on it is real work."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from campaigns.benchmarks import wiki
from campaigns.benchmarks.wiki import fill, made_up_folder
from knowledge.exchange.batches import undo
from knowledge.exchange.check import check_wiki
from knowledge.exchange.confirm import take_at_once
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.lookup.value import find
from knowledge.models import Citation, Document, Platform, Spec, SpecChange

pytestmark = pytest.mark.django_db


@pytest.fixture
def made_up(db):
    fill(specs=95, documents=10, specs_per_platform=40)


def test_it_has_as_many_rows_as_asked_for(made_up):
    counts = [model.objects.count() for model in (Spec, Citation, SpecChange, Document, Platform)]
    assert counts == [95, 95, 95, 10, 3]


def test_every_value_answers_its_own_question_and_holds(made_up, tmp_path):
    for spec in Spec.objects.select_related("platform"):
        assert find(spec.platform, spec.metric, **spec.qualifiers) == spec
    assert check_wiki(tmp_path) == []


def test_it_reports_limits_beside_times(made_up, monkeypatch, tmp_path):
    monkeypatch.setattr(wiki, "LOOKUPS", 20)
    monkeypatch.setattr(wiki, "SHEETS", 2)
    monkeypatch.setattr(wiki, "IMPORTS", (10, 20))
    monkeypatch.setattr(wiki, "FILES", (5, 10))
    report = wiki.report_of(95, 10, tmp_path)
    questions, imports, files = report.tables
    assert [row["held to"] for row in questions.rows] == ["p95 under 20 ms", "under 200 ms", ""]
    assert all(row["median ms"] > 0 for row in questions.rows)
    assert [row["values"] for row in imports.rows] == [10, 20]
    assert [row["files"] for row in files.rows] == [5, 10]
    assert "× a fetch by primary key (medians of the same run, 20 each)" in report.verdict


def queries(step):
    with CaptureQueriesContext(connection) as captured:
        done = step()
    return len(captured), done


def test_it_plans_a_folder_without_a_query_for_each_value(db):
    few, _ = queries(lambda: plan_import(WikiFiles("brought", made_up_folder(50)), None))
    many, batch = queries(lambda: plan_import(WikiFiles("brought", made_up_folder(450)), None))
    assert batch.plan["counts"]["specs_added"] == 450
    # Rows go in by parts; nothing is asked of each value.
    assert many - few < 100


def test_it_imports_small_files_in_a_few_queries_each(db, monkeypatch):
    """And looks at no value of the files before it: 6,000 of them took 270 s."""
    loaded, real = [], Spec.from_db.__func__

    def from_db(cls, *arguments):
        loaded.append(cls)
        return real(cls, *arguments)

    monkeypatch.setattr(Spec, "from_db", classmethod(from_db))
    count, (_, done) = queries(lambda: take_at_once(WikiFiles("brought", made_up_folder(90, 1))))
    assert done.specs_added == 90
    assert count < 90 * 8
    assert len(loaded) < 90


@pytest.mark.parametrize("outcome", ["specs_unchanged", "flags_raised"])
def test_it_follows_a_text_without_a_query_for_each_value(db, outcome):
    changed = {
        "specs_unchanged": ("## Specs", "Above.\n\n## Specs"),
        "flags_raised": (": 1", ": 2"),
    }

    def again(values):
        texts = made_up_folder(values)
        take_at_once(WikiFiles("brought", texts))
        after = {path: text.replace(*changed[outcome]) for path, text in texts.items()}
        count, done = queries(lambda: take_at_once(WikiFiles("brought", after)))
        return count, getattr(done[1], outcome)

    few, of_few = again(50)
    many, of_many = again(450)
    assert of_many > 4 * of_few > 0
    assert many - few < 100


def test_it_undoes_without_a_query_for_each_value(db):
    def undone(values):
        batch, _ = take_at_once(WikiFiles("brought", made_up_folder(values)))
        return queries(lambda: undo(batch, None, "no"))[0]

    few = undone(50)
    assert undone(450) - few < 100
