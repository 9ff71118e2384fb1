"""What is known of a platform: values, the lines that they rest on, and flags on those lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models
from django.urls import reverse
from django.utils import timezone

from knowledge.models.document import Revision
from knowledge.models.guarded import ALWAYS, Guarded, GuardedQuerySet, actor, person
from knowledge.specs.citation import CitationLine
from knowledge.specs.cited import is_known
from knowledge.specs.facts import Rank

# Lists beside the fields: to keep what it has read ahead under a relation's own name, Django builds
# a queryset for every row of a page, which was a quarter of the time of a sheet.
CITATIONS_READ, FLAGS_READ = "citations_read", "flags_read"


class Platform(models.Model):
    """A GPU product or this CPU.

    `target` is the compiler's name for it (sm_90a, gfx942, native). `aliases` are the names that
    drivers report, such as "NVIDIA H200"; a host is recognised by them and by nothing looser.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=80)
    arch = models.CharField(max_length=80)
    kind = models.CharField(max_length=8)
    target = models.CharField(max_length=40)
    aliases = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["kind", "vendor", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("knowledge:platform", args=[self.slug])


class SpecState(models.TextChoices):
    """Where a value stands in review. Only approved values are ever looked up."""

    PROPOSED = "proposed", "proposed"
    APPROVED = "approved", "approved"
    RETURNED = "returned", "returned"
    RETIRED = "retired", "retired"


class SpecQuerySet(models.QuerySet["Spec"]):
    """The questions that pages and lookups ask."""

    def approved(self) -> SpecQuerySet:
        return self.filter(state=SpecState.APPROVED)

    def preferred(self) -> SpecQuerySet:
        return self.approved().filter(rank=Rank.PREFERRED)

    def asking(
        self, platform: Platform | int, metric: str, qualifiers: Mapping[str, str]
    ) -> SpecQuerySet:
        """Answers to exactly this question. platform: a row or its key."""
        # SQLite compares JSON as text: in the order of keys in which it is stored.
        asked = dict(sorted(qualifiers.items()))
        return self.filter(platform=platform, metric=metric, qualifiers=asked)

    def for_sheet(self) -> SpecQuerySet:
        """With platform, author and citations, newest first, without the texts they lie in."""
        newest = models.Prefetch(
            "citations",
            Citation.objects.select_related("revision__document")
            .defer("revision__text")
            .order_by("-pk"),
            to_attr=CITATIONS_READ,
        )
        return self.select_related("platform", "proposed_by").prefetch_related(newest)

    def with_flags(self, flags: models.QuerySet[Flag]) -> SpecQuerySet:
        """With those of its flags that are among these."""
        return self.prefetch_related(models.Prefetch("flags", flags, to_attr=FLAGS_READ))


class Spec(models.Model):
    """One value with its unit, qualifiers and source.

    `value` is in the canonical `unit`, and None for names, UNKNOWN and NONE; `shown` is what the
    line says ("4.8 TB/s"). Of an UNKNOWN the note says how to obtain it. A value never changes:
    another one is a new spec that `replaces` it. proposed_by: null for a command, and for a value
    that was imported with its history. elsewhere: `by` and `at` as the export says from which it
    was imported; null for what was brought in here.
    """

    platform = models.ForeignKey(Platform, models.PROTECT, related_name="specs")
    metric = models.CharField(max_length=80)
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=16)
    shown = models.CharField(max_length=80)
    qualifiers = models.JSONField(default=dict, blank=True)
    evidence = models.CharField(max_length=16)
    source_kind = models.CharField(max_length=16)
    source = models.CharField(max_length=300)
    source_url = models.URLField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    rank = models.CharField(max_length=16)
    state = models.CharField(max_length=16, choices=SpecState.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    proposed_by = person()
    replaces = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="replacements"
    )
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    objects = SpecQuerySet.as_manager()

    class Meta:
        ordering = ["metric", "-rank", "pk"]
        permissions = [
            ("propose_spec", "Can propose values and bring documents in"),
            ("review_spec", "Can approve, return and retire values of others"),
        ]
        indexes = [
            models.Index(fields=["platform", "metric"], name="spec_platform_metric"),
            models.Index(fields=["state"], name="spec_state"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "metric", "qualifiers"],
                condition=models.Q(rank=Rank.PREFERRED.value, state=SpecState.APPROVED.value),
                name="spec_one_preferred",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform.slug} {self.metric}: {self.shown}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        # One order of keys, as `asking` has it.
        self.qualifiers = dict(sorted(self.qualifiers.items()))
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("knowledge:spec", args=[self.pk])

    @property
    def proposer(self) -> str:
        """Who brought it in, in words."""
        return actor(self.proposed_by, self.elsewhere)

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return is_known(self.shown)

    @property
    def cited(self) -> Sequence[Citation]:
        """All citations, newest first; as they were read where it came `for_sheet`."""
        found: Sequence[Citation] | None = vars(self).get(CITATIONS_READ)
        return list(self.citations.order_by("-pk")) if found is None else found

    @property
    def citation(self) -> Citation | None:
        """The newest citation."""
        return next(iter(self.cited), None)

    @property
    def flagged(self) -> Sequence[Flag]:
        """Its flags; as they were read where it came `with_flags`."""
        found: Sequence[Flag] | None = vars(self).get(FLAGS_READ)
        return list(self.flags.all()) if found is None else found


class CitationQuerySet(GuardedQuerySet["Citation"]):
    """The questions that pages and checks ask."""

    def newest(self) -> CitationQuerySet:
        """The newest citation of each spec, which counts, with what names its lines."""
        newer = Citation.objects.filter(spec=models.OuterRef("spec"), pk__gt=models.OuterRef("pk"))
        found = self.filter(~models.Exists(newer))
        return found.select_related("spec__platform", "revision__document").defer("revision__text")


class Citation(Guarded):
    """The lines of one revision that a spec rests on, with their text as it was read."""

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="citations")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="citations")
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    quote = models.TextField()

    objects = CitationQuerySet.as_manager()  # type: ignore[assignment, misc]

    class Meta:
        base_manager_name = "objects"
        ordering = ["revision", "first_line"]
        constraints = [
            models.UniqueConstraint(fields=["spec", "revision"], name="citation_once_per_revision"),
        ]

    def __str__(self) -> str:
        return str(self.line)

    @property
    def line(self) -> CitationLine:
        """The citation as one line of text."""
        path = self.revision.document.path
        return CitationLine(
            self.spec.metric, self.spec.shown, path, self.first_line, self.last_line
        )

    def get_absolute_url(self) -> str:
        return f"{self.revision.get_absolute_url()}#L{self.first_line}"


class FlagKind(models.TextChoices):
    """What is wrong."""

    CHANGED = "changed", "changed"
    LOST = "lost", "lost"
    SOURCE_MISSING = "source_missing", "source missing"
    SAME_CITATION = "same_citation", "value changed, citation kept"


class FlagAnswer(models.TextChoices):
    """What a second person said."""

    RECITED = "recited", "cited again"
    REPLACED = "replaced", "a new value replaces it"
    RETIRED = "retired", "retired"
    TYPO_FIX = "typo_fix", "typo fix"
    MISREAD = "misread", "same line, misread before"
    WITHDRAWN = "withdrawn", "the change was taken back"


DRIFT = frozenset({FlagKind.CHANGED, FlagKind.LOST, FlagKind.SOURCE_MISSING})


class FlagQuerySet(GuardedQuerySet["Flag"]):
    """The questions that pages and reviews ask."""

    def open(self) -> FlagQuerySet:
        return self.filter(answered_at__isnull=True)


class Flag(Guarded):
    """One citation and what became of it; sealed once answered.

    revision: the text in which it was noticed (null where the document is gone). first_line,
    last_line, quote: where its place is now and what stands there, where that is known.
    raised_by: who brought the text or value in, who may therefore not answer; null for a command,
    and like answered_by for what was imported.
    elsewhere: of a flag that was imported with its value, `by` and `at`, and once answered there
    `answered_by`, `answered_at` and `why`; null for one that was raised here.
    """

    SEALED = models.Q(answered_at__isnull=False)

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=16, choices=FlagKind.choices)
    revision = models.ForeignKey(
        Revision, models.PROTECT, null=True, blank=True, related_name="flags"
    )
    first_line = models.PositiveIntegerField(null=True, blank=True)
    last_line = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    note = models.TextField(blank=True)
    raised_at = models.DateTimeField(auto_now_add=True)
    raised_by = person()
    answer = models.CharField(max_length=16, choices=FlagAnswer.choices, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = person()
    why = models.TextField(blank=True)
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    objects = FlagQuerySet.as_manager()  # type: ignore[assignment, misc]

    class Meta:
        base_manager_name = "objects"
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["spec"], name="flag_open", condition=models.Q(answered_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.spec}: {self.get_kind_display()}"

    @property
    def raiser(self) -> str:
        """Who brought in what it is about, in words."""
        return actor(self.raised_by, self.elsewhere)

    @property
    def answerer(self) -> str:
        """Who answered it, in words."""
        return actor(self.answered_by, self.elsewhere, "answered_by")
