"""The real tree, and a way to write a small wrong one."""

import pytest

from tests.architecture.source_tree import Tree


@pytest.fixture(scope="session")
def tree():
    return Tree()


@pytest.fixture
def tree_with(tmp_path):
    """Build a tree from paths and texts, to prove that a rule finds what it forbids."""

    def build(texts):
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(tmp_path)

    return build
