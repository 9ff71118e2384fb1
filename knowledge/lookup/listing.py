"""Lists of specs and documents: what may be asked for, in which words, and the rows that answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from django.db.models import (
    Case,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable

from knowledge.lookup.platform_names import PlatformNames, fitting, of_architecture
from knowledge.models import Document, Flag, Platform, Revision, Spec, SpecState
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import Rank
from knowledge.specs.metrics import metric_named

MOST_WORDS, MOST_CHARACTERS = 20, 500
CHARACTERS_IN_TEXTS, WORDS_IN_TEXTS = 200, 20
SNIPPET = 160  # characters
PLATFORM_HELP = "a platform's slug, name or a part of one, such as h200"


class NotKnown(LookupError):
    """A platform that nobody has described; the message names those that are accepted."""


class Ambiguous(NotKnown):
    """A part of the names of several platforms; the message names them."""


class FilterError(ValueError):
    """A filter with a value that nothing can have: `field`, and what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True, slots=True)
class Filters:
    """Which specs; an empty text asks for all.

    q: words, each of them in metric, value, source, note or platform.
    """

    platform: str = ""
    metric: str = ""
    state: str = ""
    evidence: str = ""
    rank: str = ""
    q: str = ""

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]


def platform_named(name: str) -> Platform:
    """The platform of this slug, name or alias, or the only one that has it as a part of one.

    Raises NotKnown with the nearest and the accepted ones, and Ambiguous with the candidates.
    """
    every = {platform.slug: platform for platform in Platform.objects.all()}
    found = fitting(name, {p.slug: (p.slug, p.name, *p.aliases) for p in every.values()})
    if len(found) == 1:
        return every[found[0]]
    if not found:
        raise NotKnown(unknown_platform(name))
    listed = ", ".join(f"{slug} ({every[slug].name})" for slug in found)
    raise Ambiguous(f"platform '{name}' may be several; accepted: {listed}")


def slug_meant(name: str) -> str:
    """The slug to filter by; a name that no platform has stays, as records may still have it.

    Raises FilterError where several platforms may be meant.
    """
    try:
        return platform_named(name).slug if name else ""
    except Ambiguous as error:
        raise FilterError("platform", str(error)) from None
    except NotKnown:
        return name


def unknown_platform(name: str) -> str:
    """What to say of a name that no platform has: what may be meant, and what there is."""
    known = Platform.objects.values_list("slug", "name", "aliases")
    accepted = ", ".join(slug for slug, *_ in known)
    accepted = accepted or "none yet: run `.venv/bin/python manage.py wiki import`"
    same = [platform.slug for platform in of_architecture(name)]
    near = same or PlatformNames.of(known).nearest(name)
    hint = f"'{name}' is the architecture of" if same else "nearest:"
    nearest = f"{hint} {', '.join(near)}; " if near else ""
    return f"unknown platform '{name}'; {nearest}accepted: {accepted}"


def specs_matching(filters: Filters) -> SpecQuerySet:
    """The specs in the order of a sheet, with citations and flags; three queries.

    Where words are searched for, values whose metric or platform has them as whole words come
    first, and documented values before measured ones. Raises NotKnown, MetricError and FilterError.
    """
    rows = Spec.objects.for_sheet().with_flags(Flag.objects.open())
    if filters.platform:
        rows = rows.filter(platform=platform_named(filters.platform))
    if filters.metric:
        rows = rows.filter(metric=metric_named(filters.metric).name)
    for name, accepted in (("state", SpecState), ("evidence", EvidenceClass), ("rank", Rank)):
        value = getattr(filters, name)
        words = [str(word) for word in accepted]
        if value and value not in words:
            raise FilterError(name, f"'{value}'; accepted: {', '.join(words)}")
        rows = rows.filter(**{name: value}) if value else rows
    order: tuple[str, ...] = ("platform__slug", "metric", "-rank", "pk")
    if filters.q:
        rows = rows.filter(_holds(filters.q)).annotate(
            inexact=_inexact(filters.q.split()),
            measured=_one_if(Q(evidence=EvidenceClass.MEASURED)),
        )
        order = ("inexact", "measured", *order)
    return rows.order_by(*order)


def _holds(text: str) -> Q:
    """Every word somewhere in the row. FilterError for more than a database takes in one go."""
    words = text.split()
    if len(text) > MOST_CHARACTERS or len(words) > MOST_WORDS:
        raise FilterError(
            "q", f"accepted: up to {MOST_WORDS} words and {MOST_CHARACTERS} characters"
        )
    places = (
        *("metric", "shown", "source", "note"),
        *("platform__slug", "platform__name", "platform__arch", "platform__target"),
    )
    found = Q()
    for word in words:
        somewhere = Q()
        for place in places:
            somewhere |= Q(**{f"{place}__icontains": word})
        found &= somewhere
    return found


def _inexact(words: Iterable[str]) -> Combinable:
    """The number of words found only inside longer ones, such as `h200` in `gh200`."""
    count: Combinable = Value(0)
    for word in words:
        whole = Q(platform__slug__iexact=word) | Q(metric__iexact=word)
        for field, between in (("platform__slug", "-"), ("metric", "_")):
            whole |= Q(**{f"{field}__istartswith": f"{word}{between}"})
            whole |= Q(**{f"{field}__iendswith": f"{between}{word}"})
            whole |= Q(**{f"{field}__icontains": f"{between}{word}{between}"})
        count += _one_if(~whole)
    return count


def _one_if(condition: Q) -> Case:
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def documents_with(text: str) -> QuerySet[Document]:
    """Documents that hold every word, those with all of them in path or title first.

    Each has `changed_at`, the time of its newest text. An empty text asks for all. None holds more
    words than WORDS_IN_TEXTS or more characters than CHARACTERS_IN_TEXTS.
    """
    found = Document.objects.annotate(changed_at=Max("revisions__created_at")).order_by("path")
    words = text.split()
    if len(text) > CHARACTERS_IN_TEXTS or len(words) > WORDS_IN_TEXTS:
        return found.none()
    if not words:
        return found
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    named = Q()
    for word in words:
        named &= Q(path__icontains=word) | Q(title__icontains=word)
    texts = found.annotate(text=Subquery(newest.values("text")[:1]), named=named)
    for word in words:
        texts = texts.filter(
            Q(path__icontains=word) | Q(title__icontains=word) | Q(text__icontains=word)
        )
    return texts.order_by(F("named").desc(), "path")


def snippets(documents: Iterable[Document], text: str) -> dict[int, tuple[int, str]]:
    """Key of a document → number and words of the line with most of the words; none without."""
    words = [word.casefold() for word in text.split()]
    found = {}
    for document in documents:
        lines = str(vars(document).get("text", "")).splitlines()
        held = [sum(word in line.casefold() for word in words) for line in lines]
        if any(held):
            best = held.index(max(held))
            found[document.pk] = (best + 1, _around(lines[best].strip(), words))
    return found


def _around(line: str, words: Iterable[str]) -> str:
    """The part of a long line around the first of the words."""
    if len(line) <= SNIPPET:
        return line
    first = min(at for word in words if (at := line.casefold().find(word)) >= 0)
    start = max(0, min(first - SNIPPET // 3, len(line) - SNIPPET))
    cut = line[start : start + SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + SNIPPET < len(line) else ''}"
