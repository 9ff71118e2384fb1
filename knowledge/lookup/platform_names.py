"""Which platform a name means: its slug, name or an alias, as people write it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class PlatformNames:
    """What is needed to resolve: platform names in small letters → slug, and document → slug."""

    platforms: Mapping[str, str]
    documents: Mapping[str, str]

    @classmethod
    def of(cls, platforms: Iterable[tuple[str, str, Iterable[str]]]) -> PlatformNames:
        """From slug, name and aliases of each, as far as one is the name of one alone."""
        slugs: dict[str, set[str]] = defaultdict(set)
        for slug, name, aliases in platforms:
            for each in (slug, name, *aliases):
                slugs[_plain(each)].add(slug)
        return cls({name: min(each) for name, each in slugs.items() if len(each) == 1}, {})

    def slug(self, name: str) -> str | None:
        """The platform of exactly this slug, name or alias; blanks and case do not count."""
        plain = _plain(name)
        return self.platforms.get(plain) or self.platforms.get(plain.replace(" ", "-"))

    def spoken_of(self, title: str, path: str) -> str | None:
        """The platform whose name is the title or the file name of a document."""
        return self.slug(title) or self.slug(PurePosixPath(path).stem)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
