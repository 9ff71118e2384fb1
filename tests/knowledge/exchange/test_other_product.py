"""What an import makes of values whose document speaks of another product, and an undo of that."""

import json

import pytest

from knowledge.curation.review import approve
from knowledge.exchange.batches import confirm, undo
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Document, Flag, Spec
from tests.knowledge.conftest import X1

pytestmark = pytest.mark.django_db

NOT_NAMED = "the document no longer says that it speaks of x-1"


@pytest.fixture
def bring(wiki, engineer, third_curator):
    """An import of one file, confirmed by somebody else."""

    def make(path, text):
        batch = plan_import(WikiFiles("wiki", {path: text}, whole=False), engineer)
        confirm(batch, third_curator)
        return batch

    return make


def test_a_document_without_its_platform_section_flags_every_spec_line(bring):
    text = Document.objects.get(path=X1).latest.text
    kept = text.partition("## Platform")[0] + "## Wrong" + text.partition("## Specs")[2]
    bring(X1, kept)
    assert set(Flag.objects.open().values_list("kind", "note")) == {("changed", NOT_NAMED)}
    assert Flag.objects.open().count() == Spec.objects.count()


def test_an_undo_closes_the_flags_of_a_text_without_its_platform(bring, curator):
    text = f"# Notes\n\n## Platform\n\n- platform: x-1\n\n## Specs\n\n{OWN}\n"
    bring("docs/n.md", text)
    approve(Spec.objects.get(metric="rt_cores"), curator)
    batch = bring("docs/n.md", f"# Notes\n\n## Wrong\n\n{OWN}\n")
    assert Flag.objects.open().get().note == NOT_NAMED
    undo(batch, curator, "wrong text")
    assert not Flag.objects.open().exists()


OWN = "- rt_cores: 77 core | evidence=documented | kind=vendor | rank=preferred | source=sheet"


def sheet(dtype):
    record = {"dtype": dtype, "unit": "TFLOPS", "unit_kind": "tensor-core", "dense": 1979}
    source = {"title": "page", "ref": "https://x.y/z", "kind": "vendor-product-page"}
    found = {
        "schema": "hw-1.0",
        "id": "v.a.s",
        "type": "spec-sheet",
        "status": "current",
        "identity": {"vendor": "maker", "arch": "arch", "product": "x-1", "sm_arch": None},
        "facts": {"peak_compute": [record | {"provenance": "vendor-published"}]},
        "provenance": {"evidence_class": "vendor-published", "sources": [source]},
    }
    return json.dumps(found, indent=1)


def test_a_json_sheet_of_another_type_flags_its_rates(bring, curator):
    bring("sheet.json", sheet("fp8"))
    spec = Spec.objects.latest("pk")
    assert spec.citation.quote.strip().startswith('"dense": 1979')
    approve(spec, curator)
    bring("sheet.json", sheet("bf16"))
    (flag,) = spec.flags.all()
    assert flag.kind == "changed"
    assert "the JSON field around it was 'dtype: fp8' and is 'dtype: bf16'" in flag.note
