"""An export sees the wiki of one moment, and nobody waits for it."""

import pytest

from knowledge.curation.review import approve
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.writers.export import export_files
from knowledge.exchange.writers.exported_rows import snapshot
from knowledge.models import Spec
from tests.knowledge.racing import at_once, several_connections

__all__ = ["several_connections"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.storage,
    pytest.mark.usefixtures("several_connections"),
]


def test_documents_and_values_are_of_one_moment(wiki, proposal, curator):
    """Meanwhile a document comes in, and a proposal takes the place of a document's own line."""

    def meanwhile():
        take_files({"z.md": "# Z\n"}, ImportOptions(origin="z"))
        return approve(Spec.objects.get(pk=proposal.pk), curator, "checked").state

    before = dict(export_files())
    with snapshot():
        files = export_files()
        first = next(files)
        assert at_once(meanwhile) == ["approved"]
        rest = dict(files)
    assert dict([first]) | rest == before
    after = dict(export_files())
    assert "z.md" in after
    assert after["specs.json"] != before["specs.json"]


def test_it_is_as_good_as_the_transaction_around_it(wiki):
    with snapshot(), snapshot():
        assert Spec.objects.count() == 3
    Spec.objects.filter(metric="tdp").update(note="writing goes on")
