"""A wiki of one small document, and the shipped one."""

import pytest

from tests.kept_wiki import put_wiki

PLATFORM = """## Platform

- platform: x-1
- name: X 1
- vendor: Maker
- arch: Arch
- kind: gpu
- target: sm_1
- aliases: Maker X 1; X1
"""
SOURCE = "evidence=documented | kind=vendor | rank=preferred | source=sheet <https://example.org/x>"
BANDWIDTH = f"- memory_bandwidth: 4.8 TB/s | {SOURCE}"
TDP = f"- tdp: 700 W | {SOURCE}"
UNKNOWN_CORES = (
    "- cuda_cores: UNKNOWN | evidence=documented | kind=vendor | source=none found | how=ask them"
)


@pytest.fixture
def page_text():
    """Build the text of a document of platform x-1 from its spec lines."""

    def build(*lines, title="X 1"):
        return f"# {title}\n\n{PLATFORM}\n## Specs\n\n" + "\n".join(lines) + "\n"

    return build


@pytest.fixture
def folder(tmp_path, page_text):
    """A wiki folder with one document, docs/hardware/x-1.md, and an index."""
    root = tmp_path / "wiki"
    (root / "docs" / "hardware").mkdir(parents=True)
    (root / "README.md").write_text("# Index\n\nSee [X](docs/hardware/x-1.md).\n")
    (root / "docs/hardware/x-1.md").write_text(page_text(BANDWIDTH, TDP, UNKNOWN_CORES))
    return root


@pytest.fixture
def wiki(db, folder):
    """The small folder, imported."""
    put_wiki(folder)
    return folder


@pytest.fixture
def shipped(db):
    """The shipped wiki, imported."""
    return put_wiki()
