"""Experience: strategies (R42), recorded attempts with their effects, and each context's record."""

from __future__ import annotations

import uuid

from django.db import models
from django.urls import reverse

from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.models.guarded import ALWAYS, Guarded, person
from knowledge.models.sight import NO_PROJECT, SeenManager


class StrategyKind(models.TextChoices):
    """What an entry of the catalogue advises."""

    TECHNIQUE = "technique", "technique"
    ANTI_PATTERN = "anti_pattern", "anti-pattern"
    DISCIPLINE = "discipline", "discipline"


class Strategy(models.Model):
    """One row of a guide's table, as the newest import of the wiki has it.

    slug: our id, such as `tr.swizzle`. aliases: other names of the same thing: recipes, sweeps, and
    what other systems call it. limits: the bottlenecks that it is for (`Bottleneck` values, or the
    groups memory and compute); empty for any. backend: "" for any. vendors, archs, ops: where it
    applies; empty for anywhere. instead: of an anti-pattern, what to do instead. recipes: those of
    the aliases that rewrite a source by themselves. document, line: the row in the wiki.
    withdrawn: no longer in the wiki; kept, because experience refers to it.
    """

    slug = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=16, choices=StrategyKind.choices)
    title = models.CharField(max_length=300)
    backend = models.CharField(max_length=40, blank=True)
    limits = models.JSONField(default=list, blank=True)
    vendors = models.JSONField(default=list, blank=True)
    archs = models.JSONField(default=list, blank=True)
    ops = models.JSONField(default=list, blank=True)
    use_when = models.TextField(blank=True)
    what = models.TextField(blank=True)
    verify = models.TextField(blank=True)
    failure = models.TextField(blank=True)
    instead = models.TextField(blank=True)
    aliases = models.JSONField(default=list, blank=True)
    recipes = models.JSONField(default=list, blank=True)
    document = models.CharField(max_length=300)
    line = models.PositiveIntegerField()
    withdrawn = models.BooleanField(default=False)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "strategies"

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("experience:strategy", args=[self.slug])

    @property
    def names(self) -> tuple[str, ...]:
        """What proposers may call it."""
        return (self.slug, *self.aliases, *self.recipes)


class TrackRecord(models.Model):
    """One strategy in one context, and what its attempts added up to.

    The context is what two attempts must share to be compared; it never changes. The rest is
    derived from the entries that count, by `knowledge.experience.attempts.standing`.
    strategy: a slug of the catalogue, or a name that it does not hold. platform: a slug of the
    wiki, or a name that it does not know. "" is unknown throughout.
    project: the key of the project that all of its entries were learnt in; 0 for the team's own.
    size_log2: log2 of the elements of a typical shape of its shape class; None if unknown.
    tried and the six labels: attempts. gains: those with a measured gain; gain_median with
    gain_low, gain_high: its 95 % interval by order statistics; 0.05 is 5 % faster.
    recent_failures: of the newest five attempts, those that did not work.
    """

    HIDDEN_WITH = ("project",)

    strategy = models.CharField(max_length=120)
    family = models.CharField(max_length=40, blank=True)
    op = models.CharField(max_length=60, blank=True)
    dtype = models.CharField(max_length=20, blank=True)
    backend = models.CharField(max_length=40, blank=True)
    platform = models.CharField(max_length=80, blank=True)
    vendor = models.CharField(max_length=40, blank=True)
    arch = models.CharField(max_length=40, blank=True)
    shape_class = models.CharField(max_length=80, blank=True)
    project = models.BigIntegerField(default=NO_PROJECT)
    size_log2 = models.FloatField(null=True, blank=True)
    bottleneck = models.CharField(
        max_length=20, choices=Bottleneck.choices(), default=Bottleneck.UNKNOWN
    )
    tried = models.PositiveIntegerField(default=0)
    successes = models.PositiveIntegerField(default=0)
    smalls = models.PositiveIntegerField(default=0)
    micros = models.PositiveIntegerField(default=0)
    ties = models.PositiveIntegerField(default=0)
    regressions = models.PositiveIntegerField(default=0)
    incorrects = models.PositiveIntegerField(default=0)
    gains = models.PositiveIntegerField(default=0)
    gain_median = models.FloatField(null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    recent_failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)

    objects = SeenManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "strategy", "op", "dtype", "backend", "platform", "arch", "shape_class",
                    "bottleneck", "project",
                ],
                name="one_track_per_context",
            )
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["op", "backend", "platform", "-tried"], name="track_scope"),
            models.Index(fields=["op", "backend", "-tried"], name="track_around"),
            models.Index(fields=["op", "-tried"], name="track_op"),
            models.Index(fields=["family", "backend", "arch"], name="track_family"),
            models.Index(fields=["backend", "arch"], name="track_backend"),
        ]

    def __str__(self) -> str:
        where = [self.op, self.dtype, self.backend, self.platform or self.arch]
        return f"{self.strategy} on {' '.join(part for part in where if part) or 'anything'}"

    @property
    def worked(self) -> int:
        """Attempts with a gain above the noise."""
        return self.successes + self.smalls + self.micros


class ExperienceOrigin(models.TextChoices):
    """Where an entry came from."""

    ROUND = "round", "a round of a campaign"
    IMPORTED = "imported", "an import"
    PERSON = "person", "a person"


class EntryStanding(models.TextChoices):
    """Whether an entry counts. Only the first is seen by machines; people see all of them."""

    COUNTS = "counts", "counts"
    MASKED = "masked", "masked"
    MERGED = "merged", "merged into another"
    WITHDRAWN = "withdrawn", "withdrawn with its import"


class Experience(models.Model):
    """One attempt and its effect, good or bad. Its facts never change; its standing may.

    campaign, round: the round that it is about; null for what was not measured here. strategy_name:
    as its source named it. params_key: a digest of strategy and parameters that tells one idea from
    another (R36). gain: over the incumbent, with its 95 % interval; without bounds it was not
    measured as an interval. baseline: what the gain is against, in words. expected_gain: what was
    predicted. borne: what became of that (R34). metrics: {"before": {name: number}, "after": …}.
    external: its id in the system that it came from.
    """

    HIDDEN_WITH = ("track", "campaign")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    track = models.ForeignKey(TrackRecord, models.PROTECT, related_name="entries")
    origin = models.CharField(max_length=12, choices=ExperienceOrigin.choices)
    label = models.CharField(max_length=12, choices=AttemptLabel.choices())
    standing = models.CharField(
        max_length=12, choices=EntryStanding.choices, default=EntryStanding.COUNTS, db_index=True
    )
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="merged"
    )
    campaign = models.BigIntegerField(null=True, blank=True)
    round = models.PositiveIntegerField(null=True, blank=True)
    proposer = models.CharField(max_length=40, blank=True)
    problem = models.CharField(max_length=80, blank=True)
    strategy_name = models.CharField(max_length=300, blank=True)
    title = models.CharField(max_length=300, blank=True)
    change = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    shapes = models.JSONField(default=list, blank=True)
    params = models.JSONField(default=dict, blank=True)
    params_key = models.CharField(max_length=32, blank=True)
    precondition = models.TextField(blank=True)
    verdict = models.CharField(max_length=30, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    gain = models.FloatField(null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    pairs = models.PositiveIntegerField(default=0)
    baseline = models.CharField(max_length=200, blank=True)
    expected_gain = models.FloatField(null=True, blank=True)
    borne = models.CharField(max_length=20, blank=True)
    compiler = models.CharField(max_length=200, blank=True)
    driver = models.CharField(max_length=100, blank=True)
    metrics = models.JSONField(default=dict, blank=True)
    notes = models.TextField(blank=True)
    external = models.CharField(max_length=80, blank=True)
    batch = models.ForeignKey(
        "knowledge.Batch", models.PROTECT, null=True, blank=True, related_name="entries"
    )
    author = person()
    happened_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SeenManager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "experience"
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "round"],
                condition=models.Q(campaign__isnull=False),
                name="one_experience_per_round",
            )
        ]
        indexes = [
            models.Index(fields=["track", "standing", "gain"], name="experience_gain"),
            models.Index(fields=["track", "standing", "-happened_at"], name="experience_newest"),
            models.Index(fields=["params_key"], name="experience_idea"),
        ]

    def __str__(self) -> str:
        return f"{self.track}: {self.label}"

    def get_absolute_url(self) -> str:
        return reverse("experience:entry", args=[self.uuid])

    @property
    def round_url(self) -> str:
        """The page of its round; "" where it has none."""
        return reverse("round", args=[self.campaign, self.round]) if self.campaign else ""


class ExperienceAction(models.TextChoices):
    MERGED = "merged", "merged"
    UNMERGED = "unmerged", "taken out of a merge"
    MASKED = "masked", "masked"
    UNMASKED = "unmasked", "shown again"
    WITHDRAWN = "withdrawn", "withdrawn with its import"


class ExperienceChange(Guarded):
    """One change of an entry's standing. by: null for a command or the flow itself."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("entry",)

    entry = models.ForeignKey(Experience, models.PROTECT, related_name="changes")
    action = models.CharField(max_length=12, choices=ExperienceAction.choices)
    other = models.ForeignKey(Experience, models.PROTECT, null=True, blank=True, related_name="+")
    by = person()
    why = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.entry}: {self.action}"


class Adoption(Guarded):
    """A round that followed an entry, a lesson or a strategy: "used in round 7"."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign", "entry", "lesson")

    campaign = models.BigIntegerField()
    round = models.PositiveIntegerField()
    strategy = models.CharField(max_length=120)
    entry = models.ForeignKey(
        Experience, models.PROTECT, null=True, blank=True, related_name="adoptions"
    )
    lesson = models.ForeignKey(
        "knowledge.Lesson", models.PROTECT, null=True, blank=True, related_name="adoptions"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["campaign", "round"], name="adoption_round")]

    def __str__(self) -> str:
        return f"round {self.round} of campaign {self.campaign} used {self.strategy}"

    @property
    def round_url(self) -> str:
        return reverse("round", args=[self.campaign, self.round])
