"""A search finds what both databases hold in the same order, and says what it leaves out."""

from dataclasses import replace

import pytest

from knowledge.curation.review import set_rank
from knowledge.exchange.importer import import_wiki
from knowledge.exchange.take_documents import store_platforms
from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.lessons.weigh import index_lessons
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.lookup.listing import FilterError
from knowledge.models import (
    Experience,
    ExperienceOrigin,
    Lesson,
    Platform,
    SearchRow,
    SearchWord,
    Spec,
    Strategy,
)
from knowledge.search import candidates, engine, find, index
from knowledge.search.find import ask, search
from knowledge.search.index import Entry, rebuild, remove, upsert
from knowledge.specs.facts import PlatformFacts, PlatformKind, Rank
from tests.knowledge.conftest import BANDWIDTH, X1

pytestmark = [pytest.mark.django_db, pytest.mark.storage]


def attempt(strategy, gain, **more):
    worked = gain is not None and gain > 0
    fields = {
        "strategy": strategy,
        "label": AttemptLabel.SUCCESS if worked else AttemptLabel.REGRESSION,
        "origin": ExperienceOrigin.IMPORTED,
        "op": "softmax",
        "backend": "cuda",
        "platform": "a6000",
        "arch": "sm_86",
        "dtype": "float32",
        "bottleneck": Bottleneck.MEMORY_DRAM,
        "gain": gain,
        "gain_low": gain and gain - 0.01,
        "gain_high": gain and gain + 0.01,
    }
    return NewExperience(**(fields | more))


def lesson(takeaway, **more):
    fields = {"context": "c", "signal": "s", "applicability": "a", "state": "active"}
    made = Lesson.objects.create(takeaway=takeaway, source="person", **(fields | more))
    index_lessons([made])
    return made


@pytest.fixture
def learned():
    """Six attempts, a strategy of the catalogue, and three lessons."""
    Strategy.objects.create(
        slug="cu.blockperrow", kind="technique", title="One block per row", backend="cuda",
        use_when="a single thread walks each row", document="docs/x.md", line=1,
    )  # fmt: skip
    record_attempts(
        [
            attempt("cu.blockperrow", 6.7, notes="load efficiency rose"),
            attempt("cu.rowcache", 0.52, notes="exponentials cached in shared memory"),
            attempt("cu.pad", -0.43, op="matmul", bottleneck=Bottleneck.COMPUTE, notes="padding"),
            attempt("tr.warps", -0.38, backend="triton", notes="eight warps, padding"),
            attempt("tr.rows", -0.08, backend="triton", platform="h200-sxm", arch="sm_90a",
                    dtype="bfloat16", notes="padding"),
            attempt("tr.stages", 0.02, op="matmul", backend="triton", notes="stages"),
        ]
    )  # fmt: skip
    lesson("Give every row a block.", op="softmax", backend="cuda")
    lesson("Never add padding to tiles that broadcast.", avoid=True, state="anti_pattern")
    lesson("Padding may cost alignment.", state="proposed")
    rebuild()


def found(text, per_kind=10, **facets):
    return search(ask(text, facets), per_kind)


def titles(hits):
    return [hit.title for hit in hits]


def test_what_worked_and_what_did_not_stand_apart(learned):
    results = found("padding")
    assert titles(results.worked) == []
    assert "Never add padding to tiles that broadcast." in titles(results.did_not)
    assert [hit.mark for hit in results.kinds["lesson"]] == ["proposed"]
    assert len(results.kinds["entry"]) == 3


def test_a_context_is_found_by_the_words_of_its_strategy(learned):
    (hit,) = found("single thread row kind:track").worked
    assert hit.title == "cu.blockperrow: One block per row on softmax float32 cuda a6000"
    assert (hit.facts["tried"], hit.facts["worked"], hit.facts["gain"]) == (1, 1, 6.7)


def test_the_scope_is_a_hard_boundary_and_says_what_it_excludes(learned):
    results = found("padding", platform="h200-sxm")
    assert [hit.facets["platform"] for hit in results.kinds["entry"]] == ["h200-sxm"]
    results = found("softmax warps", backend="cuda")
    assert {hit.facets["backend"] for hit in [*results.worked, *results.did_not]} <= {"cuda"}
    excluded = {each.facet.name: each for each in results.excluded}
    assert (excluded["backend"].count, excluded["backend"].values) == (1, (("triton", 1),))


def test_a_symptom_holds_for_its_whole_group(learned):
    assert len(found("softmax memory bound kind:track").did_not) == 2
    assert found("softmax compute bound kind:track").found is False


def test_nonsense_finds_nothing_and_shows_what_there_is(learned):
    results = found("zzqx frobnicate", op="softmax", backend="triton")
    assert not results.found
    assert [(each.facet.name, each.count) for each in results.excluded] == [
        ("op", 0), ("backend", 0),
    ]  # fmt: skip
    assert results.inside["platform"] == (("a6000", 1), ("h200-sxm", 1))


def test_an_unknown_word_is_asked_about_and_not_guessed(learned):
    results = found("paddign")
    assert not results.found
    assert [(each.word, each.instead[0]) for each in results.near] == [("paddign", "padding")]


def test_most_words_are_enough_where_no_row_has_all(learned):
    results = found("exponentials cached nowhere")
    (hit,) = results.kinds["entry"]
    assert hit.missing == ("nowhere",)
    assert results.kinds["entry"].partial
    assert not found("cached nowhere never").found


def test_words_are_found_in_other_forms(learned):
    assert found("exponential caching").kinds["entry"].rows[0].missing == ()


def test_an_unknown_value_of_a_facet_names_the_accepted_ones(learned):
    with pytest.raises(FilterError, match=r"op: 'bogus'; accepted: matmul, softmax"):
        ask("x", {"op": "bogus"})
    assert ask("x", {"op": "gemm"}).scope == {"op": "matmul"}


def test_law_1_a_value_whose_line_changed_is_marked(wiki, page_text):
    def marks():
        return {hit.title: hit.mark for hit in found("memory_bandwidth kind:spec").kinds["spec"]}

    rebuild()
    assert marks() == {"memory_bandwidth of X 1: 4.8 TB/s": ""}
    (wiki / X1).write_text(page_text(BANDWIDTH.replace("4.8", "4.9")))
    import_wiki(wiki)
    assert marks()["memory_bandwidth of X 1: 4.8 TB/s"] == "citation no longer holds"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("bandwidth h200", "memory_bandwidth of NVIDIA H200 SXM: 4.8 TB/s"),
        ("write bandwidth h200", "write_bandwidth of NVIDIA H200 SXM: 4.68 TB/s"),
    ],
)
def test_the_value_of_a_whole_device_comes_before_points_of_a_sweep(shipped, text, first):
    assert found(text).kinds["spec"].rows[0].title == first


@pytest.mark.parametrize(
    ("text", "first", "line"),
    [
        ("bandwidth h200", "memory_bandwidth of NVIDIA H200 SXM: 4.8 TB/s", None),
        ("mi300", "AMD Instinct MI300X", None),  # by half a name
        ("cp.async", "cu.cpasync: Asynchronous copies in 2 to 4 stages", None),  # written together
        ("long_scoreboard", "Stall reasons", 37),  # the line that is about it
        ("layernorm", "Reductions and normalisations", 1),  # by the noun of its longer name
    ],
)
def test_the_best_answer_of_all_kinds_comes_first(shipped, text, first, line):
    best = found(text).best.rows[0]
    assert (best.title, best.line) == (first, line)


def test_of_one_value_of_a_product_one_is_among_the_best(shipped):
    results = found("l2 size h100")
    assert len({hit.title.partition(":")[0] for hit in results.best}) == len(results.best)
    assert {hit.key for hit in results.best}.isdisjoint(
        hit.key for name, each in results.sections.items() if name != "best" for hit in each
    )


def test_a_word_that_nothing_holds_leaves_what_its_operation_has(shipped):
    results = found("zzqx matmul")
    assert results.best.rows[0].title == "Matrix products"
    assert "zzqx" in results.best.rows[0].missing
    assert not found("zzqx", op="matmul").found


def test_a_new_product_is_found(db):
    store_platforms([PlatformFacts("x-9", "X 9", "Maker", "Arch", PlatformKind.GPU, "sm_9", ())])
    assert [hit.url for hit in found("x 9").kinds["platform"]] == ["/w/p/x-9/"]


def test_the_preferred_value_comes_first(shipped, second_curator):
    def first():
        return found("peak fp32 h100 sxm5").kinds["spec"].rows[0].title.rpartition(": ")[2]

    assert first() == "66.9 TFLOPS"
    other = Spec.objects.get(platform__slug="h100-sxm5-80gb", metric="peak_fp32", shown="60 TFLOPS")
    set_rank(other, Rank.PREFERRED, second_curator, "by the sheet")
    assert first() == "60 TFLOPS"


def test_masked_attempts_are_shown_and_marked(learned):
    entry = Experience.objects.get(notes="stages")
    Experience.objects.filter(pk=entry.pk).update(standing="masked")
    assert [hit.mark for hit in found("stages kind:entry").kinds["entry"]] == ["masked"]


@pytest.mark.parametrize(
    "text",
    ['" OR kind', "padding*", "(((", "NEAR(padding)", "'; DROP TABLE x", "\\", "a\0b", "padding:x"],
)
def test_no_text_breaks_the_index(learned, text):
    found(text)


def test_rare_words_and_titles_come_first(learned):
    upsert(
        Entry("strategy", f"s{n}", "/x/", title, body)
        for n, (title, body) in enumerate(
            [("tiles", "padding rows"), ("padding", "rows"), ("rows", "swizzle padding")]
        )
    )
    assert titles(found("padding kind:strategy").kinds["strategy"])[0] == "padding"
    assert titles(found("swizzle padding kind:strategy").kinds["strategy"])[0] == "rows"


def test_more_than_a_thousand_attempts_are_not_counted(learned):
    upsert(Entry("entry", str(10_000 + n), "/x/", f"twiddle {n}") for n in range(1_010))
    hits = found("twiddle").kinds["entry"]
    assert (hits.count, hits.more) == (1_000, True)


def test_a_rebuild_brings_the_same_index(learned):
    before = [list(m.objects.order_by("pk").values_list()[:]) for m in (SearchWord,)]
    stored = set(SearchRow.objects.values_list("kind", "key", "title", "words", "weight"))
    remove([("track", SearchRow.objects.filter(kind="track").values_list("key", flat=True)[0])])
    rebuild()
    assert set(SearchRow.objects.values_list("kind", "key", "title", "words", "weight")) == stored
    assert [list(m.objects.order_by("pk").values_list()[:]) for m in (SearchWord,)] == before
    record_attempts([attempt("tr.new", 0.2, notes="novelword")])
    stored = set(SearchRow.objects.values_list("kind", "key", "words"))
    words = set(SearchWord.objects.filter(rows__gt=0).values_list("word", "rows"))
    rebuild()
    assert set(SearchRow.objects.values_list("kind", "key", "words")) == stored
    assert set(SearchWord.objects.values_list("word", "rows")) == words


def test_a_strategy_is_found_within_the_scopes_that_it_fits(learned):
    for slug, backend, ops, archs in [
        ("ge.ring", "hip", ["matmul"], ["gfx950"]),
        ("tr.tile", "triton", [], []),
    ]:
        Strategy.objects.create(
            slug=slug, kind="technique", title="Ring of stages", backend=backend, ops=ops,
            archs=archs, document="docs/x.md", line=1,
        )  # fmt: skip
    rebuild()

    def slugs(**scope):
        return {hit.key for hit in found("stages", **scope).kinds.get("strategy", ())}

    assert slugs() == {"ge.ring", "tr.tile"}
    assert slugs(op="gemm") == {"ge.ring", "tr.tile"}
    assert slugs(op="softmax") == {"tr.tile"}
    record_attempts([attempt("x", 0.1, platform="m", arch="gfx950", backend="flydsl")])
    assert slugs(arch="cdna4") == {"ge.ring", "tr.tile"}
    assert slugs(arch="hopper") == {"tr.tile"}
    assert slugs(backend="flydsl") == {"ge.ring"}
    Platform.objects.create(
        slug="h9", name="H 9", vendor="NVIDIA", arch="Hopper", kind="gpu", target="sm_90a"
    )
    record_attempts([attempt("tr.tile", 0.1, platform="h9", notes="stages")])
    assert slugs(platform="h9") == {"tr.tile"}


def test_the_newest_of_many_are_found_part_by_part(learned, monkeypatch):
    monkeypatch.setattr(index, "PART", 3)
    rebuild()
    asked = [("padding", {}), ("", {"op": "softmax"}), ("warps eight nowhere", {})]
    whole = [found(text, **facets) for text, facets in asked]
    monkeypatch.setattr(candidates, "FEW", -1)
    monkeypatch.setattr(engine, "FEW", -1)
    assert [found(text, **facets).records() for text, facets in asked] == [
        each.records() for each in whole
    ]
    monkeypatch.setattr(find, "GROUPS", [replace(group, most=2) for group in find.GROUPS])
    hits = found("padding").kinds["entry"]
    assert (hits.count, hits.more) == (2, True)
    newest = Experience.objects.filter(notes__contains="padding").order_by("-pk")
    assert {hit.key for hit in hits} == {str(entry.pk) for entry in newest[:2]}
