"""The guides' tables are read as strategies, and a row that cannot be says where (R42)."""

import pytest

from campaigns.proposers.recipes.base import recipes
from campaigns.rules.verdict.dispatch import STRATEGY as SPLIT
from knowledge.exchange.importer import SHIPPED
from knowledge.exchange.readers.files import read_folder
from knowledge.experience.catalogue.names import names_in
from knowledge.experience.catalogue.read import read_catalogue
from knowledge.experience.catalogue.store import unknown_mentions
from knowledge.models import StrategyKind

HEAD = "| id | for | use when | what to do | check with | typical failure |\n|-|-|-|-|-|-|\n"
ROW = "| `x.pad` | memory, sm_80+, matmul | conflicts | pad rows; `t.x` | counters | – |\n"
TEXT = f"# Guide\n\nApplies to: cuda, NVIDIA.\n\n{HEAD}{ROW}"
SHIPPED_CATALOGUE = read_catalogue(read_folder(SHIPPED))


def fault(text: str) -> str:
    (found,) = read_catalogue({"g.md": text}).faults
    return str(found)


def test_r42_a_row_has_its_own_words_and_those_of_its_table():
    found = read_catalogue({"g.md": TEXT}).strategies["x.pad"]
    assert (found.document, found.line, found.kind) == ("g.md", 7, "technique")
    assert (found.title, found.what, found.failure) == ("Pad rows", "pad rows; t.x", "")
    assert (found.backend, found.vendors, found.archs) == ("cuda", ("NVIDIA",), ("sm_80+",))
    assert (found.limits, found.ops) == (("memory",), ("matmul",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT + ROW, "g.md:L8: id x.pad stands in g.md:L7 already"),
        (TEXT.replace("memory,", "memroy,"), "g.md:L7: x.pad: for: 'memroy'; accepted: a backend"),
        (TEXT.replace("NVIDIA", "Nvidia"), "g.md:L3: Applies to: 'Nvidia'; accepted: a backend"),
        (TEXT.replace("| counters ", ""), "g.md:L7: 5 cells; accepted: 6, as in the header"),
        (TEXT.replace("`x.pad`", "two words"), "g.md:L7: id two words; accepted: one word"),
        (
            f"{TEXT}\n| recipe | catalogue |\n|---|---|\n| `r.a` | `x.none` |\n",
            "g.md:L11: r.a: x.none; accepted: ids of the catalogue",
        ),
    ],
)
def test_r42_a_row_that_cannot_be_read_says_its_line_and_what_is_accepted(text, said):
    assert fault(text).startswith(said)


def test_r42_other_peoples_tables_and_fenced_ones_are_none_of_it():
    other = "| id | name |\n|---|---|\n| 1 | it |\n"
    found = read_catalogue({"a.md": other, "b.md": f"```\n{TEXT}```\n"})
    assert (found.strategies, found.faults) == ({}, [])


def test_r42_the_shipped_guides_have_no_fault_and_name_no_unknown_id():
    assert SHIPPED_CATALOGUE.faults == []
    assert [*unknown_mentions(read_folder(SHIPPED), SHIPPED_CATALOGUE)] == []
    (one,) = unknown_mentions(
        {"g.md": "See `ge.4`,\n`tune.X` and `cu.nothing`."}, SHIPPED_CATALOGUE
    )
    assert str(one).startswith("g.md:L2: `cu.nothing` is no strategy")
    assert {each.kind for each in SHIPPED_CATALOGUE.strategies.values()} == set(StrategyKind.values)


def test_r42_every_recipe_and_sweep_resolves_to_the_catalogue():
    rows = SHIPPED_CATALOGUE.strategies.values()
    names = names_in((each.slug, each.backend, each.aliases) for each in rows)
    for name, recipe in recipes().items():
        slug = names.slug(name, recipe.backend)
        assert name in SHIPPED_CATALOGUE.strategies[slug].recipes
    assert names.slug(SPLIT, "cpp") == "any.dispatch"
    expected = {
        ("tune.BLOCK", "triton"): "tr.tile",
        ("tune.num_warps", "triton"): "tr.warps",
        ("tune.num_stages", "triton"): "tr.stages",
        ("tune.BLOCK", "cuda"): "cu.sizes",
        ("tune.TILE", "cpp"): "cpp.sizes",
        ("flags.optimise", "cpp"): "cpp.flags",
        ("flags.relaxed", "cuda"): "cu.fastmath",
        ("cu.fuse", "triton"): "cu.fuse",
    }
    assert {key: names.slug(*key) for key in expected} == expected


def test_r42_a_name_of_several_backends_is_never_guessed():
    rows = SHIPPED_CATALOGUE.strategies.values()
    names = names_in((each.slug, each.backend, each.aliases) for each in rows)
    assert names.slug("tune.BLOCK", "") == "tune.BLOCK"
    assert names.slug("cuda.threads_share_row", "") == "cu.blockperrow"
    assert names.slug("n" * 200, "cpp") == "n" * 120
