"""The sheet of one platform."""

from html import unescape

from knowledge.models import Spec


def test_it_shows_every_value_with_its_citation(viewer, shipped):
    page = unescape(viewer.get("/w/p/h200-sxm/").content.decode())
    short = Spec.objects.filter(platform__slug="h200-sxm")[0].citation.revision.short
    assert f'href="/w/docs/docs/hardware/h200-sxm.md?rev={short}#L23"' in page
    assert "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23" in page
    assert page.count('class="citation"') == 34


def test_it_shows_unknown_values_and_how_to_obtain_them(viewer, wiki):
    page = viewer.get("/w/p/x-1/").content.decode()
    assert "UNKNOWN" in page
    assert "ask them" in page


def test_it_leaves_retired_values_out(viewer, wiki):
    Spec.objects.filter(metric="tdp").update(state="retired")
    assert "700 W" not in viewer.get("/w/p/x-1/").content.decode()


def test_it_puts_the_preferred_value_before_its_rivals(viewer, shipped):
    page = viewer.get("/w/p/h100-sxm5-80gb/").content.decode()
    ranks = ["66.9 TFLOPS", "67 TFLOPS", "60 TFLOPS"]
    places = [page.index(f'<td class="num">{shown}</td>') for shown in ranks]
    assert places == sorted(places)


def test_it_does_not_know_other_platforms(viewer, wiki):
    assert viewer.get("/w/p/x-2/").status_code == 404


def test_it_needs_the_same_queries_for_any_number_of_values(
    viewer, shipped, django_assert_num_queries
):
    with django_assert_num_queries(5):  # session, user, platform, specs, citations
        viewer.get("/w/p/h100-sxm5-80gb/")
