"""The page of one spec."""

from html import unescape

import pytest

from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, restore, retire
from knowledge.exchange.importer import import_wiki
from knowledge.lookup.usage import SpecUse, register, unregister
from knowledge.models import Flag, Spec, SpecChange, Waiver
from tests.knowledge.conftest import BANDWIDTH, TDP, facts

X1 = "docs/hardware/x-1.md"
BUTTONS = ("approve", "return", "resubmit", "retire", "rank", "restore")


def page_of(client, spec):
    return unescape(client.get(f"/w/s/{spec.pk}/").content.decode())


def buttons(page):
    return [name for name in BUTTONS if f'id="do-{name}"' in page]


@pytest.fixture
def bandwidth(wiki):
    return Spec.objects.get(metric="memory_bandwidth", shown="4.8 TB/s")


def test_it_shows_the_value_with_its_line(viewer, bandwidth):
    page = page_of(viewer, bandwidth)
    assert page.count("<h1>") == 1
    assert "<h1>memory_bandwidth of X 1</h1>" in page
    assert BANDWIDTH in page
    assert "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/x-1.md:L15" in page
    assert 'data-copy="memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/x-1.md:L15"' in page
    short = bandwidth.citation.revision.short
    assert f'href="/w/docs/{X1}?rev={short}#L15"' in page
    assert 'data-cite-state="ok"' in page
    assert 'data-state="approved"' in page


def test_it_says_how_to_obtain_what_is_unknown(viewer, wiki):
    page = page_of(viewer, Spec.objects.get(metric="cuda_cores"))
    assert "How to obtain it</dt><dd>ask them" in page


def test_it_says_the_command_that_asks_the_same(viewer, wiki, page_text):
    line = BANDWIDTH.replace("TB/s |", "TB/s | per=GCD |")
    (wiki / "docs/hardware/x-1.md").write_text(page_text(line))
    import_wiki(wiki, vouched=True)
    bandwidth = Spec.objects.preferred().get(metric="memory_bandwidth")
    command = ".venv/bin/python manage.py spec get x-1 memory_bandwidth --per GCD"
    assert f"<code>{command}</code>" in page_of(viewer, bandwidth)


def test_it_is_not_found_elsewhere(viewer, wiki):
    assert viewer.get("/w/s/999999/").status_code == 404
    assert viewer.get(f"/w/s/{10**40}/").status_code == 404
    assert viewer.post(f"/w/s/{Spec.objects.first().pk}/").status_code == 405


def test_it_asks_for_a_login(client, bandwidth):
    answer = client.get(f"/w/s/{bandwidth.pk}/")
    assert answer.url == f"/login/?next=/w/s/{bandwidth.pk}/"


@pytest.mark.parametrize(
    ("who", "seen"), [("engineer", ["retire"]), ("curator", ["approve", "return", "retire"])]
)
def test_it_offers_what_a_person_may_do(who, seen, as_, proposal, request):
    assert buttons(page_of(as_(request.getfixturevalue(who)), proposal)) == seen


def test_it_offers_a_viewer_nothing(viewer, proposal):
    page = page_of(viewer, proposal)
    assert buttons(page) == []
    assert "/w/propose/?" not in page


def test_it_tells_an_author_who_is_a_curator_why_not(as_, x1, note, curator):
    mine = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), curator, "measured")
    page = page_of(as_(curator), mine)
    assert buttons(page) == ["retire"]
    assert "another curator decides" in page


def test_it_offers_the_steps_of_each_state(as_, proposal, curator, engineer):
    seen = as_(curator)
    approve(proposal, curator)
    assert buttons(page_of(seen, proposal)) == ["retire", "rank"]
    retire(proposal, curator, "wrong", Spec.objects.get(shown="4.8 TB/s"))
    assert buttons(page_of(seen, proposal)) == ["restore"]
    restore(proposal, engineer, "right after all")
    assert buttons(page_of(seen, proposal)) == ["approve", "return", "retire"]


def test_it_has_one_primary_button(as_, proposal, curator):
    seen = as_(curator)
    for spec in (proposal, Spec.objects.get(metric="tdp")):
        page = page_of(seen, spec)
        assert page.count('class="primary"') + page.count('class="button primary"') == 1


def test_it_shows_rivals_with_rank_and_state(viewer, proposal):
    page = page_of(viewer, proposal)
    rivals = page.split('id="rivals"')[1].split("</section>")[0]
    assert "4.8 TB/s" in rivals
    assert "preferred" in rivals
    assert "approved" in rivals


def test_it_shows_history_with_who_when_what_and_why(viewer, proposal, curator):
    approve(proposal, curator, "read the sheet")
    page = page_of(viewer, proposal)
    rows = page.split('id="history"')[1].split("<tr")[2:]
    assert 'data-change="approved"' in rows[0]
    assert "cora" in rows[0]
    assert "read the sheet" in rows[0]
    assert 'data-change="proposed"' in rows[1]
    assert "enzo" in rows[1]
    assert "4.9 TB/s" in rows[1]


def test_it_shows_a_flag_to_everybody_until_it_is_answered(viewer, wiki, page_text, bandwidth):
    (wiki / X1).write_text(page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP))
    import_wiki(wiki)
    page = page_of(viewer, bandwidth)
    assert 'data-flag="changed"' in page
    assert 'data-cite-state="changed"' in page
    assert BANDWIDTH in page
    assert BANDWIDTH.replace("4.8", "4.9") in page
    new = Spec.objects.get(shown="4.9 TB/s")
    assert f'Replace it by <a href="/w/s/{new.pk}/">4.9 TB/s</a>' in page
    assert "/recite/" not in page


def test_it_prefills_the_lines_of_a_flag(as_, wiki, page_text, bandwidth, curator):
    (wiki / X1).write_text(page_text("", BANDWIDTH.replace("4.8", "4.9"), TDP))
    import_wiki(wiki)
    page = page_of(as_(curator), bandwidth)
    flag = Flag.objects.get(spec=bandwidth)
    assert f'action="/w/flags/{flag.pk}/recite/"' in page
    assert 'name="first" value="16"' in page
    assert f'name="doc" value="{X1}"' in page


def test_it_keeps_approving_away_while_a_flag_is_open(as_, x1, note, engineer, curator, bandwidth):
    spec = propose(x1, facts("4.9 TB/s"), CitedLines(note, 5, 5), engineer, "measured")
    Flag.objects.create(spec=spec, kind="same_citation", note="both rest on L5")
    page = page_of(as_(curator), spec)
    assert "approve" not in buttons(page)
    assert "answer it first" in page.split('id="blocked"')[1]
    assert "/explain/" in page


def test_it_shows_what_would_move(viewer, proposal, bandwidth):
    def provider(swaps):
        assert [(s.spec, s.replacement) for s in swaps] == [(bandwidth, proposal)]
        return [[SpecUse("softmax", "/c/1/", "bandwidth of the roof", "34 µs", "33 µs")]]

    register(provider)
    try:
        page = page_of(viewer, proposal)
    finally:
        unregister(provider)
    assert '<a href="/c/1/">softmax</a>' in page
    assert "<strong>33 µs</strong>" in page


def test_it_shows_warnings_and_waivers(as_, wiki, x1, note, engineer, curator, second_curator):
    spec = propose(x1, facts("5.1 kB", metric="l2_size"), CitedLines(note, 6, 6),
                   engineer, "why not")  # fmt: skip
    page = page_of(as_(curator), spec)
    assert 'data-warning="range"' in page
    assert "128 KiB" in page or "131" in page
    assert f'action="/w/s/{spec.pk}/waive/"' in page
    Waiver.objects.create(spec=spec, constraint="range", reason="a toy", by=second_curator)
    page = page_of(as_(curator), spec)
    assert 'data-waived="1"' in page
    assert "Waived by carl" in page
    assert "/waive/" not in page


def test_it_shows_hostile_text_as_text(viewer, bandwidth):
    Spec.objects.filter(pk=bandwidth.pk).update(note="<script>alert(1)</script>")
    raw = viewer.get(f"/w/s/{bandwidth.pk}/").content.decode()
    assert "<script>alert" not in raw
    assert "&lt;script&gt;alert" in raw


def test_it_needs_the_same_queries_for_any_number_of_rivals(
    viewer, shipped, django_assert_max_num_queries
):
    most = Spec.objects.filter(metric="peak_fp32", platform__slug="h100-sxm5-80gb").first()
    with django_assert_max_num_queries(22):
        viewer.get(f"/w/s/{most.pk}/")


def test_it_marks_who_did_it_elsewhere(viewer, x1, note):
    known = {"by": "alice", "at": "2026-01-31T12:00:00+00:00"}
    spec = Spec.objects.get(metric="tdp")
    Spec.objects.filter(pk=spec.pk).update(elsewhere=known)
    change = {"action": "approved", "state": "approved", "rank": "preferred"}
    SpecChange.objects.create(spec=spec, **change, elsewhere=known | {"why": ""})
    page = viewer.get(spec.get_absolute_url()).content.decode()
    assert page.count("alice, imported") == 2
