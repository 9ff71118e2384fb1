"""Which platform a name means: its slug, name or an alias, as people write it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from knowledge.models import Platform

PARTS = re.compile(r"[a-z]+\d+[a-z]*|\w+")
WORDS = re.compile(r"[^\W_]+")
LEAST_LIKENESS = 0.75  # of at most 2: the share of its words, plus how alike the letters are
MOST_NEAREST = 5
TARGET = re.compile(r"(?:sm|compute)_?(?P<number>\d+)[a-z]?", re.IGNORECASE)


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

    def nearest(self, words: str) -> list[str]:
        """Up to five slugs that may be meant, the most likely first; none if nothing is alike."""
        asked = _plain(words)
        parts = set(PARTS.findall(asked))
        scores: dict[str, float] = defaultdict(float)
        for name, slug in self.platforms.items():
            held = len(parts & set(PARTS.findall(name))) / len(parts) if parts else 0.0
            alike = SequenceMatcher(None, asked, name).ratio()
            scores[slug] = max(scores[slug], held + alike)
        likely = [slug for slug, score in scores.items() if score >= LEAST_LIKENESS]
        return sorted(likely, key=lambda slug: (-scores[slug], slug))[:MOST_NEAREST]

    def spoken_of(self, title: str, path: str) -> str | None:
        """The platform whose name is the title or the file name of a document."""
        return self.slug(title) or self.slug(PurePosixPath(path).stem)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def fitting(asked: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """The slugs that have this name; else those with all its words; else those with its letters.

    names: slug → the slug itself, the name and the aliases.
    """
    plain = _plain(asked)
    words = WORDS.findall(plain)
    rules: tuple[Callable[[str], bool], ...] = (
        lambda name: name in (plain, plain.replace(" ", "-")),
        lambda name: set(words) <= set(WORDS.findall(name)),
        lambda name: "".join(words) in "".join(WORDS.findall(name)),
    )
    if asked in names or not words:
        return [asked] if words else []
    found = ([s for s, own in names.items() if any(map(fits, map(_plain, own)))] for fits in rules)
    return next(filter(None, found), [])


def of_architecture(name: str) -> list[Platform]:
    """The platforms of an architecture: by its name, or by a compiler target.

    `Hopper`, `CDNA3`, `gfx942`, `sm_90`, `sm_90a` and `compute_90` are accepted.
    """
    asked = _target(name)
    return [
        platform
        for platform in Platform.objects.all()
        if asked
        in (
            _target(platform.target),
            _plain(platform.arch),
            _plain(platform.arch.partition(" (")[0]),
        )
    ]


def _target(name: str) -> str:
    """A compiler target without the letter that only says which of its features are used."""
    found = TARGET.fullmatch(name.strip())
    return f"sm_{found['number']}" if found else _plain(name)
