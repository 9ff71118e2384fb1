"""Links in README and docs lead somewhere, the README stays short, and printed commands work."""

from __future__ import annotations

import re

import pytest

from tests.architecture.source_tree import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_links_only_to_what_is_there(page):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_readme_has_at_most_150_lines_and_reaches_every_page():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= 150
    named = {page.relative_to(ROOT).as_posix() for page in PAGES} - {"README.md"}
    assert {name for name in named if f"({name})" not in text} == set()


def test_a_command_on_a_page_works_as_it_is_printed():
    bare = re.compile(r"(?<!\.venv/bin/)python manage\.py")
    places = ("templates", "campaigns/views", "knowledge/views")
    found = (path for place in places for path in (ROOT / place).rglob("*"))
    texts = [path for path in found if path.suffix in (".html", ".py")]
    assert len(texts) > 50
    assert [path.name for path in texts if bare.search(path.read_text())] == []
