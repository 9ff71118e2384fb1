"""A user's repository, fetched into a bare one of ours: trees, patches and commits (R9).

The user's own repository is only read, once. No work tree of git's exists: files are written out
of it into a folder without any `.git`, and commits are made of patches, never of a folder in which
code has run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from campaigns.lineage.git import GitRefused, LineageError, git
from campaigns.lineage.repository import AUTHOR

FETCH_S = 300.0
BASE = "refs/kopt/base"
# Modes of git: a plain file, one to be run. Others (links, submodules) no patch may make.
PLAIN = frozenset({"100644", "100755", "000000"})
EXECUTABLE = "100755"


class PatchRefused(ValueError):
    """A patch that cannot be tried; one line says why."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One plain file of a tree. blob: the hash of what it holds."""

    blob: str
    executable: bool


@dataclass(frozen=True, slots=True)
class OwnRepository:
    """The bare repository of the row with this key, or of no row yet."""

    key: int

    @property
    def path(self) -> Path:
        return Path(settings.DATA_DIR) / "lineage" / f"repository-{self.key}.git"

    def bring(self, source: Path, revision: str) -> str:
        """Fetch a revision of a repository, or of a bundle of one; its hash. Raises LineageError.

        What is not whole and lawful is refused by git itself.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        git(self.path, "init", "--quiet", "--bare", "--template=")
        git(self.path, "config", "fetch.fsckObjects", "true")
        try:
            wanted = f"+{revision}:{BASE}"
            fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
            git(self.path, *fetch, str(source.resolve()), wanted, limit_s=FETCH_S)
            return self._text("rev-parse", "--verify", f"{BASE}^{{commit}}")
        except LineageError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def begin(self, branch: str, commit: str) -> None:
        """Have the branch begin at a commit, and a clone check it out. Raises LineageError."""
        git(self.path, "update-ref", f"refs/heads/{branch}", commit)
        git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def patched(self, commit: str, patch: str) -> str:
        """The hash of the commit's tree with this patch. Raises PatchRefused, LineageError."""
        with self._index(commit) as index:
            try:
                apply = ("apply", "--cached", "--whitespace=nowarn", "-")
                git(self.path, *apply, data=patch.encode(), more=index)
            except GitRefused as error:
                said = str(error).removeprefix("git apply: ")
                raise PatchRefused(
                    f"patch: does not apply ({said}); accepted: a diff of `git diff` against the "
                    "incumbent"
                ) from None
            return self._text("write-tree", more=index)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """Paths that differ between two trees or commits. Raises PatchRefused for odd kinds."""
        raw = git(self.path, "diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        parts = raw.decode("utf-8", "surrogateescape").split("\0")[:-1]
        paths = []
        for facts, path in zip(parts[::2], parts[1::2], strict=True):
            modes = facts.lstrip(":").split()[:2]
            if not PLAIN.issuperset(modes):
                raise PatchRefused(f"patch: {path}: is a link or a submodule; accepted: files")
            paths.append(path)
        return tuple(paths)

    def files(self, tree: str) -> dict[str, TreeFile]:
        """The plain files of a tree or commit, by path."""
        raw = git(self.path, "ls-tree", "-r", "-z", tree).decode("utf-8", "surrogateescape")
        found = {}
        for line in raw.split("\0")[:-1]:
            facts, _, path = line.partition("\t")
            mode, _, blob = facts.split()
            if mode in PLAIN:
                found[path] = TreeFile(blob, mode == EXECUTABLE)
        return found

    def blob(self, digest: str) -> bytes:
        return git(self.path, "cat-file", "blob", digest)

    def write_out(self, tree: str, folder: Path) -> None:
        """Write all files of a tree or commit into an empty folder. Raises LineageError."""
        folder.mkdir(parents=True)
        with self._index(tree) as index:
            more = {**index, "GIT_WORK_TREE": str(folder)}
            git(self.path, "checkout-index", "--all", "--force", limit_s=FETCH_S, more=more)

    def commit(self, tree: str, parent: str, branch: str, message: str, at_s: int) -> str:
        """Put a commit of this tree on the branch; its hash. The same again gives the same."""
        name, _, mail = AUTHOR.rstrip(">").partition(" <")
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", f"@{at_s} +0000"))
        }
        made = ("commit-tree", tree, "-p", parent, "-F", "-")
        digest = git(self.path, *made, data=message.encode(), more=who).decode().strip()
        git(self.path, "update-ref", f"refs/heads/{branch}", digest)
        return digest

    def patch(self, base: str, head: str) -> bytes:
        """All commits after `base` up to `head`, as `git am` reads them."""
        return git(self.path, "format-patch", "--stdout", f"{base}..{head}")

    def bundle(self, base: str, branch: str) -> bytes:
        """The branch without what the user's repository has, as `git fetch` reads it."""
        return git(self.path, "bundle", "create", "--quiet", "-", f"{base}..refs/heads/{branch}")

    def _text(self, *arguments: str, more: Mapping[str, str] | None = None) -> str:
        return git(self.path, *arguments, more=more).decode().strip()

    @contextmanager
    def _index(self, tree: str) -> Iterator[dict[str, str]]:
        """The environment of an index of its own that holds a tree."""
        with tempfile.TemporaryDirectory(dir=self.path.parent) as folder:
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            git(self.path, "read-tree", tree, more=index)
            yield index
