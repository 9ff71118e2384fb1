import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0003_kept_rows"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("origin", models.CharField(max_length=80)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "planned"),
                            ("confirmed", "confirmed"),
                            ("dropped", "dropped"),
                            ("undone", "undone"),
                        ],
                        default="planned",
                        max_length=16,
                    ),
                ),
                ("files", models.JSONField(blank=True, default=dict)),
                ("plan", models.JSONField(blank=True, default=dict)),
                ("why", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
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
                ("first_line", models.PositiveIntegerField(blank=True, null=True)),
                ("last_line", models.PositiveIntegerField(blank=True, null=True)),
                ("quote", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("raised_at", models.DateTimeField(auto_now_add=True)),
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
                ("why", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["pk"],
                "base_manager_name": "objects",
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
                ("at", models.DateTimeField(auto_now_add=True)),
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
            ],
            options={
                "ordering": ["-pk"],
                "base_manager_name": "objects",
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
                ("constraint", models.CharField(max_length=40)),
                ("reason", models.CharField(max_length=500)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["pk"],
                "base_manager_name": "objects",
            },
        ),
        migrations.AddField(
            model_name="document",
            name="origin",
            field=models.CharField(default="shipped", max_length=80),
        ),
        migrations.AddField(
            model_name="document",
            name="withdrawn_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="revision",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="spec",
            name="created_at",
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AddField(
            model_name="spec",
            name="proposed_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="spec",
            name="replaces",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replacements",
                to="knowledge.spec",
            ),
        ),
        migrations.AddIndex(
            model_name="spec",
            index=models.Index(fields=["state"], name="spec_state"),
        ),
        migrations.AddField(
            model_name="batch",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="undone_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="revision",
            name="batch",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="revisions",
                to="knowledge.batch",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="answered_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="raised_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="revision",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="flags",
                to="knowledge.revision",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="spec",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="flags",
                to="knowledge.spec",
            ),
        ),
        migrations.AddField(
            model_name="specchange",
            name="by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="specchange",
            name="spec",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="changes",
                to="knowledge.spec",
            ),
        ),
        migrations.AddField(
            model_name="waiver",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="waiver",
            name="spec",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="waivers",
                to="knowledge.spec",
            ),
        ),
        migrations.AddIndex(
            model_name="flag",
            index=models.Index(
                condition=models.Q(("answered_at__isnull", True)), fields=["spec"], name="flag_open"
            ),
        ),
        migrations.AddIndex(
            model_name="specchange",
            index=models.Index(fields=["spec", "at"], name="change_spec_at"),
        ),
        migrations.AddConstraint(
            model_name="waiver",
            constraint=models.UniqueConstraint(fields=("spec", "constraint"), name="waiver_once"),
        ),
    ]
