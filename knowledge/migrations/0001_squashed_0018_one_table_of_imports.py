"""All tables of knowledge as they were on 27 November 2026; what came later follows."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.core.management import CommandError
from django.db import migrations, models
from django.db.migrations import RunPython
from django.db.migrations.recorder import MigrationRecorder

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

TABLE = "knowledge_searchrow"
FTS = "knowledge_searchrow_fts"
# Facets stand in the index as words such as "op=matmul" and "arch=sm-90".
SQLITE = (
    f"""CREATE VIRTUAL TABLE {FTS} USING fts5(
    words, content='{TABLE}', content_rowid='id', detail=none,
    tokenize="unicode61 remove_diacritics 0 tokenchars '=-_'")""",
    f"""CREATE TRIGGER {TABLE}_added AFTER INSERT ON {TABLE} BEGIN
    INSERT INTO {FTS}(rowid, words) VALUES (new.id, new.words); END""",
    f"""CREATE TRIGGER {TABLE}_gone AFTER DELETE ON {TABLE} BEGIN
    INSERT INTO {FTS}({FTS}, rowid, words) VALUES ('delete', old.id, old.words); END""",
    f"""CREATE TRIGGER {TABLE}_moved AFTER UPDATE OF words ON {TABLE} BEGIN
    INSERT INTO {FTS}({FTS}, rowid, words) VALUES ('delete', old.id, old.words);
    INSERT INTO {FTS}(rowid, words) VALUES (new.id, new.words); END""",
)
# The words as they are: no dictionary of the server decides what counts as one.
POSTGRESQL = (
    f"""ALTER TABLE {TABLE} ADD COLUMN lexemes tsvector
    GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED""",
    f"CREATE INDEX {TABLE}_lexemes ON {TABLE} USING gin (lexemes)",
)
SQLITE_BACK = (
    *(f"DROP TRIGGER {TABLE}_{name}" for name in ("added", "gone", "moved")),
    f"DROP TABLE {FTS}",
)
POSTGRESQL_BACK = (f"DROP INDEX {TABLE}_lexemes", f"ALTER TABLE {TABLE} DROP COLUMN lexemes")
HISTORY = (
    *("adoption", "citation", "experiencechange", "lessonchange", "lessonevidence", "revision"),
    *("specchange", "waiver"),
)
ROWS = {f"knowledge_{table}": EVERY_ROW for table in HISTORY}
# The facts of an attempt; its context may be another when the catalogue learns a name.
FACTS = "uuid origin label campaign round strategy_name gain gain_low gain_high pairs params"
ENTRY = " OR ".join(
    f"OLD.{name} <> NEW.{name} OR (OLD.{name} IS NULL) <> (NEW.{name} IS NULL)"
    for name in FACTS.split()
)
ONCE = "platform_id metric shown unit qualifiers evidence source"
# A value may be NULL, which equals nothing; no value is this far below zero.
VALUE = "COALESCE(OLD.value, -1e300) <> COALESCE(NEW.value, -1e300)"
SPEC = " OR ".join([*(f"OLD.{name} <> NEW.{name}" for name in ONCE.split()), VALUE])


def run(statements):
    """The operation that runs the statements of the database's own kind."""

    def act(apps, schema_editor):
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement, params=())

    return act


FULL_TEXT = RunPython(
    run({"sqlite": SQLITE, "postgresql": POSTGRESQL}),
    run({"sqlite": SQLITE_BACK, "postgresql": POSTGRESQL_BACK}),
)


def refuse_an_older_one(apps, schema_editor):
    """Raise CommandError where tables are there that an earlier kopt made step by step."""
    applied = MigrationRecorder(schema_editor.connection).applied_migrations()
    if ("knowledge", "0001_initial") in applied:
        raise CommandError(
            "database: it was made before 27 November 2026. Upgrade it with commit 036220a0 (tag "
            "upgrade-1) of kopt first, then with this one. Nothing was changed."
        )


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        RunPython(refuse_an_older_one, RunPython.noop),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("wiki", "documents and values"),
                            ("experience", "experience and lessons"),
                        ],
                        default="wiki",
                        max_length=16,
                    ),
                ),
                ("former", models.PositiveBigIntegerField(blank=True, null=True)),
                ("origin", models.CharField(max_length=120)),
                ("format", models.CharField(blank=True, max_length=40)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planning", "being planned"),
                            ("planned", "planned"),
                            ("taking", "being imported"),
                            ("confirmed", "confirmed"),
                            ("dropped", "dropped"),
                            ("undone", "undone"),
                        ],
                        default="planned",
                        max_length=16,
                    ),
                ),
                ("files", models.JSONField(blank=True, default=dict)),
                ("answers", models.JSONField(blank=True, default=dict)),
                ("plan", models.JSONField(blank=True, default=dict)),
                ("why", models.CharField(blank=True, max_length=300)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("progress", models.JSONField(blank=True, default=dict)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                (
                    "undone_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("path", models.CharField(max_length=200, unique=True)),
                ("title", models.CharField(max_length=200)),
                ("origin", models.CharField(default="shipped", max_length=80)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["path"],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="knowledge.document",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="knowledge.batch",
                    ),
                ),
            ],
            options={
                "ordering": ["document", "number"],
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("document", "number"), name="revision_number_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Platform",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("vendor", models.CharField(max_length=80)),
                ("arch", models.CharField(max_length=80)),
                ("kind", models.CharField(max_length=8)),
                ("target", models.CharField(max_length=40)),
                ("aliases", models.JSONField(blank=True, default=list)),
            ],
            options={
                "ordering": ["kind", "vendor", "name"],
            },
        ),
        migrations.CreateModel(
            name="Spec",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "platform",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="specs",
                        to="knowledge.platform",
                    ),
                ),
                ("metric", models.CharField(max_length=80)),
                ("value", models.FloatField(blank=True, null=True)),
                ("unit", models.CharField(max_length=16)),
                ("shown", models.CharField(max_length=80)),
                ("qualifiers", models.JSONField(blank=True, default=dict)),
                ("evidence", models.CharField(max_length=16)),
                ("source_kind", models.CharField(max_length=16)),
                ("source", models.CharField(max_length=300)),
                ("source_url", models.URLField(blank=True, max_length=500)),
                ("note", models.TextField(blank=True)),
                ("rank", models.CharField(max_length=16)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("approved", "approved"),
                            ("returned", "returned"),
                            ("retired", "retired"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "replaces",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replacements",
                        to="knowledge.spec",
                    ),
                ),
                ("elsewhere", models.JSONField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["metric", "-rank", "pk"],
                "permissions": [
                    ("propose_spec", "Can propose values and bring documents in"),
                    ("review_spec", "Can approve, return and retire values of others"),
                ],
                "indexes": [
                    models.Index(fields=["platform", "metric"], name="spec_platform_metric"),
                    models.Index(fields=["state"], name="spec_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("rank", "preferred"), ("state", "approved")),
                        fields=("platform", "metric", "qualifiers"),
                        name="spec_one_preferred",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Citation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "spec",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="citations",
                        to="knowledge.spec",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="citations",
                        to="knowledge.revision",
                    ),
                ),
                ("first_line", models.PositiveIntegerField()),
                ("last_line", models.PositiveIntegerField()),
                ("quote", models.TextField()),
            ],
            options={
                "ordering": ["revision", "first_line"],
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("spec", "revision"), name="citation_once_per_revision"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "spec",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="flags",
                        to="knowledge.spec",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("changed", "changed"),
                            ("lost", "lost"),
                            ("source_missing", "source missing"),
                            ("same_citation", "value changed, citation kept"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="flags",
                        to="knowledge.revision",
                    ),
                ),
                ("first_line", models.PositiveIntegerField(blank=True, null=True)),
                ("last_line", models.PositiveIntegerField(blank=True, null=True)),
                ("quote", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("raised_at", models.DateTimeField(auto_now_add=True)),
                (
                    "raised_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "answer",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("recited", "cited again"),
                            ("replaced", "a new value replaces it"),
                            ("retired", "retired"),
                            ("typo_fix", "typo fix"),
                            ("misread", "same line, misread before"),
                            ("withdrawn", "the change was taken back"),
                        ],
                        max_length=16,
                    ),
                ),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "answered_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("why", models.TextField(blank=True)),
                ("elsewhere", models.JSONField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["pk"],
                "base_manager_name": "objects",
                "indexes": [
                    models.Index(
                        condition=models.Q(("answered_at__isnull", True)),
                        fields=["spec"],
                        name="flag_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SpecChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "spec",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="changes",
                        to="knowledge.spec",
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("approved", "approved"),
                            ("returned", "returned"),
                            ("retired", "retired"),
                            ("restored", "restored"),
                            ("ranked", "ranked"),
                            ("cited", "cited again"),
                            ("flagged", "flagged"),
                            ("answered", "answered"),
                            ("waived", "warning waived"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("approved", "approved"),
                            ("returned", "returned"),
                            ("retired", "retired"),
                        ],
                        max_length=16,
                    ),
                ),
                ("rank", models.CharField(max_length=16)),
                ("before", models.CharField(blank=True, max_length=300)),
                ("after", models.CharField(blank=True, max_length=300)),
                ("why", models.TextField(blank=True)),
                ("elsewhere", models.JSONField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "base_manager_name": "objects",
                "indexes": [models.Index(fields=["spec", "at"], name="change_spec_at")],
            },
        ),
        migrations.CreateModel(
            name="Waiver",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "spec",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="waivers",
                        to="knowledge.spec",
                    ),
                ),
                ("constraint", models.CharField(max_length=40)),
                ("reason", models.CharField(max_length=500)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("elsewhere", models.JSONField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["pk"],
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("spec", "constraint"), name="waiver_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Strategy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.CharField(max_length=80, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("technique", "technique"),
                            ("anti_pattern", "anti-pattern"),
                            ("discipline", "discipline"),
                        ],
                        max_length=16,
                    ),
                ),
                ("title", models.CharField(max_length=300)),
                ("backend", models.CharField(blank=True, max_length=40)),
                ("limits", models.JSONField(blank=True, default=list)),
                ("vendors", models.JSONField(blank=True, default=list)),
                ("archs", models.JSONField(blank=True, default=list)),
                ("ops", models.JSONField(blank=True, default=list)),
                ("use_when", models.TextField(blank=True)),
                ("what", models.TextField(blank=True)),
                ("verify", models.TextField(blank=True)),
                ("failure", models.TextField(blank=True)),
                ("instead", models.TextField(blank=True)),
                ("aliases", models.JSONField(blank=True, default=list)),
                ("recipes", models.JSONField(blank=True, default=list)),
                ("document", models.CharField(max_length=300)),
                ("line", models.PositiveIntegerField()),
                ("withdrawn", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name_plural": "strategies",
                "ordering": ["slug"],
            },
        ),
        migrations.CreateModel(
            name="TrackRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("strategy", models.CharField(max_length=120)),
                ("family", models.CharField(blank=True, max_length=40)),
                ("op", models.CharField(blank=True, max_length=60)),
                ("dtype", models.CharField(blank=True, max_length=20)),
                ("backend", models.CharField(blank=True, max_length=40)),
                ("platform", models.CharField(blank=True, max_length=80)),
                ("vendor", models.CharField(blank=True, max_length=40)),
                ("arch", models.CharField(blank=True, max_length=40)),
                ("shape_class", models.CharField(blank=True, max_length=80)),
                ("size_log2", models.FloatField(blank=True, null=True)),
                (
                    "bottleneck",
                    models.CharField(
                        choices=[
                            ("memory", "memory"),
                            ("memory_dram", "memory dram"),
                            ("memory_cache", "memory cache"),
                            ("compute", "compute"),
                            ("compute_tensor", "compute tensor"),
                            ("compute_alu", "compute alu"),
                            ("latency", "latency"),
                            ("occupancy", "occupancy"),
                            ("sync", "sync"),
                            ("launch", "launch"),
                            ("tail", "tail"),
                            ("mixed", "mixed"),
                            ("unknown", "unknown"),
                        ],
                        default="unknown",
                        max_length=20,
                    ),
                ),
                ("tried", models.PositiveIntegerField(default=0)),
                ("successes", models.PositiveIntegerField(default=0)),
                ("smalls", models.PositiveIntegerField(default=0)),
                ("micros", models.PositiveIntegerField(default=0)),
                ("ties", models.PositiveIntegerField(default=0)),
                ("regressions", models.PositiveIntegerField(default=0)),
                ("incorrects", models.PositiveIntegerField(default=0)),
                ("gains", models.PositiveIntegerField(default=0)),
                ("gain_median", models.FloatField(blank=True, null=True)),
                ("gain_low", models.FloatField(blank=True, null=True)),
                ("gain_high", models.FloatField(blank=True, null=True)),
                ("recent_failures", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["op", "backend", "platform", "-tried"], name="track_scope"
                    ),
                    models.Index(fields=["op", "backend", "-tried"], name="track_around"),
                    models.Index(fields=["op", "-tried"], name="track_op"),
                    models.Index(fields=["family", "backend", "arch"], name="track_family"),
                    models.Index(fields=["backend", "arch"], name="track_backend"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "strategy",
                            "op",
                            "dtype",
                            "backend",
                            "platform",
                            "arch",
                            "shape_class",
                            "bottleneck",
                        ),
                        name="one_track_per_context",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Experience",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "track",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="knowledge.trackrecord",
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("round", "a round of a campaign"),
                            ("imported", "an import"),
                            ("person", "a person"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        choices=[
                            ("success", "success"),
                            ("small", "small"),
                            ("micro", "micro"),
                            ("tie", "tie"),
                            ("regression", "regression"),
                            ("incorrect", "incorrect"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "standing",
                    models.CharField(
                        choices=[
                            ("counts", "counts"),
                            ("masked", "masked"),
                            ("merged", "merged into another"),
                            ("withdrawn", "withdrawn with its import"),
                        ],
                        db_index=True,
                        default="counts",
                        max_length=12,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="knowledge.experience",
                    ),
                ),
                ("campaign", models.BigIntegerField(blank=True, null=True)),
                ("round", models.PositiveIntegerField(blank=True, null=True)),
                ("proposer", models.CharField(blank=True, max_length=40)),
                ("problem", models.CharField(blank=True, max_length=80)),
                ("strategy_name", models.CharField(blank=True, max_length=300)),
                ("title", models.CharField(blank=True, max_length=300)),
                ("change", models.TextField(blank=True)),
                ("evidence", models.JSONField(blank=True, default=list)),
                ("shapes", models.JSONField(blank=True, default=list)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("params_key", models.CharField(blank=True, max_length=32)),
                ("precondition", models.TextField(blank=True)),
                ("verdict", models.CharField(blank=True, max_length=30)),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("gain", models.FloatField(blank=True, null=True)),
                ("gain_low", models.FloatField(blank=True, null=True)),
                ("gain_high", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("baseline", models.CharField(blank=True, max_length=200)),
                ("expected_gain", models.FloatField(blank=True, null=True)),
                ("borne", models.CharField(blank=True, max_length=20)),
                ("compiler", models.CharField(blank=True, max_length=200)),
                ("driver", models.CharField(blank=True, max_length=100)),
                ("metrics", models.JSONField(blank=True, default=dict)),
                ("notes", models.TextField(blank=True)),
                ("external", models.CharField(blank=True, max_length=80)),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="knowledge.batch",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("happened_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "experience",
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["track", "standing", "gain"], name="experience_gain"),
                    models.Index(
                        fields=["track", "standing", "-happened_at"], name="experience_newest"
                    ),
                    models.Index(fields=["params_key"], name="experience_idea"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("campaign__isnull", False)),
                        fields=("campaign", "round"),
                        name="one_experience_per_round",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ExperienceChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="changes",
                        to="knowledge.experience",
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("merged", "merged"),
                            ("unmerged", "taken out of a merge"),
                            ("masked", "masked"),
                            ("unmasked", "shown again"),
                            ("withdrawn", "withdrawn with its import"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "other",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="knowledge.experience",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("why", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Lesson",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("op", models.CharField(blank=True, max_length=60)),
                ("dtype", models.CharField(blank=True, max_length=20)),
                ("backend", models.CharField(blank=True, max_length=40)),
                ("platform", models.CharField(blank=True, max_length=80)),
                ("arch", models.CharField(blank=True, max_length=40)),
                ("strategy", models.CharField(blank=True, max_length=120)),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("context", models.TextField()),
                ("signal", models.TextField()),
                ("takeaway", models.TextField()),
                ("applicability", models.TextField()),
                ("avoid", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("active", "active"),
                            ("anti_pattern", "anti-pattern"),
                            ("returned", "returned"),
                            ("retracted", "retracted"),
                        ],
                        default="proposed",
                        max_length=16,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("person", "a person"),
                            ("campaign", "a campaign"),
                            ("imported", "an import"),
                            ("refused_trick", "a refused trick"),
                        ],
                        max_length=16,
                    ),
                ),
                ("campaign", models.BigIntegerField(blank=True, null=True)),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lessons",
                        to="knowledge.batch",
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("confirmed", models.PositiveIntegerField(default=0)),
                ("contradicted", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["state", "op", "backend"], name="lesson_scope")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source", "refused_trick")),
                        fields=("op", "dtype", "backend", "platform", "arch", "strategy"),
                        name="one_anti_pattern_per_trick",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Adoption",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("campaign", models.BigIntegerField()),
                ("round", models.PositiveIntegerField()),
                ("strategy", models.CharField(max_length=120)),
                (
                    "entry",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adoptions",
                        to="knowledge.experience",
                    ),
                ),
                (
                    "lesson",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adoptions",
                        to="knowledge.lesson",
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["campaign", "round"], name="adoption_round")],
            },
        ),
        migrations.CreateModel(
            name="LessonEvidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "lesson",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="knowledge.lesson",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lessons",
                        to="knowledge.experience",
                    ),
                ),
                ("agrees", models.BooleanField()),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lesson", "entry"), name="one_evidence_per_lesson"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LessonChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "lesson",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="changes",
                        to="knowledge.lesson",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("active", "active"),
                            ("anti_pattern", "anti-pattern"),
                            ("returned", "returned"),
                            ("retracted", "retracted"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("why", models.TextField(blank=True)),
                ("before", models.JSONField(blank=True, default=dict)),
                ("after", models.JSONField(blank=True, default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Gap",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("op", models.CharField(blank=True, max_length=60)),
                ("dtype", models.CharField(blank=True, max_length=20)),
                ("backend", models.CharField(blank=True, max_length=40)),
                ("platform", models.CharField(blank=True, max_length=80)),
                ("arch", models.CharField(blank=True, max_length=40)),
                ("strategy", models.CharField(blank=True, max_length=120)),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("question", models.TextField()),
                ("query", models.CharField(blank=True, max_length=500)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("answered", "answered"), ("closed", "closed")],
                        default="open",
                        max_length=12,
                    ),
                ),
                (
                    "lesson",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answered_gaps",
                        to="knowledge.lesson",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="knowledge.experience",
                    ),
                ),
                ("why", models.TextField(blank=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "closed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Disagreement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="disagreements",
                        to="knowledge.experience",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="knowledge.experience",
                    ),
                ),
                (
                    "lesson",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="disagreements",
                        to="knowledge.lesson",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("decided", "decided")],
                        default="open",
                        max_length=12,
                    ),
                ),
                ("decision", models.TextField(blank=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("found_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("second__isnull", False)),
                        fields=("first", "second"),
                        name="one_disagreement_per_pair",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("lesson__isnull", False)),
                        fields=("first", "lesson"),
                        name="one_disagreement_per_lesson",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("track", "experience"),
                            ("lesson", "lessons"),
                            ("strategy", "strategies"),
                            ("entry", "attempts"),
                            ("round", "rounds"),
                            ("spec", "values"),
                            ("document", "documents"),
                            ("gap", "gaps"),
                        ],
                        max_length=12,
                    ),
                ),
                ("key", models.CharField(max_length=80)),
                ("url", models.CharField(max_length=300)),
                ("title", models.CharField(max_length=300)),
                ("body", models.TextField(blank=True)),
                ("facets", models.JSONField(blank=True, default=dict)),
                ("words", models.TextField()),
                ("weight", models.FloatField(default=0.0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "key"), name="one_search_row")
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("word", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("rows", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(max_length=80)),
                ("scopes", models.JSONField(default=list)),
            ],
            options={
                "ordering": ("created", "digest"),
            },
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("request", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("content", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "key"), name="one_answer_per_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="LoginAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "indexes": [models.Index(fields=["key", "at"], name="attempts_of_a_key")],
            },
        ),
        FULL_TEXT,
        refuse(
            TriggerEvent.UPDATE,
            "frozen",
            ROWS | {"knowledge_experience": ENTRY, "knowledge_flag": "OLD.answered_at IS NOT NULL"},
        ),
        refuse(TriggerEvent.UPDATE, "fixed", {"knowledge_spec": SPEC}),
        refuse(
            TriggerEvent.DELETE,
            "kept",
            ROWS
            | dict.fromkeys(
                (
                    f"knowledge_{table}"
                    for table in ("batch", "document", "experience", "flag", "spec")
                ),
                EVERY_ROW,
            ),
        ),
    ]
