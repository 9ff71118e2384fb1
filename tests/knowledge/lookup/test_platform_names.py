"""Names of platforms as people write them: exact ones, near ones, and compiler targets."""

import pytest

from knowledge.lookup.listing import Ambiguous, NotKnown, platform_named
from knowledge.lookup.platform_names import PlatformNames, of_architecture
from knowledge.models import Platform


@pytest.fixture
def shipped(wiki_of_module, db):
    """The shipped wiki, once for this module."""


def near(name):
    return PlatformNames.of(Platform.objects.values_list("slug", "name", "aliases")).nearest(name)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("a100", "a100"),
        ("h200", "h200-"),
        ("mi308", "mi308x"),
        ("rtx4090", "rtx-4090"),
    ],
)
def test_it_names_the_nearest_platforms_first(shipped, name, first):
    found = near(name)
    assert found[0].startswith(first), found
    assert len(found) <= 5


@pytest.mark.parametrize("name", ["", "zzzz", "%", "x" * 10_000])
def test_it_names_none_where_nothing_is_alike(shipped, name):
    assert near(name) == []


def test_an_unknown_platform_gets_its_nearest_names(shipped):
    with pytest.raises(NotKnown, match="; nearest: a100-"):
        platform_named("a100 pcie 90gb")


def test_a_platform_is_found_by_each_of_its_names(shipped):
    for platform in Platform.objects.all():
        for name in (platform.slug, platform.name, *platform.aliases, platform.name.lower()):
            assert platform_named(name) == platform


@pytest.mark.parametrize(
    ("part", "slug"),
    [("h200", "h200-sxm"), ("h20", "h20"), ("SXM H200", "h200-sxm"), ("rtx4090", "rtx-4090")],
)
def test_a_platform_is_found_by_a_part_that_it_alone_has(shipped, part, slug):
    assert platform_named(part).slug == slug


@pytest.mark.parametrize("part", ["h100", "RTX", "nvidia a100"])
def test_a_part_that_several_have_is_refused_with_all_of_them(shipped, part):
    with pytest.raises(Ambiguous) as caught:
        platform_named(part)
    words = part.lower().split()
    own = [p for p in Platform.objects.all() if all(w in p.name.lower() for w in words)]
    assert all(f"{p.slug} ({p.name})" in str(caught.value) for p in own)
    assert len(own) > 1


@pytest.mark.parametrize(
    ("asked", "architecture"),
    [
        ("gfx942", "CDNA3"),
        ("gfx950", "CDNA4"),
        ("gfx90a", "CDNA2"),
        ("sm_90", "Hopper"),
        ("SM_90a", "Hopper"),
        ("compute_90", "Hopper"),
        ("sm90", "Hopper"),
        ("cdna3", "CDNA3"),
        ("Hopper (CC 9.0)", "Hopper"),
        ("sm_999", None),
        ("", None),
    ],
)
def test_a_compiler_target_names_its_architecture(shipped, asked, architecture):
    names = {platform.arch.partition(" (")[0] for platform in of_architecture(asked)}
    assert names == ({architecture} if architecture else set())


def test_a_target_names_its_platforms_where_a_platform_is_asked_for(shipped):
    assert {"mi300x", "mi308x"} <= {platform.slug for platform in of_architecture("gfx942")}
    with pytest.raises(NotKnown, match=r"'gfx942' is the architecture of .*mi300x"):
        platform_named("gfx942")
